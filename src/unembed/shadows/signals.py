"""What is asked of a model about a user's data: how far apart it puts words that stand near each other there.

A table of word vectors is as good after any rotation, but distances stay. So a model is known by the distances between
words that are neighbours in the data (Mahloujifar 3, Algorithm 1, step 6), by the lengths of their vectors, and by
which of the words it knows at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.shadows.base import IntArray, TokenCorpus, WordTable

FloatArray = NDArray[np.float64]
#: Pairs asked about one user at most.
MOST_ASKED = 5_000
#: A word is asked for if at least this share of the adversary's models knows it.
MOSTLY_KNOWN = 0.95


@dataclass(frozen=True)
class Frequencies:
    """How often each word of the vocabulary stands in a model's texts, on average, and how many models know it."""

    counts: FloatArray
    known: FloatArray

    @classmethod
    def of(cls, corpus: TokenCorpus, samples: Sequence[IntArray], min_count: int) -> Frequencies:
        """Over the texts of each model; a word that is rarer than ``min_count`` there is not learnt."""
        counts, known = np.zeros(len(corpus.vocabulary)), np.zeros(len(corpus.vocabulary))
        for rows in samples:
            here = np.bincount(corpus.some(rows)[0], minlength=len(counts))
            counts += here
            known += here >= min_count
        return cls(counts / max(1, len(samples)), known / max(1, len(samples)))


@dataclass(frozen=True)
class Asked:
    """The words of a user's data, and the pairs of them whose distance is asked for.

    ``words`` are numbers of the corpus' vocabulary, ``counts`` how often each stands in a shadow model's texts;
    ``pairs`` are rows of ``words``; ``gaps`` says how far apart the two stand at the nearest (1: side by side),
    ``times`` how often they do within reach of each other.
    """

    words: IntArray
    counts: FloatArray
    pairs: IntArray
    gaps: IntArray
    times: IntArray

    @property
    def width(self) -> int:
        """How many numbers a model answers with."""
        return len(self.pairs) + len(self.words)


def asked_of(
    corpus: TokenCorpus, rows: IntArray, frequencies: Frequencies, reach: int = 1, most: int = MOST_ASKED
) -> Asked:
    """Every two different words that stand at most ``reach`` apart in a text.

    Words that few shadow models know are passed over, as they are when vectors are trained. Of more than ``most`` pairs
    the nearest are kept, among equals those that stand there most often.
    """
    known = frequencies.known >= MOSTLY_KNOWN
    found: dict[tuple[int, int], tuple[int, int]] = {}
    for row in rows:
        numbers = corpus.text(int(row))
        text = numbers[known[numbers]].tolist()
        for gap in range(1, reach + 1):
            for first, second in zip(text, text[gap:], strict=False):
                if first != second:
                    pair = (first, second) if first < second else (second, first)
                    nearest, times = found.get(pair, (gap, 0))
                    found[pair] = (min(nearest, gap), times + 1)
    pairs = np.array(list(found), dtype=np.int64).reshape(-1, 2)
    seen = np.array(list(found.values()), dtype=np.int64).reshape(-1, 2)
    order = np.lexsort((-seen[:, 1], seen[:, 0]))[:most]
    words = np.unique(pairs[order])
    placed = np.searchsorted(words, pairs[order])
    return Asked(words, frequencies.counts[words], placed, seen[order, 0], seen[order, 1])


def answered(table: WordTable, asked: Asked) -> FloatArray:
    """The distance of each pair, then the length of each word's vector; NaN where the model does not know a word."""
    rows = table.rows_of(asked.words)
    vectors = np.full((len(rows), table.vectors.shape[1]), np.nan, dtype=np.float32)
    vectors[rows >= 0] = table.vectors[rows[rows >= 0]]
    apart = vectors[asked.pairs[:, 0]] - vectors[asked.pairs[:, 1]]
    squares = np.concatenate([np.einsum("ij,ij->i", apart, apart), np.einsum("ij,ij->i", vectors, vectors)])
    return np.asarray(np.sqrt(squares, dtype=np.float64))
