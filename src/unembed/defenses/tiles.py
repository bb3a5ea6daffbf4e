"""Vectors a few rows at a time: numbers stay in the processor's cache, and a row's result in its place.

A matrix product may round a row otherwise when it stands among more or fewer rows. So all products here are made of
tiles of one size, counted from the first row, the last one filled up with zeros; whoever cuts vectors at multiples of
``ROWS`` (``defenses.streaming``) gets the same bits as whoever does not cut them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import check_dimension, dense
from unembed.encoders.base import DenseVectors, Vectors, first_unusable
from unembed.errors import CannotMeasureError, UsageError

#: Rows of one matrix product.
ROWS = 256
#: Bytes of rows on which several operations follow one another.
_TILE_BYTES = 200_000


def as_rows(name: str, vectors: Vectors, dimension: int | None = None) -> DenseVectors:
    """Vectors as one array of float32; of the dimension that was fitted, if one is given."""
    rows = dense(vectors, f"the defense '{name}'")
    if rows.ndim != 2 or not rows.shape[1]:
        raise CannotMeasureError(f"the defense '{name}' takes vectors as rows of an array, not the shape {rows.shape}")
    if dimension is not None:
        check_dimension(name, dimension, rows)
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(rows, dtype=np.float32)


def usable_rows(name: str, vectors: Vectors, dimension: int | None = None) -> DenseVectors:
    """The same, every row looked at: what can't be computed with is refused."""
    rows = as_rows(name, vectors, dimension)
    for _ in usable_tiles(name, rows):
        pass
    return rows


def rows_to_learn_from(name: str, vectors: Vectors, least: int = 1) -> DenseVectors:
    """The owner's vectors, at least so many."""
    rows = usable_rows(name, vectors)
    if len(rows) < least:
        raise CannotMeasureError(f"the defense '{name}' learns from at least {least:,} vectors, not {len(rows):,}")
    return rows


def tile_rows(dimension: int) -> int:
    """Rows of vectors of this dimension that stay in the cache."""
    return max(1, _TILE_BYTES // (4 * dimension))


def usable_tiles(name: str, rows: DenseVectors, step: int | None = None) -> Iterator[slice]:
    """Where tiles of consecutive rows lie, each looked at before it is handed out."""
    step = tile_rows(rows.shape[1]) if step is None else step
    for start in range(0, len(rows), step):
        tile = rows[start : start + step]
        if (bad := first_unusable(tile)) is not None:
            raise CannotMeasureError(f"the defense '{name}' can't be applied to row {start + bad[0]}: {bad[1]}")
        yield slice(start, start + len(tile))


def product(rows: DenseVectors, matrix: NDArray[np.float32], less: NDArray[np.float32] | None = None) -> DenseVectors:
    """``(rows - less) @ matrix`` in tiles of ``ROWS`` rows."""
    made = np.empty((len(rows), matrix.shape[1]), dtype=np.float32)
    matrix = np.ascontiguousarray(matrix)
    for start in range(0, len(rows), ROWS):
        tile = rows[start : start + ROWS]
        held = len(tile)
        if less is not None:
            tile = tile - less
        if held < ROWS:
            tile = np.concatenate([tile, np.zeros((ROWS - held, tile.shape[1]), dtype=np.float32)])
            made[start:] = (tile @ matrix)[:held]
        else:
            np.matmul(tile, matrix, out=made[start : start + ROWS])
    return made


def unit_length(rows: DenseVectors) -> None:
    """Give every row the length 1, in place; one of zeros stays as it is."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1
    rows /= lengths[:, None]


def kept_dimensions(name: str, components: float, dimension: int) -> int:
    """How many dimensions a defense keeps: so many, or below 1 a share of them."""
    if 0 < components < 1:
        return max(1, round(components * dimension))
    if components != int(components) or not 1 <= components <= dimension:
        raise UsageError(
            f"'components' of the defense '{name}' is a share below 1, or a whole number between 1 and the dimension "
            f"{dimension}, not {components:g}"
        )
    return int(components)
