"""What attacks by similarity share: products of rows, cosines, and the threshold that separates known contexts best.

Sparse vectors are compared as they are. A dimension far larger than the others would decide alone: it is brought down
to their size; vectors as encoders make them have none and stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from unembed.encoders.base import Vectors
from unembed.games.contexts import row_parts
from unembed.games.in_or_out import InOrOutGuess
from unembed.metrics.spread import FloatArray
from unembed.nn.features import check_vectors

#: A dimension that is this many times larger than the others is brought down.
FAR_LARGER = 100.0


def products(first: Vectors, second: Vectors) -> FloatArray:
    """The dot product of each row with the same row of another."""
    if issparse(first):
        both: Any = first.multiply(second)  # type: ignore[union-attr]
        return np.asarray(both.sum(axis=1), dtype=np.float64).reshape(-1)
    found: FloatArray = np.einsum("ij,ij->i", np.asarray(first), np.asarray(second), dtype=np.float64)
    return found


def lengths(vectors: Vectors) -> FloatArray:
    """The length of each row; 0 for a word that the model does not know."""
    return np.sqrt(products(vectors, vectors))


def cosines(first: Vectors, second: Vectors) -> FloatArray:
    """The cosine of each row with the same row of another; 0 where one of them is all zeros."""
    both = lengths(first) * lengths(second)
    return np.divide(products(first, second), both, out=np.zeros(len(both)), where=both > 0)


def mean_over_known(scores: Sequence[FloatArray], known: Sequence[NDArray[np.bool_]]) -> FloatArray:
    """The mean of those scores that both vectors are known for; 0 where there is none."""
    total = np.sum([score * there for score, there in zip(scores, known, strict=True)], axis=0)
    return np.asarray(total / np.maximum(np.sum(known, axis=0), 1))


class Parts:
    """The vectors that rows consist of, one after the other, with far larger dimensions brought down."""

    def __init__(self, vectors: Vectors, parts: int) -> None:
        check_vectors(vectors)
        self.parts, self.width = parts, int(vectors.shape[1])
        self.scale: NDArray[np.float32] | None = None
        if not issparse(vectors):
            numbers = np.asarray(vectors, dtype=np.float32).reshape(-1, self.width // parts)
            typical = np.sqrt(np.square(numbers, dtype=np.float64).mean(axis=0))
            usual = np.median(typical[typical > 0]) if (typical > 0).any() else 1.0
            larger = typical > FAR_LARGER * usual
            self.scale = np.where(larger, usual / np.maximum(typical, 1e-300), 1.0).astype(np.float32)

    def of(self, vectors: Vectors) -> list[Vectors]:
        """The first vector of every row, the second, and so on."""
        check_vectors(vectors, self.width)
        found = row_parts(vectors, self.parts)
        return found if self.scale is None else [np.asarray(part, dtype=np.float32) * self.scale for part in found]


def separating(scores: FloatArray, members: NDArray[np.bool_]) -> float:
    """The threshold from which on a score says "learnt from": most true positives above false ones."""
    from sklearn.metrics import roc_curve

    false, true, thresholds = roc_curve(members, scores)
    return float(thresholds[int(np.argmax(true - false))])


def said_from(scores: FloatArray, threshold: float) -> InOrOutGuess:
    """In from the threshold on."""
    return InOrOutGuess(scores, (scores >= threshold).astype(np.float64))
