"""Adversaries as readers of texts: what the best attack of each one reads, in plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unembed.metrics.estimate import Estimate
from unembed.report import charts
from unembed.report.numbers import MISSING, number, with_interval
from unembed.report.view import Names, about, badge, measured, needed, sortable, tone
from unembed.results.schema import Finding, Run

UNKNOWN = "Not known: no attack of this adversary passed its own check. This is not a sign of safety."
#: How what was read stands to the strongest floor, by the status of the finding.
_AGAINST_FLOOR = {
    "leak": "Guessing without the vectors reaches {floor}.",
    "no-leak-found": "Guessing without the vectors reaches {floor}: no clear difference.",
    "inconclusive": "Guessing without the vectors reaches {floor}: too few texts to tell whether this is less.",
}


@dataclass(frozen=True)
class Bar:
    """One share: its name, its value with interval, what is reached without the vectors, its bar."""

    name: str
    value: str
    floor: str
    drawn: Markup
    note: str = ""


@dataclass(frozen=True)
class Reader:
    """What one adversary reads, by their best attack."""

    who: str
    attack: str
    tone: str
    badge: str
    sentence: str
    further: list[str]
    needed: str
    bars: list[Bar]


def share_bar(name: str, estimate: Estimate, floor: float | None, colour: str, *, metric: str = "share") -> Bar:
    """A bar on the scale from 0 to 1."""
    known = math.nan if floor is None else floor
    value, without = with_interval(estimate, metric), number(known, metric)
    label = f"{name}: {value}, floor {without if without != MISSING else 'not known'}"
    return Bar(name, value, without, charts.bar(charts.Axis(), estimate, floor, tone=colour, label=label))


def reader(
    finding: Finding,
    names: Names,
    sentences: Callable[[Finding], list[str]],
    bars: Callable[[Finding], list[Bar]],
) -> Reader:
    """One adversary by their best finding; where that may not be read as a result, only that."""
    sure = measured(finding)
    said = sentences(finding) if sure else [UNKNOWN]
    return Reader(
        who(finding, names),
        names.attack(finding.attack),
        tone(finding),
        badge(finding),
        said[0],
        said[1:],
        needed(finding),
        bars(finding) if sure else [],
    )


def against_floor(finding: Finding) -> str:
    """How a measured result stands to its floor, in one sentence."""
    return _AGAINST_FLOOR[finding.status].format(floor=number(finding.floor.value, finding.metric))


def by_adversary(findings: Sequence[Finding], run: Run) -> list[list[Finding]]:
    """Findings of one adversary (and one defense) together, best first; the strongest adversary first."""
    strength = {card.name: i for i, card in enumerate(run.adversaries)}
    groups: dict[tuple[int, str, str, bool], list[Finding]] = {}
    for f in findings:
        key = (-strength.get(f.adversary, -1), f.adversary, f.defense or "", bool(f.adaptive))
        groups.setdefault(key, []).append(f)
    return [sorted(groups[key], key=lambda f: -rank(f)) for key in sorted(groups)]


def rank(finding: Finding) -> float:
    """What tells the better of two findings; one that may not be read as a result comes last."""
    return sortable(finding.excess.value) if measured(finding) else -math.inf


def who(finding: Finding, names: Names) -> str:
    """Adversary and defense of a finding."""
    return " · ".join(p for p in (names.adversary(finding.adversary), about(finding)) if p)


def title(finding: Finding, names: Names) -> str:
    """Attack, adversary and defense of a finding."""
    return f"{names.attack(finding.attack)} · {who(finding, names)}"
