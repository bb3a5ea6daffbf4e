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


def asked_of(corpus: TokenCorpus, rows: IntArray, known: NDArray[np.bool_], reach: int = 1) -> Asked:
    """Every two different words that stand at most ``reach`` apart in a text; unknown words are passed over.

    ``known`` says of each word of the vocabulary whether it may be asked for: a word that no shadow model knows tells
    nothing.
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
    words = np.unique(pairs)
    order = np.argsort(seen[:, 0], kind="stable")
    return Asked(words, np.searchsorted(words, pairs[order]), seen[order, 0], seen[order, 1])


def answered(table: WordTable, asked: Asked) -> FloatArray:
    """The distance of each pair, then the length of each word's vector; NaN where the model does not know a word."""
    rows = table.rows_of(asked.words)
    vectors = np.full((len(rows), table.vectors.shape[1]), np.nan)
    vectors[rows >= 0] = table.vectors[rows[rows >= 0]]
    apart = vectors[asked.pairs[:, 0]] - vectors[asked.pairs[:, 1]]
    return np.concatenate([np.sqrt(np.einsum("ij,ij->i", apart, apart)), np.linalg.norm(vectors, axis=1)])


def answers(tables: Sequence[WordTable], asked: Asked) -> FloatArray:
    """One row per model."""
    return np.stack([answered(table, asked) for table in tables])
