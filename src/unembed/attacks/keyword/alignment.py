"""Bringing vectors of two kinds of text into one space: centred and whitened, each kind by its own measure.

Two collections encoded by one model differ in mean and in covariance, because they talk about other things. Taking each
collection's own mean and covariance out leaves what a word adds to a vector in both, up to a rotation that the shared
encoder keeps the same (after correlation alignment, Sun et al. 2016, with both sides brought to the unit covariance).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.nn.features import CLIP, Standardiser

#: Beyond this many dimensions a covariance is neither affordable nor known from a few thousand rows.
WIDEST = 2048


class Collection:
    """Learns mean and covariance of one collection; makes its vectors uncorrelated, each direction of variance one.

    The square root is the symmetric one. That of ``whitening`` turns each collection to its own main directions:
    two collections so turned could no longer be compared.

    ``shrinkage`` mixes the covariance with a round one, because a few thousand vectors do not tell the small
    directions. Above ``WIDEST`` dimensions each dimension is scaled on its own. Sparse vectors stay as the scaler
    makes them: their dimensions are words, which mean the same in both collections.
    """

    def __init__(self, scaler: Standardiser, shrinkage: float) -> None:
        self.scaler, self.shrinkage = scaler, shrinkage
        self.map_: NDArray[np.float32] | None = None

    def fit(self, vectors: Vectors) -> Self:
        """One pass for the mean, one eigendecomposition: 10 · width³ operations."""
        if self.scaler.columns_ is not None:
            self.mean_, self.scale_ = np.zeros(1, dtype=np.float32), np.ones(1, dtype=np.float32)
            return self
        rows = self.scaler.transform(vectors)
        self.mean_ = rows.mean(axis=0)
        rows = rows - self.mean_
        spread = rows.std(axis=0)
        self.scale_ = np.divide(1, spread, out=np.zeros_like(spread), where=spread > 1e-6)
        if rows.shape[1] <= WIDEST and len(rows) > 1:
            rows = np.clip(rows * self.scale_, -CLIP, CLIP).astype(np.float64)
            covariance = rows.T @ rows / len(rows)
            values, directions = np.linalg.eigh(covariance)
            round_ = values.sum() / max(int((self.scale_ > 0).sum()), 1)
            shrunk = (1 - self.shrinkage) * np.maximum(values, 0) + self.shrinkage * round_
            inverse = np.divide(1, np.sqrt(shrunk), out=np.zeros_like(shrunk), where=shrunk > 1e-12)
            self.map_ = ((directions * inverse) @ directions.T).astype(np.float32)
        return self

    def transform(self, vectors: Vectors) -> NDArray[np.float32]:
        """Whitened rows, dense."""
        rows: Any = np.clip((self.scaler.transform(vectors) - self.mean_) * self.scale_, -CLIP, CLIP)
        whitened: NDArray[np.float32] = rows if self.map_ is None else rows @ self.map_
        return whitened


class TwoSides:
    """The adversary's vectors and those under attack, each with its own whitening."""

    def __init__(self, shrinkage: float) -> None:
        self.shrinkage = shrinkage

    def fit(self, own: Vectors, theirs: Vectors) -> Self:
        """Measure both collections in the same units."""
        scaler = Standardiser().fit(own)
        self.own = Collection(scaler, self.shrinkage).fit(own)
        self.theirs = Collection(scaler, self.shrinkage).fit(theirs)
        self.digests_ = frozenset(_digests(own))
        return self

    def transform(self, vectors: Vectors) -> NDArray[np.float32]:
        """The adversary's own vectors, which it knows again to the last bit, as such; all others as those under attack.

        To go by which collection a vector is more likely of would take targets for own ones wherever both are alike,
        as with a shadow corpus, and measure them by the wrong mean.
        """
        whitened = self.theirs.transform(vectors)
        known = np.fromiter((digest in self.digests_ for digest in _digests(vectors)), dtype=bool)
        if known.any():
            whitened[known] = self.own.transform(vectors[known])
        return whitened


def _digests(vectors: Vectors) -> Iterator[bytes]:
    """Sixteen bytes for each dense row; nothing for sparse ones, which both collections leave as they are."""
    if isinstance(vectors, np.ndarray):
        for row in np.ascontiguousarray(vectors):
            yield hashlib.blake2b(row.tobytes(), digest_size=16).digest()
