"""Duplicates within a corpus and leaks of target texts into the adversary's corpus.

Near duplicates are texts whose sets of word 3-grams have a Jaccard index of at least a threshold. They are
found exactly, without comparing all pairs: two such sets must share one of their few rarest 3-grams
(prefix filtering; Chaudhuri, Ganti and Kaushik 2006), so only texts that do are compared. No random
sketch is involved: every pair above the threshold is found, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.words import words
from unembed.errors import UsageError

THRESHOLD = 0.7
_SHINGLE = 3
_PACKABLE = 1 << 21
_TARGETS_AT_ONCE = 512
_ADVERSARY_AT_ONCE = 100_000
_ROWS_AT_ONCE = 8192
_CELLS_AT_ONCE = 1 << 22

IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class DuplicateReport:
    """Counts of :func:`drop_duplicates`."""

    rows: int
    dropped: int
    kept: int


@dataclass(frozen=True)
class LeakReport:
    """Counts of :func:`remove_leaks`."""

    rows: int
    """Texts the adversary had."""
    targets: int
    exact: int
    """Removed because a target is the same text but for case, white space and punctuation."""
    near: int
    """Removed because a target shares most of its word 3-grams."""
    kept: int
    threshold: float


def normalised(text: str) -> str:
    """A text without case, white space and punctuation; of a text without words, what there is."""
    return " ".join(words(text)) or " ".join(text.casefold().split())


def drop_duplicates(corpus: Corpus) -> tuple[Corpus, DuplicateReport]:
    """The corpus with the first of each set of equal texts (after :func:`normalised`)."""
    first: dict[str, int] = {}
    for row, text in enumerate(corpus.texts):
        first.setdefault(normalised(text), row)
    kept = corpus.select(list(first.values()))
    return kept, DuplicateReport(len(corpus), len(corpus) - len(kept), len(kept))


def remove_leaks(adversary: Corpus, target: Corpus, *, threshold: float = THRESHOLD) -> tuple[Corpus, LeakReport]:
    """The adversary's corpus without any text that is an exact or near duplicate of a target."""
    _check_threshold(threshold)
    targets = {normalised(text) for text in target.texts}
    exact = np.array([normalised(text) in targets for text in adversary.texts], dtype=bool)
    rest = np.flatnonzero(~exact)
    near = np.zeros(len(adversary), dtype=bool)
    if len(rest) and targets:
        for start in range(0, len(rest), _ADVERSARY_AT_ONCE):
            some = rest[start : start + _ADVERSARY_AT_ONCE]
            shingles = _Shingles([adversary.texts[i] for i in some], sorted(targets))
            for left, _, _ in shingles.pairs(threshold, once=True):
                near[some[left]] = True
    kept = np.flatnonzero(~(exact | near))
    report = LeakReport(len(adversary), len(target), int(exact.sum()), int(near.sum()), len(kept), threshold)
    return adversary.select(kept), report


def near_duplicates(
    left: Sequence[str], right: Sequence[str], *, threshold: float = THRESHOLD
) -> tuple[IntArray, IntArray, FloatArray]:
    """All pairs (row of left, row of right, Jaccard index) at or above the threshold.

    A text of fewer than three words has no 3-gram: it pairs with texts that are equal after
    :func:`normalised`, with index 1.
    """
    _check_threshold(threshold)
    parts = list(_Shingles(left, right).pairs(threshold)) if len(left) and len(right) else []
    parts.append(_short_pairs(left, right))
    rows, columns, scores = (np.concatenate([part[i] for part in parts]) for i in range(3))
    order = np.lexsort((columns, rows))
    return rows[order].astype(np.int64), columns[order].astype(np.int64), scores[order].astype(np.float64)


def _check_threshold(threshold: float) -> None:
    if not 0.0 < threshold <= 1.0:
        raise UsageError(f"threshold must be above 0 and at most 1, not {threshold}")


def _short_pairs(left: Sequence[str], right: Sequence[str]) -> tuple[IntArray, IntArray, FloatArray]:
    by_text: dict[str, list[int]] = {}
    for j, text in enumerate(right):
        if len(words(text)) < _SHINGLE:
            by_text.setdefault(normalised(text), []).append(j)
    found = [
        (i, j) for i, text in enumerate(left) if len(words(text)) < _SHINGLE for j in by_text.get(normalised(text), ())
    ]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], np.ones(len(pairs))


class _Shingles:
    """The sets of word 3-grams of two lists of texts, as rows of sparse matrices, rarest 3-gram first."""

    def __init__(self, left: Sequence[str], right: Sequence[str]) -> None:
        self.n_left = len(left)
        documents, shingles = _documents_and_shingles([*left, *right])
        frequency = np.bincount(shingles)
        rank = np.empty(len(frequency), dtype=np.int64)
        rank[np.argsort(frequency, kind="stable")] = np.arange(len(frequency))
        self.width = len(frequency)
        ordered = np.sort(documents * max(self.width, 1) + rank[shingles])
        self.documents, self.shingles = np.divmod(ordered, max(self.width, 1))
        self.n = len(left) + len(right)
        self.sizes = np.bincount(self.documents, minlength=self.n)

    def _matrix(self, keep: np.ndarray[Any, np.dtype[np.bool_]]) -> Any:
        from scipy.sparse import csr_matrix

        rows = self.documents[keep]
        ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=self.n))])
        data = np.ones(len(rows), dtype=np.int32)
        return csr_matrix((data, self.shingles[keep], ends), shape=(self.n, self.width))

    def pairs(self, threshold: float, *, once: bool = False) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Blocks of pairs at or above the threshold; ``once``: a left row that has one is left alone."""
        if self.width == 0:
            return
        starts = np.concatenate([[0], np.cumsum(self.sizes)])[:-1]
        place = np.arange(len(self.documents)) - starts[self.documents]
        # Sets with Jaccard >= t share one of the |s| - ceil(t |s|) + 1 rarest elements of either.
        prefix = self.sizes - np.ceil(threshold * self.sizes - 1e-9).astype(np.int64) + 1
        whole = self._matrix(np.ones(len(place), dtype=bool))
        short = self._matrix(place < prefix[self.documents])
        open_rows = np.arange(self.n_left)
        for start, stop in _blocks(self.n_left, self.n):
            others = short[start:stop].T.tocsr()
            hit = np.zeros(self.n_left, dtype=bool)
            for i in range(0, len(open_rows), _ROWS_AT_ONCE):
                rows = open_rows[i : i + _ROWS_AT_ONCE]
                shared = (short[rows] @ others).tocoo()
                left, right = rows[shared.row], shared.col.astype(np.int64) + start
                for a, b, jaccard in self._verified(whole, left, right, threshold):
                    hit[a] = True
                    yield a, b - self.n_left, jaccard
            if once:
                open_rows = open_rows[~hit[open_rows]]

    def _verified(
        self, whole: Any, left: IntArray, right: IntArray, threshold: float
    ) -> Iterator[tuple[IntArray, IntArray, FloatArray]]:
        """Of the candidate pairs those that reach the threshold, a bounded number at a time."""
        small = np.minimum(self.sizes[left], self.sizes[right])
        large = np.maximum(self.sizes[left], self.sizes[right])
        fits = small >= threshold * large - 1e-9
        left, right = left[fits], right[fits]
        if not len(left):
            return
        step = max(1, _CELLS_AT_ONCE // int(self.sizes[left].max()))
        for i in range(0, len(left), step):
            a, b = left[i : i + step], right[i : i + step]
            both = np.asarray(whole[a].multiply(whole[b]).sum(axis=1)).ravel()
            jaccard = both / (self.sizes[a] + self.sizes[b] - both)
            good = jaccard >= threshold - 1e-12
            yield a[good], b[good], jaccard[good]


def _blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """Blocks of targets, small ones first: texts that resemble many targets drop out early."""
    start, size = first, 8
    while start < last:
        yield start, min(start + size, last)
        start, size = start + size, min(size * 2, _TARGETS_AT_ONCE)


def _documents_and_shingles(texts: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Distinct (text, 3-gram) pairs; 3-grams are numbered from 0 without collisions."""
    number: dict[str, int] = {}
    lists = [[number.setdefault(word, len(number)) for word in words(text)] for text in texts]
    lengths = np.array([len(found) for found in lists], dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(lengths.sum()))
    owner = np.repeat(np.arange(len(texts)), lengths)
    if len(flat) < _SHINGLE:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    whole = owner[:-2] == owner[2:]
    documents = owner[:-2][whole]
    first, second, third = flat[:-2][whole], flat[1:-1][whole], flat[2:][whole]
    size = len(number)
    pairs = first * size + second
    if size > _PACKABLE:  # three numbers would not fit into 63 bits
        pairs = np.unique(pairs, return_inverse=True)[1]
    grams = np.unique(pairs * size + third, return_inverse=True)[1]
    if not len(grams):
        return documents, grams
    width = int(grams.max()) + 1
    distinct = np.unique(documents * width + grams)
    return distinct // width, distinct % width
