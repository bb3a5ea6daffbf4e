"""The baseline: violations somebody looked at and accepted, each up to a value, for a reason, until a day.

The file is TOML::

    [[accept]]
    rule = "no-inversion"
    game = "inversion"
    adversary = "leaked-pairs"
    up_to = 0.35
    reason = "internal index, no personal data; ticket 1234"
    expires = 2026-12-31

What is compared with ``up_to`` is the end of the interval the rule compares, the value itself for a rule that
looks at the whole interval. Only what was measured can be accepted.
"""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

from pydantic import Field

from unembed.errors import UsageError
from unembed.files import read_toml
from unembed.gate.judge import judge_in_detail
from unembed.gate.policy import NONE, Policy, Selector
from unembed.gate.validation import validate
from unembed.results.schema import Finding, Run
from unembed.strict import Strict
from unembed.writing import write_atomically


class Acceptance(Selector):
    """One accepted finding or group of findings."""

    rule: str = Field(min_length=1)
    up_to: float = Field(allow_inf_nan=False)
    reason: str = Field(min_length=1)
    expires: datetime.date = Field(description="the last day this entry counts")


class Baseline(Strict):
    """All accepted findings."""

    accept: list[Acceptance] = Field(default_factory=list)


def read_baseline(path: Path) -> Baseline:
    """The baseline in a TOML file."""
    return validate(Baseline, read_toml(path, "baseline file"), str(path))


def write_baseline(
    run: Run,
    policy: Policy,
    path: Path,
    reason: str,
    expires: datetime.date,
    *,
    keep: Baseline | None = None,
    today: datetime.date | None = None,
) -> Baseline:
    """Accept what violates the policy, or is inconclusive, at today's values, and write it.

    Entries of ``keep`` that are still in force stay as they are, with their own reasons.
    """
    if not reason.strip():
        raise UsageError("a baseline needs a reason: say why this is accepted")
    day = today or datetime.date.today()
    if expires < day:
        raise UsageError(f"the baseline would have expired already: {expires} lies before {day}")
    kept = [entry for entry in keep.accept if entry.expires >= day] if keep else []
    merged: dict[tuple[object, ...], Acceptance] = {}
    for verdict in judge_in_detail(run, policy, Baseline(accept=kept), today=day):
        if verdict.finding is None or verdict.compared is None:
            continue
        if verdict.outcome not in ("violated", "inconclusive"):
            continue
        entry = Acceptance(
            rule=verdict.rule.id,
            **_exactly(verdict.finding),
            up_to=math.ceil(verdict.compared * 1e4) / 1e4,
            reason=reason.strip(),
            expires=expires,
        )
        key = (entry.rule, *entry.wanted().values())
        if key not in merged or merged[key].up_to < entry.up_to:
            merged[key] = entry
    baseline = Baseline(accept=[*kept, *merged.values()])
    write_atomically(path, _toml(baseline), shared=True)
    return baseline


def _exactly(finding: Finding) -> dict[str, Any]:
    """The selector that means this finding and no other question."""
    return {
        "game": finding.game,
        "attack": finding.attack,
        "adversary": finding.adversary,
        "subject": NONE if finding.subject is None else finding.subject,
        "defense": NONE if finding.defense is None else finding.defense,
        "adaptive": finding.adaptive,
    }


def _toml(baseline: Baseline) -> str:
    lines = ["# Accepted findings: each needs a reason and the last day it counts.", ""]
    for entry in baseline.accept:
        lines.append("[[accept]]")
        lines += [f"{key} = {_toml_value(value)}" for key, value in entry if value is not None]
        lines.append("")
    return "\n".join(lines)


def _toml_value(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float | datetime.date):
        return str(value)
    # A JSON string without non-ASCII escapes is a TOML basic string, but for DEL.
    text = str(value).encode("utf-8", "replace").decode()
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
