"""The nearest stored vector to each of some vectors, in one pass over a store of any size.

Vectors come in batches, as a file or a store gives them. Each batch is cut into blocks that stay in the processor's
cache, so that its lengths and the products with all asked vectors cost one reading of the memory. What is kept is one
similarity and one id per asked vector: a store of ten million vectors needs no more memory than one of ten.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from unembed.encoders.base import DenseVectors, Vectors
from unembed.errors import DataError, UsageError

#: Ids and vectors of a part of a store; ids may be row numbers.
Batches = Iterable[tuple[Sequence[object], DenseVectors]]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: From here on two vectors are the same but for the rounding of sums.
SAME = 0.9999
#: A block of stored vectors, in bytes; and products held at once.
_BLOCK_BYTES, _PRODUCTS = 2 << 20, 1 << 22
ROWS_AT_ONCE = 8192
_WORTH_THREADS = 200


@dataclass(frozen=True)
class Nearest:
    """For each asked vector the cosine similarity of the nearest stored one, and its id; ``vectors``: all compared.

    Where no vector of any length was stored, the similarity is -1 and the id None.
    """

    similarity: FloatArray
    ids: list[object]
    vectors: int


def nearest(asked: Vectors, stored: Batches) -> Nearest:
    """The nearest stored vector to each asked one."""
    from threadpoolctl import threadpool_limits

    directions = unit_rows(asked)
    found: list[object] = [None] * int(directions.shape[0])
    best = np.full(len(found), -1.0, dtype=np.float32)
    count = 0
    # Products of a small block with few vectors end before a second thread has begun.
    with threadpool_limits(limits=1 if len(found) < _WORTH_THREADS else None):
        for names, vectors in stored:
            count += int(vectors.shape[0])
            if vectors.shape[1] != directions.shape[1]:
                raise DataError(
                    f"the stored vectors have {vectors.shape[1]} dimensions, those asked about {directions.shape[1]}: "
                    "use the encoder that made the store"
                )
            where, values = _best(directions, vectors)
            for row in np.flatnonzero(values > best):
                best[row], found[row] = values[row], names[int(where[row])]
    return Nearest(np.clip(best.astype(np.float64), -1.0, 1.0), found, count)


def unit_rows(vectors: Vectors) -> Any:
    """Rows of length one, float32; a row of length zero stays."""
    if issparse(vectors):
        from sklearn.preprocessing import normalize

        return normalize(vectors)
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return rows / np.where(lengths > 0, lengths, 1)[:, None]


def _best(directions: Any, vectors: Vectors) -> tuple[IntArray, NDArray[np.float32]]:
    """For each direction the row of the nearest vector, and their similarity."""
    asked = int(directions.shape[0])
    where, best = np.zeros(asked, dtype=np.int64), np.full(asked, -1.0, dtype=np.float32)
    step = max(1, min(_BLOCK_BYTES // (4 * vectors.shape[1]) or 1, _PRODUCTS // max(asked, 1)))
    if issparse(vectors):
        step = max(1, _PRODUCTS // max(asked, 1))
    for start in range(0, int(vectors.shape[0]), step):
        block = vectors[start : start + step]
        products = _similarities(block, directions)
        at = products.argmax(axis=0)
        values = products[at, np.arange(asked)]
        better = values > best
        best[better], where[better] = values[better], start + at[better]
    return where, best


def _similarities(block: Any, directions: Any) -> NDArray[np.float32]:
    """Cosines [stored, asked] of one block."""
    if issparse(block) or issparse(directions):
        product = unit_rows(block) @ directions.T
        return np.asarray(product.todense() if issparse(product) else product, dtype=np.float32)
    rows = np.asarray(block, dtype=np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return np.asarray((rows @ directions.T) * inverse[:, None])


def threshold_for(outsiders: FloatArray, false_alarm: float) -> float:
    """The similarity that at most this share of further texts reaches that are not stored either.

    ``outsiders`` are the nearest similarities of texts known not to be stored. The threshold is the smallest with which
    the chance that a further such text reaches it is at most ``false_alarm``, for texts of one kind (split conformal
    prediction). A vector that is the same but for rounding is always taken for stored, so the threshold is never above
    ``SAME``.
    """
    if not 0 < false_alarm < 1:
        raise UsageError(f"a false-alarm rate lies between 0 and 1, not {false_alarm}")
    needed = math.ceil(1 / false_alarm - 1e-9) - 1
    if len(outsiders) < needed:
        raise UsageError(
            f"a false-alarm rate of {false_alarm:g} can't be stated from {len(outsiders)} texts that are not stored: "
            f"{needed:,} are needed"
        )
    place = math.ceil((1 - false_alarm) * (len(outsiders) + 1) - 1e-9)
    ordered = np.sort(np.asarray(outsiders, dtype=np.float64))
    return min(float(np.nextafter(ordered[place - 1], 2.0)), SAME)


def in_batches(vectors: Any, ids: Sequence[object] | None = None, size: int = ROWS_AT_ONCE) -> Iterator[Any]:
    """An array, a memory map or a table of vectors in batches, with row numbers where there are no ids."""
    for start in range(0, int(vectors.shape[0]), size):
        part = vectors[start : start + size]
        end = start + int(part.shape[0])
        yield range(start, end) if ids is None else ids[start:end], part
