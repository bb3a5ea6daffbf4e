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
#: Pairs asked about one user at most, unless told otherwise.
MOST_ASKED = 20_000


@dataclass(frozen=True)
class Asked:
    """The words of a user's data, and the pairs of them whose distance is asked for.

    ``words`` are numbers of the corpus' vocabulary, ``pairs`` are rows of ``words``; ``gaps`` says how far apart the
    two stand at the nearest (1: side by side), ``times`` how often they do within reach of each other.
    """

    words: IntArray
    pairs: IntArray
    gaps: IntArray
    times: IntArray

    @property
    def width(self) -> int:
        """How many numbers a model answers with."""
        return len(self.pairs) + len(self.words)


def words_in_samples(corpus: TokenCorpus, samples: Sequence[IntArray], min_count: int) -> NDArray[np.float64]:
    """For each word of the vocabulary the share of the samples in which it is frequent enough to be learnt."""
    share = np.zeros(len(corpus.vocabulary))
    for rows in samples:
        share += np.bincount(corpus.some(rows)[0], minlength=len(share)) >= min_count
    return share / max(1, len(samples))


def asked_of(
    corpus: TokenCorpus, rows: IntArray, known: NDArray[np.bool_], reach: int = 1, most: int = MOST_ASKED
) -> Asked:
    """Every two different words that stand at most ``reach`` apart in a text; unknown words are passed over.

    ``known`` says of each word of the vocabulary whether it may be asked for: a word that no shadow model knows tells
    nothing. Of more than ``most`` pairs the nearest are kept, among equals those that stand there most often.
    """
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
    return Asked(words, np.searchsorted(words, pairs[order]), seen[order, 0], seen[order, 1])


def answered(table: WordTable, asked: Asked) -> FloatArray:
    """The distance of each pair, then the length of each word's vector; NaN where the model does not know a word."""
    rows = table.rows_of(asked.words)
    vectors = np.full((len(rows), table.vectors.shape[1]), np.nan, dtype=np.float32)
    vectors[rows >= 0] = table.vectors[rows[rows >= 0]]
    apart = vectors[asked.pairs[:, 0]] - vectors[asked.pairs[:, 1]]
    return np.concatenate([np.sqrt(np.einsum("ij,ij->i", apart, apart)), np.linalg.norm(vectors, axis=1)]).astype(
        np.float64
    )
