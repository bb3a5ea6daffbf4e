"""The sets of word n-grams of two lists of texts as rows of sparse matrices, and the pairs of texts that share many.

Both searches are exact and compare few pairs. Sets with a high Jaccard index must share one of their rarest n-grams
(prefix filtering; Chaudhuri, Ganti and Kaushik 2006). Quotations are looked for among texts that share n-grams which
are rare in the collection, because that is part of what makes a quotation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

#: Numbers below this can be multiplied without leaving 63 bits.
_PACKABLE = 1 << 62
_TARGETS_AT_ONCE = 512
_ROWS_AT_ONCE = 8192
_CELLS_AT_ONCE = 1 << 22

IntArray = np.ndarray[Any, np.dtype[np.int64]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]
BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
#: Rows of the left list, rows of the right list, and the score of each pair.
Pairs = tuple[IntArray, IntArray, FloatArray]


class Shingles:
    """The sets of word n-grams of two lists of texts, given as words; rarest n-gram first."""

    def __init__(self, left: Sequence[Sequence[str]], right: Sequence[Sequence[str]], size: int) -> None:
        self.n_left, self.n = len(left), len(left) + len(right)
        documents, shingles = _documents_and_shingles([*left, *right], size)
        frequency = np.bincount(shingles)
        rank = np.empty(len(frequency), dtype=np.int64)
        rank[np.argsort(frequency, kind="stable")] = np.arange(len(frequency))
        self.width = len(frequency)
        ordered = np.sort(documents * max(self.width, 1) + rank[shingles])
        self.documents, self.shingles = np.divmod(ordered, max(self.width, 1))
        self.sizes = np.bincount(self.documents, minlength=self.n)

    def similar(self, threshold: float, *, once: bool = False) -> Iterator[Pairs]:
        """Blocks of pairs whose Jaccard index reaches the threshold; ``once``: a left row only until it is found."""
        starts = np.concatenate([[0], np.cumsum(self.sizes)])[:-1]
        place = np.arange(len(self.documents)) - starts[self.documents]
        # Sets with Jaccard >= t share one of the |s| - ceil(t |s|) + 1 rarest elements of either.
        prefix = self.sizes - np.ceil(threshold * self.sizes - 1e-9).astype(np.int64) + 1

        def jaccard(shared: Any, a: IntArray, b: IntArray) -> FloatArray:
            return np.asarray(shared / (self.sizes[a] + self.sizes[b] - shared), dtype=np.float64)

        def possible(a: IntArray, b: IntArray, shared: Any) -> BoolArray:
            small, large = np.minimum(self.sizes[a], self.sizes[b]), np.maximum(self.sizes[a], self.sizes[b])
            return np.asarray(small >= threshold * large - 1e-9)

        yield from self._search(place < prefix[self.documents], possible, jaccard, threshold, once)

    def quoting(self, share: float, spare: float, rare: BoolArray, least: int) -> Iterator[Pairs]:
        """Blocks of pairs that share so much of the smaller text, of all its n-grams and of its rare ones.

        Of all: ``share`` of them and ``spare`` more; of the rare: ``share`` and one more, at least ``least``. A left
        row is given only until it is found.
        """
        telling = rare[self.shingles]
        rares = np.bincount(self.documents[telling], minlength=self.n)

        def contained(shared: Any, a: IntArray, b: IntArray) -> FloatArray:
            return np.asarray((shared - spare) / np.minimum(self.sizes[a], self.sizes[b]), dtype=np.float64)

        def possible(a: IntArray, b: IntArray, shared: Any) -> BoolArray:
            return np.asarray(shared >= np.maximum(least, share * np.minimum(rares[a], rares[b]) + 1))

        yield from self._search(telling, possible, contained, share, True)

    def counts(self) -> tuple[IntArray, IntArray]:
        """In how many texts of the left list, and of the right, each n-gram occurs."""
        of_left = self.documents < self.n_left
        return (
            np.bincount(self.shingles[of_left], minlength=self.width),
            np.bincount(self.shingles[~of_left], minlength=self.width),
        )

    def _matrix(self, keep: BoolArray) -> Any:
        from scipy.sparse import csr_matrix

        rows = self.documents[keep]
        ends = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=self.n))])
        data = np.ones(len(rows), dtype=np.int32)
        return csr_matrix((data, self.shingles[keep], ends), shape=(self.n, self.width))

    def _search(
        self,
        telling: BoolArray,
        possible: Callable[[IntArray, IntArray, Any], BoolArray],
        score: Callable[[Any, IntArray, IntArray], FloatArray],
        threshold: float,
        once: bool,
    ) -> Iterator[Pairs]:
        """Of the pairs that share telling n-grams and are possible, those whose score reaches the threshold."""
        if self.width == 0:
            return
        whole = self._matrix(np.ones(len(self.documents), dtype=bool))
        part = self._matrix(telling)
        open_rows = np.arange(self.n_left)
        for start, stop in _blocks(self.n_left, self.n):
            others = part[start:stop].T.tocsr()
            hit = np.zeros(self.n_left, dtype=bool)
            for i in range(0, len(open_rows), _ROWS_AT_ONCE):
                rows = open_rows[i : i + _ROWS_AT_ONCE]
                shared = (part[rows] @ others).tocoo()
                left, right = rows[shared.row], shared.col.astype(np.int64) + start
                fits = possible(left, right, shared.data)
                for a, b in self._few(left[fits], right[fits]):
                    both = np.asarray(whole[a].multiply(whole[b]).sum(axis=1)).ravel()
                    scores = score(both, a, b)
                    good = scores >= threshold - 1e-12
                    hit[a[good]] = True
                    yield a[good], b[good] - self.n_left, scores[good]
            if once:
                open_rows = open_rows[~hit[open_rows]]

    def _few(self, left: IntArray, right: IntArray) -> Iterator[tuple[IntArray, IntArray]]:
        """The pairs in portions whose n-grams fit into bounded memory."""
        if len(left):
            step = max(1, _CELLS_AT_ONCE // int(self.sizes[left].max()))
            for i in range(0, len(left), step):
                yield left[i : i + step], right[i : i + step]


def _blocks(first: int, last: int) -> Iterator[tuple[int, int]]:
    """Blocks of targets, small ones first: texts that resemble many targets drop out early."""
    start, size = first, 8
    while start < last:
        yield start, min(start + size, last)
        start, size = start + size, min(size * 2, _TARGETS_AT_ONCE)


def _documents_and_shingles(texts: Sequence[Sequence[str]], size: int) -> tuple[IntArray, IntArray]:
    """Distinct (text, n-gram) pairs; n-grams are numbered from 0 without collisions."""
    number: dict[str, int] = {}
    lists = [[number.setdefault(word, len(number)) for word in text] for text in texts]
    lengths = np.array([len(found) for found in lists], dtype=np.int64)
    flat = np.fromiter(chain.from_iterable(lists), dtype=np.int64, count=int(lengths.sum()))
    owner = np.repeat(np.arange(len(texts)), lengths)
    ends = len(flat) - size + 1
    if ends < 1:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    whole = owner[:ends] == owner[size - 1 :]
    documents = owner[:ends][whole]
    grams, bound = flat[:ends][whole], len(number)
    for place in range(1, size):
        if bound * len(number) > _PACKABLE:
            distinct, grams = np.unique(grams, return_inverse=True)
            bound = len(distinct)
        grams = grams * len(number) + flat[place : ends + place][whole]
        bound *= len(number)
    grams = np.unique(grams, return_inverse=True)[1]
    if not len(grams):
        return documents, grams
    width = int(grams.max()) + 1
    pairs = np.unique(documents * width + grams)
    return pairs // width, pairs % width
