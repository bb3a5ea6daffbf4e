"""A policy: rules that say how much a finding may give away.

In the audit file::

    [[policy.rules]]
    id = "no-inversion"
    game = "inversion"
    max = 0.2

A rule looks at every finding its selectors match. By default it compares the whole interval of the excess
over the floor: violated when even the low end is above ``max``, met when the high end is at or below it,
inconclusive when the interval straddles. The exit code (see ``exit_codes``) is 1 when a rule is violated,
else 3 when one is inconclusive or anything could not be measured, else 0. Rules of severity ``warning`` are reported
and never change the exit code.
"""

from __future__ import annotations

import math
from typing import Any, Literal

from pydantic import Field, field_validator

from unembed.metrics.estimate import Estimate, undefined
from unembed.results.identity import CellIdentity
from unembed.results.schema import Finding
from unembed.strict import Strict

#: Selects findings that have no defense or no subject.
NONE = "none"


class Selector(Strict):
    """Which findings are meant; a key that is left out matches everything."""

    game: str | None = None
    attack: str | None = None
    adversary: str | None = None
    subject: str | None = Field(default=None, description="'none' selects findings without a subject")
    defense: str | None = Field(default=None, description="'none' selects undefended vectors")
    adaptive: bool | None = None

    def wanted(self) -> dict[str, Any]:
        """The selecting keys that were given."""
        keys = Selector.model_fields
        return {key: getattr(self, key) for key in keys if getattr(self, key) is not None}

    def matches(self, finding: Finding) -> bool:
        """Whether a finding is meant."""
        return all(_same(value, getattr(finding, key)) for key, value in self.wanted().items())

    def meant(self, cell: CellIdentity) -> bool:
        """Whether the finding of a cell would be meant."""
        told = {"game": cell.game.called, "attack": cell.attack.name}
        return all(_same(value, told.get(key, getattr(cell, key))) for key, value in self.wanted().items())

    def describe(self) -> str:
        """The selection in words."""
        return ", ".join(f"{k} {str(v).lower() if isinstance(v, bool) else v}" for k, v in self.wanted().items())


def _same(wanted: str | bool, found: object) -> bool:
    return found == wanted or (wanted == NONE and found is None)


class Rule(Selector):
    """One limit on what findings may give away."""

    id: str = Field(min_length=1)
    metric: str = Field(
        default="excess",
        description="'excess', 'estimate', 'headroom', or the name of a finding's main or secondary metric",
    )
    max: float
    compare: Literal["interval", "low", "value", "high"] = Field(
        default="interval",
        description="what must stay at or below max; 'interval' looks at both ends and may be inconclusive",
    )
    detects: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="a finding without a leak must show that one of this size above guessing would have been found",
    )
    severity: Literal["error", "warning"] = "error"
    inconclusive: Literal["fail", "pass"] = "fail"

    @field_validator("max")
    @classmethod
    def _finite(cls, value: float) -> float:
        if not math.isfinite(value):
            raise ValueError("max must be a finite number")
        return value

    def measured(self, finding: Finding) -> Estimate | None:
        """The quantity this rule limits, None when the finding has no such metric."""
        if self.metric == "excess":
            return finding.excess
        if self.metric == "headroom":
            return headroom(finding)
        if self.metric in ("estimate", finding.metric):
            return finding.estimate
        return finding.secondary.get(self.metric)


#: The rule every policy has of itself: that what no other rule is about was measured.
MEASURED = Rule(id="everything-measured", max=1.0)


class Policy(Strict):
    """All rules; a policy without rules would pass whatever is found, so it is refused."""

    rules: list[Rule] = Field(min_length=1)

    @field_validator("rules")
    @classmethod
    def _unique(cls, rules: list[Rule]) -> list[Rule]:
        seen: set[str] = set()
        for rule in rules:
            if rule.id == MEASURED.id:
                raise ValueError(f"every policy has the rule '{rule.id}' of itself; choose another id")
            if rule.id in seen:
                raise ValueError(f"two rules have the id '{rule.id}'; ids must differ")
            seen.add(rule.id)
        return rules


def headroom(finding: Finding) -> Estimate:
    """The headroom with the interval of the excess it is a rescaling of."""
    excess, share = finding.excess, finding.headroom
    if math.isnan(share) or math.isnan(excess.value):
        return undefined(excess.n)
    room = 1 - finding.floor.value
    scale = share / excess.value if excess.value > 0 and share > 0 else (1 / room if room > 0 else math.nan)
    if math.isnan(scale):
        return Estimate(share, share, share, excess.n, excess.level, "point")
    low, high = excess.low * scale, excess.high * scale
    return Estimate(share, min(share, low), max(share, high), excess.n, excess.level, excess.method)
