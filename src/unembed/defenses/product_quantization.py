"""Product quantization: each part of a vector as the number of the nearest entry of a codebook.

Jégou, Douze, Schmid, "Product Quantization for Nearest Neighbor Search", IEEE TPAMI 2011.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
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
                f"'bytes' of the defense 'product-quantization' must be whole codes of {self.bits} bits, not "
                f"{self.bytes}"
            )

    def stored_bytes(self, dimension: int) -> float:
        """Bytes of the codes; the codebooks, once for all vectors, are not counted."""
        return float(-(-self._parts(dimension) * self.bits // 8))

    def learn(self, rows: DenseVectors) -> None:
        """One codebook for each part, from evenly spaced vectors where there are very many."""
        entries = 2**self.bits
        if len(rows) < entries:
            raise CannotMeasureError(
                f"the defense 'product-quantization' needs as many vectors as a codebook has entries, {entries}, not "
                f"{len(rows):,}: give fewer bits, or more vectors"
            )
        some = rows[:: max(1, len(rows) // (_PER_ENTRY * entries))][: _PER_ENTRY * entries]
        mean = some.mean(axis=0, dtype=np.float64).astype(np.float32)
        columns = [group.columns_of(part) for group in self._groups() for part in range(group.parts)]
        self.codebooks_ = np.concatenate([_codebook(some[:, one], mean[one], entries) for one in columns], axis=1)

    def rows_at_once(self) -> int:
        """As many as in all matrix products."""
        return ROWS

    def writer(self, most: int) -> Writer:
        """One group of parts after the other."""
        writers = [(group.columns, group.writer(self.codebooks_)) for group in self._groups()]

        def write(rows: DenseVectors, out: DenseVectors) -> None:
            for columns, write_group in writers:
                write_group(rows[:, columns], out[:, columns])

        return write

    def _parts(self, dimension: int) -> int:
        parts = max(1, round(dimension / self.bits)) if self.bytes is None else 8 * self.bytes // self.bits
        if parts > dimension:
            raise UsageError(
                f"'bytes' of the defense 'product-quantization' make {parts} parts, more than the dimension {dimension}"
            )
        return parts

    def _groups(self) -> list[_Group]:
        """All parts; where the dimension is no multiple of their number, the first ones have a number more."""
        parts = self._parts(self.dimension_)
        width, wider = divmod(self.dimension_, parts)
        groups = [_Group(0, wider, width + 1), _Group(wider * (width + 1), parts - wider, width)]
        return [group for group in groups if group.parts]


@dataclass(frozen=True)
class _Group:
    """Consecutive parts of one width."""

    start: int
    parts: int
    width: int

    @property
    def columns(self) -> slice:
        """The dimensions of all of them."""
        return slice(self.start, self.start + self.parts * self.width)

    def columns_of(self, part: int) -> slice:
        """The dimensions of one."""
        first = self.start + part * self.width
        return slice(first, first + self.width)

    def writer(self, codebooks: NDArray[np.float32]) -> Writer:
        """The entry nearest to x has the largest x·c - |c|²/2: a product with one more column, which is 1 in x."""
        entries = len(codebooks)
        books = codebooks[:, self.columns].reshape(entries, self.parts, self.width).transpose(1, 0, 2)
        middle = books.mean(axis=1)
        centred = books - middle[:, None]
        sides = np.concatenate([centred, -0.5 * np.square(centred).sum(axis=2, keepdims=True)], axis=2)
        sides = np.ascontiguousarray(sides.transpose(0, 2, 1))
        # A part's numbers are moved as one item: that takes a quarter of the time of moving one after the other.
        item = np.dtype((np.void, 4 * self.width))
        table = np.ascontiguousarray(books).view(item).ravel()
        first, shift = entries * np.arange(self.parts), np.tile(middle.ravel(), (ROWS, 1))
        moved = np.zeros((ROWS, self.parts * self.width), dtype=np.float32)
        left = np.ones((ROWS, self.parts, self.width + 1), dtype=np.float32)
        scores = np.empty((ROWS, entries), dtype=np.float32)
        codes = np.empty((self.parts, ROWS), dtype=np.intp)

        def write(rows: DenseVectors, out: DenseVectors) -> None:
            count = len(rows)
            np.subtract(rows, shift[:count], out=moved[:count])
            left[:, :, :-1].view(item)[:] = moved.view(item)[:, :, None]
            for part, side in enumerate(sides):
                np.matmul(left[:, part], side, out=scores)
                scores.argmax(axis=1, out=codes[part])
            out.view(item)[:] = table.take(codes.T[:count] + first)

        return write


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
