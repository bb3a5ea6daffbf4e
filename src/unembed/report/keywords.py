"""Can a word be looked for? The findings on single words, and on lists of words that are ranked for every text."""

from __future__ import annotations

import math
from dataclasses import dataclass

from unembed.games.keyword_scores import AVERAGE_PRECISION, FIRST_N, HALF, KEYWORD, PREVALENCE, SLICES
from unembed.report.numbers import count, number, of_hundred
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
from unembed.report.view import tone
from unembed.results.schema import Finding, Run, Slice

SECTION, LISTS = "keywords", "word lists"
_COLUMNS = ("Word", "Texts asked about", "Told right")
_STORE_COLUMNS = {
    SLICES[AVERAGE_PRECISION]: "Average precision",
    SLICES[FIRST_N]: "Precision among the first n",
}
_LIST_COLUMNS = ("Word", "In texts", "Named among the first")
_FALSE_ALARMS = "How often the answer is rightly no. Whoever always says no is always right, so nothing leaks here."
_NO_FLOOR = (
    "Of the texts that hold the word, the share for which it is named among the first. A single word has no floor "
    "worth showing: whoever names the same words for every text finds all of those. Compare the whole list above."
)


@dataclass(frozen=True)
class Keywords:
    """The section: words one by one, and lists."""

    asked: list[Topic]
    listed: list[Topic]


def keywords(run: Run) -> Keywords | None:
    """The section of a run, or None if no words were asked for."""
    asked = topics(run, SECTION, _sentences, _bars, _rankings)
    listed = topics(run, LISTS, lambda f: _list_sentences(f, _first(run, f)), _list_bars, _list_rankings)
    return Keywords(asked, listed) if asked or listed else None


def words_of(finding: Finding) -> list[Slice]:
    """The words that stand in some text, the most exposed first.

    Of a word that stands nowhere only false alarms are counted, and always saying no is right: its floor is 1.
    """
    return by_exposure([s for s in finding.slices if s.kind == KEYWORD and s.floor != 1.0])


def _nowhere(finding: Finding) -> list[Slice]:
    return by_exposure([s for s in finding.slices if s.kind == KEYWORD and s.floor == 1.0])


def _sentences(finding: Finding) -> list[str]:
    words, nowhere = words_of(finding), _nowhere(finding)
    right = f"{of_hundred(finding.estimate, 'of', 'of')} 100 cases"
    said = [
        f"From a vector alone they tell whether the text mentions a given word: right in {right} where half of the "
        "texts mention it."
    ]
    said.append(against_floor(finding))
    said += _over_the_store(finding)
    if words:
        said += [_word(words[0]), how_many(words, "word", "told clearly better than by guessing")]
    if nowhere:
        one = len(nowhere) == 1
        said.append(
            f"{len(nowhere)} {'word stands' if one else 'words stand'} in none of the texts: there only false alarms "
            "count."
        )
    return said


def _over_the_store(finding: Finding) -> list[str]:
    """What they find among all texts, few of which mention the word."""
    held = finding.secondary
    first, share, half = (held.get(key) for key in (FIRST_N, PREVALENCE, HALF))
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


def _bars(finding: Finding) -> list[Bar]:
    words, bars = words_of(finding), [share_bar("all words", finding.estimate, finding.floor.value, tone(finding))]
    return between_extremes(bars, words)


def _rankings(finding: Finding) -> list[Ranking]:
    found = []
    if words := words_of(finding):
        found.append(ranking("Word by word", _COLUMNS, words))
    if nowhere := _nowhere(finding):
        found.append(ranking("Words in none of the texts", _COLUMNS, nowhere, note=_FALSE_ALARMS))
    for kind, column in _STORE_COLUMNS.items():
        if parts := by_exposure([s for s in finding.slices if s.kind == kind]):
            found.append(ranking(f"Word by word, over all texts: {column.lower()}", ("Word", "Texts", column), parts))
    return found + other_kinds(finding, (KEYWORD, *_STORE_COLUMNS))


def _first(run: Run, finding: Finding) -> str:
    """How many of the words named count, from the game's own setting."""
    top = next((c.identity.game.params.get("top") for c in run.cells if c.key == finding.cell), None)
    return f"first {top}" if isinstance(top, int) else "first"


def _list_sentences(finding: Finding, first_ones: str) -> list[str]:
    held = finding.secondary
    found = of_hundred(finding.estimate, "is", "are")
    said = [f"Of 100 words of the list that stand in a text, {found} among the {first_ones} that are named for it."]
    said.append(against_floor(finding))
    if (first := held.get("first_word_right")) is not None:
        guess = _guess(finding, "first_word_right")
        said.append(f"The very first word is right for {of_hundred(first, 'of', 'of')} 100 texts{guess}.")
    if (right := held.get("precision_at_top")) is not None:
        guess = _guess(finding, "precision_at_top")
        said.append(f"Of 100 words they put at the top, {of_hundred(right, 'stands', 'stand')} in the text{guess}.")
    return said


def _guess(finding: Finding, key: str) -> str:
    floor = finding.secondary_floors.get(key)
    return "" if floor is None else f" (guessing: {number(floor, 'share')})"


def _list_bars(finding: Finding) -> list[Bar]:
    colour, floors = tone(finding), finding.secondary_floors
    bars = [share_bar("words of the text that are named", finding.estimate, finding.floor.value, colour)]
    for key, name in (("first_word_right", "first word right"), ("precision_at_top", "right of those named first")):
        if (share := finding.secondary.get(key)) is not None:
            bars.append(share_bar(name, share, floors.get(key), colour))
    return bars


def _list_rankings(finding: Finding) -> list[Ranking]:
    words = by_exposure([s.model_copy(update={"floor": None}) for s in finding.slices if s.kind == KEYWORD])
    own = [ranking("Word by word", _LIST_COLUMNS, words, colour=tone(finding), note=_NO_FLOOR)] if words else []
    return own + other_kinds(finding, (KEYWORD,))
