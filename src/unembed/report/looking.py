"""Can a word be looked for, and a secret of a known form be read?"""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from unembed.games.keyword_scores import AVERAGE_PRECISION, FIRST_N, HALF, KEYWORD, PREVALENCE, SLICES
from unembed.report import svg
from unembed.report.findings import against_floor, tone
from unembed.report.numbers import count, number, of_hundred, with_interval
from unembed.report.parts import Ranking, by_exposure, floor_of, how_many, other_kinds, part_name, ranking, slices
from unembed.report.sections import Figure, Section, beside, hundred, share_figure
from unembed.results.schema import Finding, Run, Slice

_COLUMNS = ("Word", "Texts asked about", "Told right")
_STORE_COLUMNS = {SLICES[AVERAGE_PRECISION]: "Average precision", SLICES[FIRST_N]: "Precision among the first n"}
_FALSE_ALARMS = "How often the answer is rightly no. Whoever always says no is always right, so nothing leaks here."
_NO_FLOOR = (
    "Of the texts that hold the word, the share for which it is named among the first. A single word has no floor "
    "worth showing: whoever names the same words for every text finds all of those."
)
#: Cells of wider maps hold no figures.
_MOST_FIGURES = 16
_ROW, _HEAD = 30, 18


def _figure(run: Run, finding: Finding) -> Figure:
    """What is found among all texts: where half of the texts mention a word, guessing looks better than it is."""
    first, share = finding.secondary.get(FIRST_N), finding.secondary.get(PREVALENCE)
    if first is None or share is None or math.isnan(first.value):
        what = "answers are right on whether a text mentions a given word"
        return share_figure(finding.estimate.value, what, finding.floor.value)
    what = "texts picked out as mentioning a given word do mention it"
    return share_figure(first.value, what, share.value)


def _words(finding: Finding) -> tuple[list[Slice], list[Slice]]:
    """The words that stand in some text, and those that stand nowhere, the most exposed first.

    Of a word that stands nowhere only false alarms are counted, and always saying no is right: its floor is 1.
    """
    words = by_exposure(slices(finding, KEYWORD))
    return [s for s in words if s.floor != 1.0], [s for s in words if s.floor == 1.0]


def _sentences(run: Run, finding: Finding) -> list[str]:
    words, nowhere = _words(finding)
    right = f"{of_hundred(finding.estimate, 'of', 'of')} 100 cases"
    said = [
        f"From a vector alone they tell whether the text mentions a given word: right in {right} where half of the "
        "texts mention it."
    ]
    said += [against_floor(finding), *_over_the_store(finding)]
    if words:
        said += [_word(words[0]), how_many(words, "word", "told clearly better than by guessing")]
    if nowhere:
        stand = "word stands" if len(nowhere) == 1 else "words stand"
        said.append(f"{len(nowhere)} {stand} in none of the texts: there only false alarms count.")
    return said


def _over_the_store(finding: Finding) -> list[str]:
    """What they find among all texts, few of which mention the word."""
    first, share, half = (finding.secondary.get(key) for key in (FIRST_N, PREVALENCE, HALF))
    if first is None or share is None or half is None or math.isnan(first.value):
        return []
    texts = count(max(1, round(half.value * half.n)))
    return [
        f"Among all texts a word stands in {number(share.value, PREVALENCE)} of them. Of the texts they would look at "
        f"first, as many as mention the word, {of_hundred(first, 'in', 'in')} 100 do; to find half of all that mention "
        f"it they look through {texts} of {count(half.n)}."
    ]


def _word(part: Slice) -> str:
    right = of_hundred(part.estimate, "of", "of")
    return (
        f"Whether a text mentions “{part_name(part)}” they tell right in {right} 100 cases; "
        f"guessing gives {round(100 * floor_of(part))}."
    )


def _rankings(finding: Finding) -> list[Ranking]:
    words, nowhere = _words(finding)
    found = [ranking("Word by word", _COLUMNS, words)] if words else []
    if nowhere:
        found.append(ranking("Words in none of the texts", _COLUMNS, nowhere, note=_FALSE_ALARMS))
    for kind, column in _STORE_COLUMNS.items():
        if parts := by_exposure(slices(finding, kind)):
            found.append(ranking(f"Word by word, over all texts: {column.lower()}", ("Word", "Texts", column), parts))
    return found + other_kinds(finding, (KEYWORD, *_STORE_COLUMNS))


def _list_figure(run: Run, finding: Finding) -> Figure:
    what = "listed words that stand in a text are named for it"
    return share_figure(finding.estimate.value, what, finding.floor.value)


def _list_sentences(run: Run, finding: Finding) -> list[str]:
    top = next((c.identity.game.params.get("top") for c in run.cells if c.key == finding.cell), None)
    first_ones = f"first {top}" if isinstance(top, int) else "first"
    held, found = finding.secondary, of_hundred(finding.estimate, "is", "are")
    said = [f"Of 100 words of the list that stand in a text, {found} among the {first_ones} that are named for it."]
    said.append(against_floor(finding))
    if (first := held.get("first_word_right")) is not None:
        guess = beside(finding, "first_word_right")
        said.append(f"The very first word is right for {of_hundred(first, 'of', 'of')} 100 texts{guess}.")
    if (right := held.get("precision_at_top")) is not None:
        guess = beside(finding, "precision_at_top")
        said.append(f"Of 100 words they put at the top, {of_hundred(right, 'stands', 'stand')} in the text{guess}.")
    return said


def _list_rankings(finding: Finding) -> list[Ranking]:
    words = by_exposure([s.model_copy(update={"floor": None}) for s in slices(finding, KEYWORD)])
    columns = ("Word", "In texts", "Named among the first")
    own = [ranking("Word by word", columns, words, colour=tone(finding), note=_NO_FLOOR)] if words else []
    return own + other_kinds(finding, (KEYWORD,))


def _secret_figure(run: Run, finding: Finding) -> Figure:
    whole, form = finding.secondary.get("whole_top1"), finding.subject or "the form"
    made_up = "; all made up, no text of yours holds one" if finding.about == "encoder" else ""
    if whole is not None and whole.value >= 0.01:
        what = f"secrets of the form “{form}” are read whole at the first attempt{made_up}"
        return share_figure(whole.value, what, finding.secondary_floors.get("whole_top1"))
    none_whole = "" if whole is None else f"; whole: {hundred(whole.value)}"
    what = f"parts of a secret of the form “{form}” are read right{none_whole}{made_up}"
    return share_figure(finding.estimate.value, what, finding.floor.value)


def _secret_sentences(run: Run, finding: Finding) -> list[str]:
    said = [f"Of 100 parts of such a secret, {of_hundred(finding.estimate, 'is', 'are')} read right at once."]
    said.append(against_floor(finding))
    if (whole := finding.secondary.get("whole_top1")) is not None:
        guess = beside(finding, "whole_top1")
        said.append(f"Of 100 whole secrets, {of_hundred(whole, 'comes', 'come')} back at the first attempt{guess}.")
    if (five := finding.secondary.get("whole_top5")) is not None:
        said.append(f"In five attempts: {of_hundred(five, 'does', 'do')}{beside(finding, 'whole_top5')}.")
    if finding.about == "encoder":
        said.append("The secrets were made up for the test; none of the texts under attack holds one.")
    return said


def _secret_rankings(finding: Finding) -> list[Ranking]:
    parts = slices(finding, "part")
    five = {s.name: f"{with_interval(s.estimate, 'share')} in five attempts" for s in slices(finding, "part_top5")}
    own = [ranking("Part by part", ("Part", "Secrets", "First attempt"), parts, notes=five)] if parts else []
    return own + other_kinds(finding, ("part", "part_top5"))


def heat_map(finding: Finding) -> Markup | None:
    """The parts of a secret in their order, as dark as the share that was read; None where there are none."""
    parts = slices(finding, "part")
    if not parts:
        return None
    figures, wide = len(parts) <= _MOST_FIGURES, 100 / len(parts)
    told = ", ".join(f"{s.name} {number(s.estimate.value, 'share')}" for s in parts)
    drawn: list[Markup] = []
    for i, part in enumerate(parts):
        label = part.name.rpartition(".")[2] if figures else (str(i + 1) if i % 5 in (0, 4) else "")
        drawn.append(svg.text(f"{wide * (i + 0.5):.2f}%", 12, label, anchor="middle"))
        drawn += _cell(wide * i, wide, part, figures=figures)
    look = {"class_": "plot heat tone-high", "width": "100%", "height": _HEAD + _ROW + 4, "role": "img"}
    return svg.element("svg", *drawn, aria_label=f"Share read right by part: {told}", **look)


def _cell(x: float, wide: float, part: Slice, *, figures: bool) -> Sequence[Markup]:
    value = part.estimate.value
    if not math.isfinite(value):
        return []
    place = {"x": f"{x:.2f}%", "y": _HEAD + 1, "width": f"{wide - 0.25:.2f}%", "height": _ROW - 2}
    floor = math.nan if part.floor is None else part.floor
    said = f"{part.name}: {with_interval(part.estimate, 'share')}, floor {number(floor, 'share')}"
    box = svg.element("rect", class_="track", **place)
    fill = svg.element("rect", svg.element("title", said), class_="heat-cell", fill_opacity=f"{value:.3f}", **place)
    if not figures:
        return [box, fill]
    kind = "heat-dark" if value > 0.55 else "heat-light"
    at = f"{x + wide / 2:.2f}%"
    return [box, fill, svg.text(at, _HEAD + 19, f"{value * 100:.0f}%", anchor="middle", class_=kind)]


SECTIONS: dict[str, Section] = {
    "keywords": Section(
        "look",
        _figure,
        _sentences,
        "Somebody has a word in mind (a name, a place, an illness) and asks of every vector whether its text mentions "
        "it. The chart counts as many texts with the word as without, so that guessing is right half the time.",
        rankings=_rankings,
    ),
    "word lists": Section(
        "look",
        _list_figure,
        _list_sentences,
        "Somebody ranks a list of telling words for every vector and reads the top as what the text is about. A list "
        "that is the same for all texts is the floor.",
        rankings=_list_rankings,
    ),
    "secrets": Section(
        "look",
        _secret_figure,
        _secret_sentences,
        "Somebody who knows the form of a secret makes up thousands of them, has them encoded, and learns to read the "
        "parts. A secret that comes back in part is easier to guess whole.",
        rankings=_secret_rankings,
        chart=heat_map,
    ),
}
