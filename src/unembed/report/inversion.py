"""Can someone read my text? The findings on words, in the order and the words of those whose texts they are.

All of it rests on what stands in the result: shares of texts, slices by word, and samples, masked unless the user
asked for real ones. What a result does not hold is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from unembed.report.numbers import MISSING, count, number, of_hundred, with_interval
from unembed.report.readers import Bar, Reader, against_floor, by_adversary, rank, reader, share_bar, title, who
from unembed.report.samples import SampleView, sample_view
from unembed.report.view import CurveView, Names, curves, measured, tone
from unembed.report.words import TEXT_SHARES
from unembed.results.schema import Finding, Run, Slice

SECTION = "words"
_HALF = "texts_half_recovered"
_RIGHT = "content_precision"
_PARTS = {
    "word frequency": "By how common a word is (rank 1: the most common in the adversary's texts)",
    "word class": "By kind of word",
}
_RECALL = ", recall"
_MASKED_NAME = re.compile(r" \((word|name) \d+\)$")


@dataclass(frozen=True)
class Part:
    """Kinds of words side by side."""

    title: str
    bars: list[Bar]


@dataclass(frozen=True)
class WordRow:
    """One word (masked unless asked for): in how many texts it stood, and in how many of them it was read back."""

    word: str
    present: str
    recovered: str
    share: str
    floor: str


@dataclass(frozen=True)
class Details:
    """What belongs to one finding: kinds of words, words, samples."""

    title: str
    parts: list[Part]
    words: list[WordRow]
    samples: list[SampleView]
    masked: bool


@dataclass(frozen=True)
class Reading:
    """The section: who reads how much, what it takes, which words come back, examples."""

    readers: list[Reader]
    head: list[str]
    rows: list[list[str]]
    details: list[Details]
    curves: list[CurveView]


def reading(run: Run) -> Reading | None:
    """The section of a run, or None if nobody tried to read words."""
    found = [f for f in run.findings if f.section == SECTION]
    if not found:
        return None
    names = Names(run)
    groups = by_adversary([f for f in found if not f.curve] or found, run)
    ordered = sorted((f for group in groups for f in group if measured(f)), key=lambda f: -rank(f))
    head = [
        "Attack",
        "Adversary",
        *(f"{share} or more" for share in TEXT_SHARES.values()),
        "Right of those named",
    ]
    best = [group[0] for group in groups]
    held = {who.name: set(who.capabilities) for who in run.adversaries}

    def said(finding: Finding) -> list[str]:
        return [*_sentences(finding), *_better_without(finding, best, names, held)]

    return Reading(
        [reader(finding, names, said, _shares) for finding in best],
        head,
        [_row(f, names) for group in groups for f in group if measured(f) and _shares(f)],
        [d for f in ordered if (d := details(f, names)).parts or d.words or d.samples],
        curves(found, names),
    )


def _sentences(finding: Finding) -> list[str]:
    """The result as one says it to somebody whose texts these are, most important first."""
    said = []
    if (half := finding.secondary.get(_HALF)) is not None:
        said.append(f"Of 100 texts, {of_hundred(half, 'gives', 'give')} back half of their words or more.")
    if (right := finding.secondary.get(_RIGHT)) is not None:
        said.append(f"Of 100 words the adversary names, {of_hundred(right, 'is', 'are')} right.")
    score = finding.metric.replace("_", " ")
    said.append(f"Agreement of named and true words ({score}): {with_interval(finding.estimate, finding.metric)}.")
    said.append(against_floor(finding))
    return said


def _better_without(finding: Finding, best: list[Finding], names: Names, held: Mapping[str, set[str]]) -> list[str]:
    """Whoever holds more can do what others do with less; said where that reads more than their own attacks."""
    better = [
        f
        for f in best
        if measured(f)
        and (f.defense, f.adaptive) == (finding.defense, finding.adaptive)
        and held.get(finding.adversary, set()) > held.get(f.adversary, set())
        and f.estimate.value > finding.estimate.value
    ]
    if not better:
        return []
    most = max(better, key=lambda f: f.estimate.value)
    return [f"This adversary can also do what is shown under “{who(most, names)}”, which reads more."]


def _shares(finding: Finding) -> list[Bar]:
    held = finding.secondary
    return [
        share_bar(f"{share} of its words or more", held[key], finding.secondary_floors.get(key), tone(finding))
        for key, share in TEXT_SHARES.items()
        if key in held
    ]


def _row(finding: Finding, names: Names) -> list[str]:
    held = finding.secondary
    values = [with_interval(held[key], "share") if key in held else MISSING for key in (*TEXT_SHARES, _RIGHT)]
    return [names.attack(finding.attack), who(finding, names), *values]


def details(finding: Finding, names: Names) -> Details:
    """Kinds of words, words and samples of one finding."""
    colour = tone(finding)
    kinds = list(dict.fromkeys(s.kind for s in finding.slices))
    parts = [_part(finding, kind, colour) for kind in kinds if kind != "word" and not _is_recall_of(kind, kinds)]
    return Details(
        title(finding, names),
        parts,
        [word_row(s) for s in finding.slices if s.kind == "word"],
        [sample_view(s) for s in finding.samples],
        all(s.masked for s in finding.samples),
    )


def _is_recall_of(kind: str, kinds: list[str]) -> bool:
    return kind.endswith(_RECALL) and kind.removesuffix(_RECALL) in kinds


def _part(finding: Finding, kind: str, colour: str) -> Part:
    """The metric with its floor, and the share that came back in words.

    A share has no floor worth showing: whoever names the same common words for every text finds all of those.
    """
    shares = {s.name: s.estimate for s in finding.slices if s.kind == kind + _RECALL}
    bars = []
    for part in (s for s in finding.slices if s.kind == kind):
        drawn = share_bar(part.name, part.estimate, part.floor, colour, metric=finding.metric)
        share = shares.get(part.name)
        note = f"{with_interval(share, 'share')} of them come back" if share else ""
        bars.append(replace(drawn, note=note))
    return Part(_PARTS.get(kind, f"By {kind}"), bars)


def word_row(part: Slice) -> WordRow:
    """One word or name; the running number that told masked ones apart is not needed in a table."""
    present = part.estimate.n
    floor = MISSING if part.floor is None else number(part.floor, "share")
    recovered = count(round(part.estimate.value * present)) if present else MISSING
    return WordRow(
        _MASKED_NAME.sub("", part.name), count(present), recovered, with_interval(part.estimate, "share"), floor
    )
