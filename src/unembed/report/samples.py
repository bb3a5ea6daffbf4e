"""Examples of what was read back: right, wrong and missed words apart, the surest first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from unembed.results.schema import Sample

#: So many of the words an attack names are shown; the rest is counted.
SHOWN = 40


@dataclass(frozen=True)
class Word:
    """One word with what became of it; ``plain`` where the result does not say which were right."""

    text: str
    fate: Literal["hit", "wrong", "missed", "plain"]


@dataclass(frozen=True)
class SampleView:
    """One text: the words that were named, surest first, and the words that were missed."""

    target: str
    summary: str
    named: list[Word]
    more: str
    missed: list[Word]


def sample_view(sample: Sample) -> SampleView:
    """A sample with each of its words judged.

    Masked words that look alike can't be told apart, so it does not matter which of them counts as found.
    """
    if len(sample.hits) != len(sample.recovered):
        return _unjudged(sample)
    named = [Word(w, "hit" if hit else "wrong") for w, hit in zip(sample.recovered, sample.hits, strict=True)]
    found = Counter(w.text for w in named if w.fate == "hit")
    missed = []
    for word in sample.truth:
        if found[word]:
            found[word] -= 1
        else:
            missed.append(Word(word, "missed"))
    right, wrong = sum(sample.hits), len(named) - sum(sample.hits)
    return SampleView(sample.target, _summary(len(sample.truth), right, wrong), *_cut(named), missed)


def _unjudged(sample: Sample) -> SampleView:
    """For results that do not say which words were right."""
    named = [Word(w, "plain") for w in sample.recovered]
    summary = f"{len(sample.truth)} in the text, {len(named)} named"
    return SampleView(sample.target, summary, *_cut(named), [Word(w, "plain") for w in sample.truth])


def _cut(named: list[Word]) -> tuple[list[Word], str]:
    hidden = named[SHOWN:]
    right = sum(w.fate == "hit" for w in hidden)
    return named[:SHOWN], f"and {len(hidden)} more, {right} of them right" if hidden else ""


def _summary(present: int, right: int, wrong: int) -> str:
    found = f"{right} of {present} read back" if present else "nothing to read back"
    return f"{found}, {wrong} wrong" if wrong else found
