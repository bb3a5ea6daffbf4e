"""Can an attribute of a text be told? The findings on columns of classes (author, topic) and of numbers (age, amount).

Each class has its own row, the most exposed first, because the mean over all says nothing about a small group.
"""

from __future__ import annotations

from dataclasses import dataclass

from unembed.report.numbers import count, number, of_hundred, with_interval
from unembed.report.ranked import (
    Ranking,
    Topic,
    between_extremes,
    by_exposure,
    floor_of,
    how_many,
    other_kinds,
    part_name,
    ranking,
    topics,
)
from unembed.report.readers import Bar, against_floor, share_bar
from unembed.report.view import Names, measured, tone
from unembed.results.schema import Finding, Run, Slice

CLASSES, NUMBERS = "classes", "numbers"
_QUARTERS = (
    "Share of the error that the vectors take away. Below 0% the best single guess for all lies nearer; in the middle "
    "quarters, where it comes from, it is hard to beat."
)
#: The mean distance of a guess from the true number, in the unit of the column.
ERROR = "mean_absolute_error"


@dataclass(frozen=True)
class Attributes:
    """The section: columns of classes, and columns of numbers."""

    classes: list[Topic]
    numbers: list[Topic]


def attributes(run: Run) -> Attributes | None:
    """The section of a run, or None if no attribute was asked for."""
    classes = topics(run, CLASSES, lambda f: [*_sentences(f), *_yardsticks(run, f)], _bars, _rankings)
    numbers = topics(run, NUMBERS, _number_sentences, _number_bars, _number_rankings)
    return Attributes(classes, numbers) if classes or numbers else None


def classes_of(finding: Finding) -> list[Slice]:
    """The values of the attribute, the most exposed first."""
    return by_exposure([s for s in finding.slices if s.kind == "class"])


def _sentences(finding: Finding) -> list[str]:
    column, held, classes = finding.subject or "the attribute", finding.secondary, classes_of(finding)
    told = of_hundred(finding.estimate, "is", "are")
    said = [f"Of 100 texts, {told} put to the right “{column}”, a small group counting as much as a large one."]
    said.append(against_floor(finding))
    if classes:
        said += [
            _class(classes[0]),
            how_many(classes, "value", "recognised clearly more often than others are taken for them"),
        ]
    if (five := held.get("top5_accuracy")) is not None:
        said.append(f"Of 100 texts, {of_hundred(five, 'has', 'have')} the right value among the first five named.")
    if (read := held.get("text_cnn_balanced_accuracy")) is not None:
        said.append(f"A classifier that reads the texts themselves reaches {with_interval(read, finding.metric)}.")
    return said


def _yardsticks(run: Run, finding: Finding) -> list[str]:
    """What the texts themselves tell, where a reader of texts was measured on the same attribute."""
    names = Names(run)
    return [
        f"For comparison, given the texts themselves: {with_interval(f.estimate, f.metric)} ({names.attack(f.attack)})."
        for f in run.findings
        if (f.section, f.subject, f.yardstick, f.curve) == (CLASSES, finding.subject, True, False)
        and f.adversary == finding.adversary
        and measured(f)
    ]


def _class(part: Slice) -> str:
    known, of = count(round(part.estimate.value * part.estimate.n)), count(part.estimate.n)
    others = number(floor_of(part), "share")
    return (
        f"Most exposed is “{part_name(part)}”: {known} of its {of} texts are recognised, while {others} of all other "
        "texts are taken for it."
    )


def _bars(finding: Finding) -> list[Bar]:
    classes, metric = classes_of(finding), finding.metric
    bars = [share_bar("all values", finding.estimate, finding.floor.value, tone(finding), metric=metric)]
    return between_extremes(bars, classes)


def _rankings(finding: Finding) -> list[Ranking]:
    classes = classes_of(finding)
    own = [ranking("Value by value", ("Value", "Texts", "Recognised"), classes)] if classes else []
    return own + other_kinds(finding, ("class",))


def _number_sentences(finding: Finding) -> list[str]:
    column, held = finding.subject or "the number", finding.secondary
    less = with_interval(finding.estimate, "share")
    said = []
    if (error := held.get(ERROR)) is not None:
        floor = finding.secondary_floors.get(ERROR)
        without = "" if floor is None else f"; without the vectors they are {number(floor, ERROR)} off"
        said.append(f"Guesses of “{column}” are {with_interval(error, ERROR)} off on average{without}.")
    said.append(f"The vectors take away {less} of the error of the best single guess for all texts.")
    said.append(_number_floor(finding))
    if (near := held.get("half_the_error_or_less")) is not None:
        said.append(f"Of 100 texts, {of_hundred(near, 'is', 'are')} guessed with half of that error or less.")
    if (alike := held.get("correlation")) is not None:
        said.append(f"Guessed and true numbers correlate by {with_interval(alike, 'correlation')}.")
    return said


def _number_floor(finding: Finding) -> str:
    if finding.status == "leak" and finding.floor.value <= 0:
        return "Guessing without the vectors takes none of it away."
    return against_floor(finding)


def _number_bars(finding: Finding) -> list[Bar]:
    colour, floors, near = tone(finding), finding.secondary_floors, finding.secondary.get("half_the_error_or_less")
    bars = [share_bar("error taken away", finding.estimate, finding.floor.value, colour)]
    if near is not None:
        bars.append(
            share_bar("guessed with half the error or less", near, floors.get("half_the_error_or_less"), colour)
        )
    return bars


def _number_rankings(finding: Finding) -> list[Ranking]:
    quarters = [s for s in finding.slices if s.kind == "range"]
    columns = ("Numbers", "Texts", "Error taken away")
    own = [ranking("Small and large numbers", columns, quarters, note=_QUARTERS)] if quarters else []
    return own + other_kinds(finding, ("range",))
