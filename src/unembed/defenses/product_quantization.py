"""Product quantization: each part of a vector as the number of the nearest entry of a codebook.

Jégou, Douze, Schmid, "Product Quantization for Nearest Neighbor Search", IEEE TPAMI 2011.
"""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import DefenseFacts
from unembed.defenses.formats import Format, Writer
from unembed.defenses.tiles import ROWS
from unembed.encoders.base import DenseVectors
from unembed.errors import CannotMeasureError, UsageError

#: Vectors per entry that codebooks are learnt from, and passes over them; more of either gains 1 % of the error.
_PER_ENTRY, _PASSES = 64, 20


class ProductQuantization(Format):
    """Vectors of ``bytes`` bytes, one for eight numbers if not said; the parts' codes have ``bits`` bits each.

    The codebooks are found by k-means among the owner's vectors and may be known to anybody. They are learnt with
    scikit-learn, which is always there, so that the same vectors give the same codebooks whatever else is installed.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="product-quantization", title="Parts of vectors from codebooks")

    bytes: int | None = None
    bits: int = 8

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if not 1 <= self.bits <= 8:
            raise UsageError(f"'bits' of the defense 'product-quantization' lies between 1 and 8, not {self.bits}")
        if self.bytes is not None and (self.bytes < 1 or 8 * self.bytes % self.bits):
            raise UsageError(
                f"'bytes' of the defense 'product-quantization' must be whole codes of {self.bits} bits, not {self.bytes}"
            )

    def stored_bytes(self, dimension: int) -> float:
        """Bytes of the codes; the codebooks, once for all vectors, are not counted."""
        return float(-(-self._parts(dimension) * self.bits // 8))

    def learn(self, rows: DenseVectors) -> None:
        """One codebook for each part, from evenly spaced vectors where there are very many."""
        parts, entries = self._parts(self.dimension_), 2**self.bits
        if len(rows) < entries:
            raise CannotMeasureError(
                f"the defense 'product-quantization' needs as many vectors as a codebook has entries, {entries}, not "
                f"{len(rows):,}: give fewer bits, or more vectors"
            )
        some = rows[:: max(1, len(rows) // (_PER_ENTRY * entries))][: _PER_ENTRY * entries]
        mean = some.mean(axis=0, dtype=np.float64).astype(np.float32)
        self.bounds_ = np.linspace(0, self.dimension_, parts + 1).round().astype(np.int64)
        self.codebooks_ = np.concatenate([_codebook(some[:, part], mean[part], entries) for part in self._slices()], 1)

    def rows_at_once(self) -> int:
        """As many as in all matrix products."""
        return ROWS

    def writer(self, most: int) -> Writer:
        """The entry nearest to x has the largest x·c - |c|²/2: a product with one more column, which is 1 in x."""
        slices = self._slices()
        middle = self.codebooks_.mean(axis=0)
        centred = self.codebooks_ - middle
        books = [np.ascontiguousarray(self.codebooks_[:, part]) for part in slices]
        sides = [np.vstack([c.T, -0.5 * np.square(c).sum(axis=1)]) for c in (centred[:, part] for part in slices)]
        held = [np.ones((ROWS, len(side)), dtype=np.float32) for side in sides]
        scores = np.empty((ROWS, len(self.codebooks_)), dtype=np.float32)
        codes = np.empty(ROWS, dtype=np.intp)

        def write(rows: DenseVectors, out: DenseVectors) -> None:
            count = len(rows)
            for part, book, side, left in zip(slices, books, sides, held, strict=True):
                np.subtract(rows[:, part], middle[part], out=left[:count, :-1])
                left[count:, :-1] = 0
                np.matmul(left, side, out=scores)
                scores.argmax(axis=1, out=codes)
                out[:, part] = book[codes[:count]]

        return write

    def _parts(self, dimension: int) -> int:
        parts = max(1, round(dimension / self.bits)) if self.bytes is None else 8 * self.bytes // self.bits
        if parts > dimension:
            raise UsageError(
                f"'bytes' of the defense 'product-quantization' gives {parts} parts, more than the dimension, {dimension}"
            )
        return parts

    def _slices(self) -> list[slice]:
        ends = self.bounds_.tolist()
        return [slice(start, end) for start, end in zip(ends, ends[1:], strict=False)]


def _codebook(rows: DenseVectors, mean: NDArray[np.float32], entries: int) -> NDArray[np.float32]:
    """The centres of k-means; where fewer different vectors exist, some of them more than once."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    centred = rows - mean
    model = KMeans(entries, init="random", n_init=1, max_iter=_PASSES, tol=0, random_state=0)
    # One thread: sums over several may differ in the last bit.
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(centred)
    found: NDArray[np.float32] = (model.cluster_centers_ + mean).astype(np.float32)
    return found
