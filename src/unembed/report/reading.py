"""Can the words of a text be read, and the names of people in it?"""

from __future__ import annotations

from unembed.report.findings import against_floor, tone
from unembed.report.numbers import of_hundred, with_interval
from unembed.report.parts import Bar, Ranking, by_exposure, other_kinds, ranking, share_bar, slices
from unembed.report.sections import Figure, Section, share_figure
from unembed.report.words import TEXT_SHARES
from unembed.results.schema import Finding, Run

_HALF, _RIGHT = "texts_half_recovered", "content_precision"
#: Of fewer texts nothing is made on a card.
_SOME = 0.01
_HEADINGS = {
    "word frequency": "By how common a word is (rank 1: the most common in the adversary's texts)",
    "word class": "By kind of word",
}
_RECALL = ", recall"
_AGAINST_FLOOR = "Words named against words that were there, from 0 to 1. Common words can be guessed without looking."


def _figure(run: Run, finding: Finding) -> Figure:
    held, floors = finding.secondary, finding.secondary_floors
    for key in ("texts_half_recovered", "texts_a_quarter_recovered"):
        if key in held and held[key].value >= _SOME:
            what = f"texts give back {TEXT_SHARES[key]} of their words or more"
            return share_figure(held[key].value, what, floors.get(key))
    if _RIGHT in held:
        return share_figure(held[_RIGHT].value, "words they name are right", floors.get(_RIGHT))
    score = finding.metric.replace("_", " ")
    guess, value = f"guessing: {finding.floor.value:.2f}", finding.estimate.value
    return Figure(f"{value:.2f}", f"agreement of named and true words ({score})", guess, value)


def _sentences(run: Run, finding: Finding) -> list[str]:
    """The result as one says it to somebody whose texts these are, most important first."""
    said = []
    if (half := finding.secondary.get(_HALF)) is not None:
        said.append(f"Of 100 texts, {of_hundred(half, 'gives', 'give')} back half of their words or more.")
    if (right := finding.secondary.get(_RIGHT)) is not None:
        said.append(f"Of 100 words the adversary names, {of_hundred(right, 'is', 'are')} right.")
    score = finding.metric.replace("_", " ")
    said.append(f"Agreement of named and true words ({score}): {with_interval(finding.estimate, finding.metric)}.")
    return [*said, against_floor(finding)]


def _bars(finding: Finding) -> list[Bar]:
    held, floors = finding.secondary, finding.secondary_floors
    return [
        share_bar(f"{share} of its words or more", held[key], floors.get(key), tone(finding))
        for key, share in TEXT_SHARES.items()
        if key in held
    ]


def _rankings(finding: Finding) -> list[Ranking]:
    """Kinds of words with their floors, and the words most often read back.

    A share of words has no floor worth showing: whoever names the same common words for every text finds all of those.
    """
    kinds = list(dict.fromkeys(s.kind for s in finding.slices if s.kind != "word"))
    found = []
    for kind in (k for k in kinds if k.removesuffix(_RECALL) == k or k.removesuffix(_RECALL) not in kinds):
        back = {s.name: f"{with_interval(s.estimate, 'share')} come back" for s in slices(finding, kind + _RECALL)}
        heading, columns = _HEADINGS.get(kind, f"By {kind}"), ("Words", "Texts", "Result")
        parts, colour = slices(finding, kind), tone(finding)
        note = _AGAINST_FLOOR if any(s.floor is not None for s in parts) else ""
        found.append(ranking(heading, columns, parts, metric=finding.metric, colour=colour, note=note, notes=back))
    words = by_exposure([s.model_copy(update={"floor": None}) for s in slices(finding, "word")])
    if words:
        note = "Of the texts that hold the word, the share in which it is read back."
        found.append(
            ranking(
                "Words most often read back", ("Word", "In texts", "Read back"), words, colour=tone(finding), note=note
            )
        )
    return found


def _name_figure(run: Run, finding: Finding) -> Figure:
    what = "names put where nobody expects them come back"
    return share_figure(finding.estimate.value, what, finding.floor.value)


def _name_sentences(run: Run, finding: Finding) -> list[str]:
    put = of_hundred(finding.estimate, "comes", "come")
    said = [f"Of 100 names put into sentences where nobody expects them, {put} back.", against_floor(finding)]
    for bare in (f.estimate for f in finding.floors if f.kind == "without"):
        said.append(f"In the same sentences without the name, {of_hundred(bare, 'is', 'are')} named all the same.")
    if (original := finding.secondary.get("original_name_recall")) is not None:
        said.append(f"Of 100 names where they stood, {of_hundred(original, 'comes', 'come')} back.")
    if (alarms := finding.secondary.get("original_name_false_alarms")) is not None:
        said.append(f"In sentences without them, {of_hundred(alarms, 'is', 'are')} named all the same.")
    return said


def _name_rankings(finding: Finding) -> list[Ranking]:
    own = slices(finding, "name")
    note = "The floor is the same sentence without the name."
    first = [ranking("Name by name", ("Name", "Sentences", "Read back"), own, note=note)] if own else []
    return first + other_kinds(finding, ("name",))


SECTIONS: dict[str, Section] = {
    "words": Section(
        "read",
        _figure,
        _sentences,
        "Somebody wants the words of a text; their order is not asked for.",
        _bars,
        _rankings,
    ),
    "people": Section(
        "read",
        _name_figure,
        _name_sentences,
        "A name that is put into a sentence where nobody expects it can't be guessed from the rest.",
        rankings=_name_rankings,
    ),
}
