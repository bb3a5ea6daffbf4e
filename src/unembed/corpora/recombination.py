"""New texts from old ones: parts, gaps and splices of what the adversary holds.

An adversary who may have texts encoded is not bound to the pairs it found: every recombination of its own texts
is a further pair for the price of one query. The words and their neighbours stay those of the collection, the
combinations are new, which is what keeps a large network from learning its pairs by heart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

KINDS = ("part", "gaps", "splice")
_SHORTEST = 3


def recombine(texts: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    """``count`` new texts, the kinds by turns: a contiguous part of one text, one with words left out, two joined."""
    words = [text.split() for text in texts]
    usable = [row for row, found in enumerate(words) if found]
    if not usable or count < 1:
        return []
    chosen = rng.choice(usable, size=(count, 2))
    made: list[str] = []
    for number, (first, second) in enumerate(chosen):
        kind = KINDS[number % len(KINDS)]
        if kind == "part":
            kept = _part(words[first], rng)
        elif kind == "gaps":
            kept = _gaps(words[first], rng)
        else:
            kept = _splice(words[first], words[second], rng)
        made.append(" ".join(kept))
    return made


def _part(words: list[str], rng: np.random.Generator) -> list[str]:
    """Two fifths of the words or more, as they stand."""
    length = min(len(words), max(_SHORTEST, int(len(words) * rng.uniform(0.4, 1.0))))
    start = int(rng.integers(0, len(words) - length + 1))
    return words[start : start + length]


def _gaps(words: list[str], rng: np.random.Generator) -> list[str]:
    """Each word left out with one chance, up to two in five."""
    kept = [w for w, stays in zip(words, rng.random(len(words)) > rng.uniform(0.0, 0.4), strict=True) if stays]
    return kept or words[:1]


def _splice(first: list[str], second: list[str], rng: np.random.Generator) -> list[str]:
    """The beginning of one text and the end of another."""
    cut, start = int(len(first) * rng.uniform(0.2, 0.8)), int(len(second) * rng.uniform(0.2, 0.8))
    return first[:cut] + second[start:] or first
