"""A finding in words: its judgement, its colour, who made it and what it took."""

from __future__ import annotations

import math
from collections.abc import Sequence

from unembed.report.numbers import MISSING, count, duration, number
from unembed.report.words import STATUS
from unembed.results.schema import Finding, Run

#: The order in which outcomes are listed: what calls for somebody's eyes first.
_ORDER = {"leak": 0, "inconclusive": 1, "could-not-measure": 2, "no-leak-found": 3, "yardstick": 4}
UNKNOWN = "Not known: this attack did not pass its own check. This is not a sign of safety."
#: How what was reached stands to the strongest floor, by the status of the finding.
_AGAINST_FLOOR = {
    "leak": "Guessing without the vectors reaches {floor}.",
    "no-leak-found": "Guessing without the vectors reaches {floor}: no clear difference.",
    "inconclusive": "Guessing without the vectors reaches {floor}: too close to tell whether this is less.",
    "yardstick": "Guessing reaches {floor}.",
}


class Names:
    """Titles of attacks and adversaries, from the run's own cards, and how strong an adversary is."""

    def __init__(self, run: Run) -> None:
        self._attacks = {card.name: card.title for card in run.attacks}
        self._adversaries = {card.name: card.title for card in run.adversaries}

    def attack(self, name: str) -> str:
        """The title of an attack, or its name."""
        return self._attacks.get(name) or name

    def adversary(self, name: str) -> str:
        """The title of an adversary, or their name."""
        return self._adversaries.get(name) or name

    def strength(self, name: str) -> int:
        """The place of an adversary from weak to strong; unknown ones come last."""
        known = list(self._adversaries)
        return known.index(name) if name in known else len(known)

    def title(self, finding: Finding) -> str:
        """Attack, adversary, subject and defense of a finding."""
        parts = (self.attack(finding.attack), self.adversary(finding.adversary), about(finding))
        return " · ".join(part for part in parts if part)


def measured(finding: Finding) -> bool:
    """Whether the finding's number may be read as a result."""
    trusted = finding.trust.trusted and finding.status != "could-not-measure"
    return trusted and math.isfinite(finding.estimate.value)


def tone(finding: Finding) -> str:
    """The colour class of a finding; what was not measured never gets a reassuring one."""
    if finding.status == "could-not-measure" or not finding.trust.trusted:
        return "unknown"
    return "inconclusive" if finding.status == "inconclusive" else finding.level


def badge(finding: Finding) -> str:
    """The short judgement of a finding."""
    if finding.status == "leak" and finding.level in ("high", "moderate", "low"):
        return f"Leak · {finding.level}"
    return STATUS[finding.status]


def defended(finding: Finding) -> str:
    """The defense in words, and whether the adversary knows it; empty for plain vectors."""
    if not finding.defense:
        return ""
    known = {True: ", adversary adapts", False: ", adversary doesn't adapt", None: ""}[finding.adaptive]
    return f"defended by {finding.defense}{known}"


def about(finding: Finding) -> str:
    """Subject and defense in words."""
    return " · ".join(part for part in (finding.subject, defended(finding)) if part)


def against_floor(finding: Finding) -> str:
    """How a measured result stands to its floor, in one sentence."""
    return _AGAINST_FLOOR[finding.status].format(floor=number(finding.floor.value, finding.metric))


def needed(finding: Finding) -> str:
    """What the adversary needed, in one line."""
    cost = finding.cost
    parts = [f"{count(cost.pairs) if cost.pairs else 'no'} {cost.learns_from}"]
    parts.append(f"{count(cost.queries)} queries" if cost.queries else "no queries")
    parts.append(f"{duration(cost.fit_seconds + cost.run_seconds)} on {cost.device}")
    return ", ".join(parts) + f", to attack {count(cost.targets)} vectors"


def rank(finding: Finding) -> tuple[int, float]:
    """What puts one finding before another: leaks first, then by how far they lie above guessing."""
    value = finding.excess.value
    known = measured(finding) and math.isfinite(value)
    return _ORDER[finding.status], -value if known else math.inf


def full_strength(findings: Sequence[Finding]) -> list[Finding]:
    """Without the points of curves, unless there is nothing else."""
    return [f for f in findings if not f.curve] or list(findings)


def worked(run: Run) -> str:
    """How long the audit took, also where it was resumed or ran in several processes."""
    busy = sum(cell.seconds for cell in run.cells) + sum(score.seconds for score in run.utility)
    if math.isfinite(busy) and busy > run.seconds:
        return f"{duration(busy)} of measuring"
    return f"took {duration(run.seconds)}" if math.isfinite(run.seconds) else MISSING
