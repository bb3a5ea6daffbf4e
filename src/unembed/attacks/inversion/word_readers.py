"""Cheap ways to read words off vectors: frequencies, regression, nearest neighbours, look-up of columns.

Each learns from pairs and answers with one confidence per vector and word; thresholds are chosen outside.

Regression is ridge regression from vectors to word indicators, all words from one factorisation: with 1,000 pairs it
read slightly more than a trained network (F1 0.22 and 0.20 on news), in a fiftieth of the time.
Cost: n · m² for the Gram matrix of the smaller side m (pairs or columns), then m² · words.
Look-up is for encodings in which a word has a column of its own or shares it with few others: counts, hashes, tf-idf.
"""

from __future__ import annotations

from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from unembed.attacks.learners.choice import FloatRows, Rows
from unembed.encoders.base import Vectors

#: Rows answered at once.
BLOCK = 1024
#: Columns that are zero in at least this share of the vectors are taken for counts of words.
SHARE_OF_ZEROS = 0.2
#: A word is looked up in its best column if the column and the word are seen together this often.
FEWEST_TOGETHER = 2


class WordReader(Protocol):
    """Learns from vectors and word sets; answers with confidences."""

    name: str

    def fit(self, vectors: Vectors, labels: csr_matrix) -> Self:
        """Learn from pairs."""
        ...

    def confidences(self, vectors: Vectors, least: float) -> csr_matrix:
        """Confidences of at least ``least``, as CSR ``[vectors, words]``."""
        ...


class Frequencies:
    """How frequent each word is, whatever the vector: wins where the others read nothing, so that they don't guess."""

    name = "frequencies of the words"

    def fit(self, vectors: Vectors, labels: csr_matrix) -> Self:
        """Count."""
        self.share_ = np.asarray(labels.mean(axis=0), dtype=np.float64).ravel()
        return self

    def confidences(self, vectors: Vectors, least: float) -> csr_matrix:
        """The same for every vector."""
        return _in_blocks(lambda part: np.tile(self.share_, (int(part.shape[0]), 1)), vectors, least)


class Regression:
    """Ridge regression to word indicators; ``strength`` is a share of the inputs' mean eigenvalue."""

    def __init__(self, strength: float) -> None:
        self.strength = strength
        self.name = f"regression, strength {strength:g}"

    def fit(self, vectors: Vectors, labels: csr_matrix) -> Self:
        """Solve for all words at once, on the smaller side."""
        self.rows_ = Rows().fit(vectors)
        rows = self.rows_.of(vectors, raw=False)
        share = np.asarray(labels.mean(axis=0), dtype=np.float64).ravel()
        self.share_ = share
        self.middle_ = rows.mean(axis=0)
        rows = rows - self.middle_
        n, width = rows.shape
        weight = self.strength * float((rows**2).sum()) / max(min(n, width), 1) + 1e-9
        held = csr_matrix(labels, dtype=np.float64)
        if width <= n:
            gram = rows.T @ rows
            gram[np.diag_indices_from(gram)] += weight
            self.map_ = np.linalg.solve(gram, np.asarray((held.T @ rows).T))
        else:
            gram = rows @ rows.T
            gram[np.diag_indices_from(gram)] += weight
            inverse = np.linalg.solve(gram, rows)
            self.map_ = np.asarray((held.T @ inverse).T)
        return self

    def confidences(self, vectors: Vectors, least: float) -> csr_matrix:
        """The regression's answer, which is a probability but for its tails."""

        def block(part: Vectors) -> FloatRows:
            return np.asarray((self.rows_.of(part, raw=False) - self.middle_) @ self.map_ + self.share_)

        return _in_blocks(block, vectors, least)


class Neighbours:
    """The share of the nearest pairs that hold a word, near ones counting more."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.name = f"{count} nearest neighbours"

    def fit(self, vectors: Vectors, labels: csr_matrix) -> Self:
        """Keep the pairs as unit vectors around their mean."""
        self.rows_ = Rows().fit(vectors)
        self.known_ = _unit(self.rows_.of(vectors, raw=True))
        self.labels_ = csr_matrix(labels, dtype=np.float64)
        return self

    def confidences(self, vectors: Vectors, least: float) -> csr_matrix:
        """Cosines to the fourth power as weights."""
        count = min(self.count, len(self.known_))

        def block(part: Vectors) -> csr_matrix:
            alike = _unit(self.rows_.of(part, raw=True)) @ self.known_.T
            near = np.argpartition(-alike, count - 1, axis=1)[:, :count]
            weights = np.maximum(np.take_along_axis(alike, near, axis=1), 1e-6) ** 4
            weights /= weights.sum(axis=1, keepdims=True)
            ends = np.arange(0, near.size + 1, count)
            return csr_matrix((weights.ravel(), near.ravel(), ends), shape=alike.shape) @ self.labels_

        return _in_blocks(block, vectors, least)


class Columns:
    """Each word in the one column that goes with it best: how often it is there when the column is empty, low, high."""

    name = "look-up of columns"

    @staticmethod
    def applies_to(vectors: Vectors) -> bool:
        """Whether many entries are exactly zero, as in counts of words."""
        if issparse(vectors):
            return True
        return bool((np.asarray(vectors[:BLOCK]) == 0).mean() >= SHARE_OF_ZEROS)

    def fit(self, vectors: Vectors, labels: csr_matrix) -> Self:
        """One sparse product counts how often each word and column meet."""
        rows = csr_matrix(vectors, dtype=np.float64)
        held = csr_matrix(labels, dtype=np.float64)
        n, words = held.shape
        filled = csr_matrix((np.ones(rows.nnz), rows.indices, rows.indptr), shape=rows.shape)
        together = csr_matrix(held.T @ filled)
        word_count = np.maximum(np.asarray(held.sum(axis=0)).ravel(), 1.0)
        column_count = np.maximum(np.asarray(filled.sum(axis=0)).ravel(), 1.0)
        at = np.repeat(np.arange(words), np.diff(together.indptr))
        # How much of the word the column catches, against how often the column is filled anyway.
        merit = together.data / word_count[at] - column_count[together.indices] / n
        merit[together.data < FEWEST_TOGETHER] = -np.inf
        self.words_ = words
        order = np.lexsort((-merit, at))
        first = np.unique(at[order], return_index=True)[1]
        best = order[first]
        best = best[merit[best] > 0]
        self.word_, self.column_ = at[best], together.indices[best].astype(np.int64)
        columns = np.asarray(rows[:, self.column_].todense())
        self.middle_ = np.array([np.median(c[c != 0]) if (c != 0).any() else 0.0 for c in columns.T])
        level = self._levels(columns)
        there = np.asarray(held[:, self.word_].todense())
        self.share_ = np.asarray(held.mean(axis=0), dtype=np.float64).ravel()
        base = self.share_[self.word_]
        self.odds_ = np.stack(
            [((there * (level == i)).sum(axis=0) + base) / ((level == i).sum(axis=0) + 1) for i in range(3)]
        )
        return self

    def _levels(self, columns: FloatRows) -> NDArray[np.int64]:
        return np.where(columns == 0, 0, np.where(columns > self.middle_, 2, 1))

    def confidences(self, vectors: Vectors, least: float) -> csr_matrix:
        """The share of training texts with the word among those whose column looked like this."""

        def block(part: Vectors) -> FloatRows:
            chosen: Any = part[:, self.column_]
            columns = np.asarray(chosen.todense() if issparse(chosen) else chosen, dtype=np.float64)
            found = np.tile(self.share_, (len(columns), 1))
            found[:, self.word_] = np.take_along_axis(self.odds_, self._levels(columns), axis=0)
            return found

        return _in_blocks(block, vectors, least)


def readers_for(vectors: Vectors, *, quick: bool = False) -> list[WordReader]:
    """Those that fit the encoding; ``quick``: one setting of each."""
    chosen: list[WordReader] = [Frequencies()]
    chosen += [Regression(s) for s in ((0.3,) if quick else (0.03, 0.1, 0.3, 1.0, 3.0))]
    chosen += [Neighbours(k) for k in ((30,) if quick else (3, 30))]
    return [*chosen, Columns()] if Columns.applies_to(vectors) else chosen


def _unit(rows: FloatRows) -> FloatRows:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


def _in_blocks(block: Any, vectors: Vectors, least: float) -> csr_matrix:
    """Answers for a few rows at a time, without what lies below ``least``."""
    from scipy.sparse import vstack

    parts = []
    for start in range(0, int(vectors.shape[0]), BLOCK):
        found = block(vectors[start : start + BLOCK])
        if issparse(found):
            found = found.tocsr()
            found.data[found.data < least] = 0
        else:
            found = csr_matrix(np.where(found >= least, found, 0.0))
        found.eliminate_zeros()
        parts.append(found.astype(np.float32))
    return csr_matrix(vstack(parts))
