"""How a section of the report is told: a game names the section of its findings, and this is what a section has."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from unembed.report.findings import against_floor
from unembed.report.numbers import MISSING, number, with_interval
from unembed.report.parts import Bar, Ranking, other_kinds
from unembed.results.schema import Finding, Run

#: What an attacker does with vectors: the cards of page one, in the order of the harm.
Kind = Literal["read", "look", "infer", "training", "other"]
KINDS: dict[Kind, str] = {
    "read": "Read the words",
    "look": "Look for a secret or a word",
    "infer": "Infer an attribute",
    "training": "Tell what the model learnt from",
    "other": "Other questions",
}


@dataclass(frozen=True)
class Figure:
    """The number of a card: ``34 of 100``, what of, and what guessing gives."""

    value: str
    what: str
    guess: str
    size: float
    """What tells the larger of two figures of the same."""
    told: str = ""
    """The same in the words of the question, where value and meaning side by side make no sentence."""

    @property
    def clause(self) -> str:
        """As a part of a sentence."""
        if self.told:
            return f"{self.told} ({self.guess})" if self.guess else self.told
        return f"{self.value} {self.what} ({self.guess})" if self.guess else f"{self.value} {self.what}"


@dataclass(frozen=True)
class Section:
    """Words for the findings of one kind of question."""

    kind: Kind
    figure: Callable[[Run, Finding], Figure]
    sentences: Callable[[Run, Finding], list[str]]
    lead: str = ""
    bars: Callable[[Finding], list[Bar]] = lambda finding: []
    rankings: Callable[[Finding], list[Ranking]] = lambda finding: other_kinds(finding, ())
    chart: Callable[[Finding], Markup | None] = lambda finding: None


def hundred(value: float) -> str:
    """A share as people count it: ``34 of 100``."""
    if math.isnan(value):
        return MISSING
    if 0 < value < 0.005:
        return "fewer than 1 of 100"
    return "more than 99 of 100" if 0.995 <= value < 1 else f"{max(0, round(100 * value))} of 100"


def share_figure(value: float, what: str, floor: float | None) -> Figure:
    """A share of a hundred with what guessing gives."""
    guess = "" if floor is None or math.isnan(floor) else f"guessing: {hundred(floor)}"
    return Figure(hundred(value), what, guess, value)


def beside(finding: Finding, key: str) -> str:
    """What guessing gives in a further metric, in brackets; empty where the result does not say."""
    floor = finding.secondary_floors.get(key)
    return "" if floor is None else f" (guessing: {number(floor, 'share')})"


def _plain_figure(run: Run, finding: Finding) -> Figure:
    card = next((c for c in run.games if c.name == finding.game), None)
    meaning = (card.metric_meaning if card else "") or finding.metric.replace("_", " ")
    subject = f"{finding.subject}: " if finding.subject else ""
    guess = f"guessing: {number(finding.floor.value, finding.metric)}"
    told = f"somebody {finding.claim.split(';')[0]}" if finding.claim else ""
    value = number(finding.estimate.value, finding.metric)
    return Figure(value, f"{subject}{meaning}", guess, finding.excess.value, told)


def _plain_sentences(run: Run, finding: Finding) -> list[str]:
    score = finding.metric.replace("_", " ")
    return [f"Result ({score}): {with_interval(finding.estimate, finding.metric)}.", against_floor(finding)]


#: For games that name no section, or one of a plug-in's own.
PLAIN = Section("other", _plain_figure, _plain_sentences)
