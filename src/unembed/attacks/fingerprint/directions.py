"""What of a vector is looked at: its direction, and the shape of its numbers. Its length is not.

A store that scales vectors to unit length must not hide who made them, so only the direction counts, scaled so that a
column's mean square is 1. The shape (how many zeros, how many negative numbers, how uneven they are) does not
depend on which column is which, and tells counts from networks at a glance.

Vectors wider than ``WIDEST`` columns are folded: columns are added up, with fixed random signs, into ``FOLDED`` ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from unembed.errors import CannotMeasureError
from unembed.metrics.estimate import FloatArray
from unembed.nn.features import check_vectors
from unembed.seeds import generator

WIDEST, FOLDED = 4096, 1024
SHAPES = ("zeros", "negative", "mean size", "unevenness", "largest", "mean")
#: The least deviation of each of them: text of another kind changes them by so much.
SHAPE_STEP = np.array([0.03, 0.03, 0.03, 0.15, 0.15, 0.03])
_ZERO = 1e-6


def columns_of(dimension: int) -> int:
    """How many columns of a vector are left to look at."""
    return dimension if dimension <= WIDEST else FOLDED


def directions(vectors: Any) -> FloatArray:
    """Rows of mean square 1, folded where they are wide; rows of zeros have no direction and are left out."""
    rows = directions_and_rows(vectors)[0]
    if not len(rows):
        raise CannotMeasureError("every vector is zero: nothing shows which encoder made them")
    return rows


def directions_and_rows(vectors: Any) -> tuple[FloatArray, NDArray[np.int64]]:
    """The same, and which rows they are of."""
    check_vectors(vectors)
    rows = _folded(vectors)
    sizes = np.linalg.norm(rows, axis=1)
    alive = np.flatnonzero(sizes > 0)
    return np.asarray(rows[alive] * (np.sqrt(rows.shape[1]) / sizes[alive])[:, None]), alive


def shapes(rows: FloatArray) -> FloatArray:
    """The features of :data:`SHAPES`, one row a direction."""
    size = np.abs(rows)
    return np.stack(
        [
            (size < _ZERO).mean(axis=1),
            (rows < -_ZERO).mean(axis=1),
            size.mean(axis=1),
            np.log(np.maximum((size**4).mean(axis=1), 1)),
            np.log(np.maximum(size.max(axis=1), _ZERO)),
            rows.mean(axis=1),
        ],
        axis=1,
    )


def _folded(vectors: Any) -> FloatArray:
    dimension = int(vectors.shape[1])
    if dimension <= WIDEST:
        return np.asarray(vectors.toarray() if issparse(vectors) else vectors, dtype=np.float64)
    rng = generator(0, "fingerprint", "fold", dimension)
    place, sign = rng.integers(0, FOLDED, size=dimension), rng.choice([-1.0, 1.0], size=dimension)
    fold = csr_matrix((sign, (np.arange(dimension), place)), shape=(dimension, FOLDED))
    folded = vectors @ fold
    return np.asarray(folded.toarray() if issparse(folded) else folded, dtype=np.float64)
