"""Can an attribute of a text be inferred: a class (author, topic) or a number (age, amount)?

Each class has its own row, the most exposed first, because the mean over all says nothing about a small group.
"""

from __future__ import annotations

from unembed.report.findings import Names, against_floor, measured
from unembed.report.numbers import count, number, of_hundred, with_interval
from unembed.report.parts import Ranking, by_exposure, floor_of, how_many, other_kinds, part_name, ranking, slices
from unembed.report.sections import Figure, Section, beside, share_figure
from unembed.results.schema import Finding, Run, Slice

_CLASSES = "classes"
_QUARTERS = (
    "Share of the error that the vectors take away. Below 0% the best single guess for all lies nearer; in the middle "
    "quarters, where it comes from, it is hard to beat."
)
#: The mean distance of a guess from the true number, in the unit of the column.
ERROR = "mean_absolute_error"


def _figure(run: Run, finding: Finding) -> Figure:
    what = f"texts are put to the right “{finding.subject or 'value'}”, every value counted alike"
    return share_figure(finding.estimate.value, what, finding.floor.value)


def _sentences(run: Run, finding: Finding) -> list[str]:
    column, held, classes = finding.subject or "the attribute", finding.secondary, by_exposure(slices(finding, "class"))
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
    return said + (_yardsticks(run, finding) if not finding.yardstick else [])


def _yardsticks(run: Run, finding: Finding) -> list[str]:
    """What the texts themselves tell, where a reader of texts was measured on the same attribute."""
    names = Names(run)
    return [
        f"For comparison, given the texts themselves: {with_interval(f.estimate, f.metric)} ({names.attack(f.attack)})."
        for f in run.findings
        if (f.section, f.subject, f.yardstick, f.curve) == (_CLASSES, finding.subject, True, False)
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


def _rankings(finding: Finding) -> list[Ranking]:
    classes, note = by_exposure(slices(finding, "class")), "The floor is the share of other texts taken for this value."
    own = [ranking("Value by value", ("Value", "Texts", "Recognised"), classes, note=note)] if classes else []
    return own + other_kinds(finding, ("class",))


def _number_figure(run: Run, finding: Finding) -> Figure:
    what = f"of the error in guessing “{finding.subject or 'the number'}” is taken away"
    value, guess = finding.estimate.value, f"guessing: {number(finding.floor.value, 'share')}"
    return Figure(number(value, "share"), what, guess, value)


def _number_sentences(run: Run, finding: Finding) -> list[str]:
    column, held = finding.subject or "the number", finding.secondary
    said = []
    if (error := held.get(ERROR)) is not None:
        floor = finding.secondary_floors.get(ERROR)
        off = "" if floor is None else f"; without the vectors they are {number(floor, ERROR)} off"
        said.append(f"Guesses of “{column}” are {with_interval(error, ERROR)} off on average{off}.")
    less = with_interval(finding.estimate, "share")
    said.append(f"The vectors take away {less} of the error of the best single guess for all texts.")
    nothing = finding.status == "leak" and finding.floor.value <= 0
    said.append("Guessing without the vectors takes none of it away." if nothing else against_floor(finding))
    if (near := held.get("half_the_error_or_less")) is not None:
        guess = beside(finding, "half_the_error_or_less")
        said.append(f"Of 100 texts, {of_hundred(near, 'is', 'are')} guessed with half of that error or less{guess}.")
    if (alike := held.get("correlation")) is not None:
        said.append(f"Guessed and true numbers correlate by {with_interval(alike, 'correlation')}.")
    return said


def _number_rankings(finding: Finding) -> list[Ranking]:
    quarters, columns = slices(finding, "range"), ("Numbers", "Texts", "Error taken away")
    own = [ranking("Small and large numbers", columns, quarters, note=_QUARTERS)] if quarters else []
    return own + other_kinds(finding, ("range",))


SECTIONS: dict[str, Section] = {
    _CLASSES: Section(
        "infer",
        _figure,
        _sentences,
        "Somebody knows the value of a column for some texts and tells it for the others from their vectors. A small "
        "group can be exposed while the mean is low: look at the single values.",
        rankings=_rankings,
    ),
    "numbers": Section(
        "infer",
        _number_figure,
        _number_sentences,
        "A number is told well if the guess is near: 0% is the best single guess for all, 100% every number exact.",
        rankings=_number_rankings,
    ),
}
