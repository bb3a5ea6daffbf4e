"""Bringing vectors of two kinds of text into one space: centred and whitened, each kind by its own measure.

Two collections encoded by one model differ in mean and in covariance, because they talk about other things. Taking each
collection's own mean and covariance out leaves what a word adds to a vector in both, up to a rotation that the shared
encoder keeps the same (after correlation alignment, Sun et al. 2016, with both sides brought to the unit covariance).
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.nn.features import CLIP, Standardiser

#: Beyond this many dimensions a covariance is neither affordable nor known from a few thousand rows.
WIDEST = 2048


class Collection:
    """Learns mean and covariance of one collection; makes its vectors uncorrelated, each direction of variance one.

    The square root is the symmetric one. That of ``nn.whitening`` turns each collection to its own main directions:
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
            self.density_ = 0.0
            return self
        rows = self.scaler.transform(vectors)
        self.mean_ = rows.mean(axis=0)
        rows = rows - self.mean_
        spread = rows.std(axis=0)
        self.scale_ = np.divide(1, spread, out=np.zeros_like(spread), where=spread > 1e-6)
        self.density_ = float(np.log(self.scale_[self.scale_ > 0]).sum())
        if rows.shape[1] <= WIDEST and len(rows) > 1:
            rows = np.clip(rows * self.scale_, -CLIP, CLIP).astype(np.float64)
            covariance = rows.T @ rows / len(rows)
            values, directions = np.linalg.eigh(covariance)
            round_ = values.sum() / max(int((self.scale_ > 0).sum()), 1)
            shrunk = (1 - self.shrinkage) * np.maximum(values, 0) + self.shrinkage * round_
            inverse = np.divide(1, np.sqrt(shrunk), out=np.zeros_like(shrunk), where=shrunk > 1e-12)
            self.map_ = ((directions * inverse) @ directions.T).astype(np.float32)
            self.density_ += float(np.log(inverse[inverse > 0]).sum())
        return self

    def transform(self, vectors: Vectors) -> NDArray[np.float32]:
        """Whitened rows, dense."""
        rows: Any = np.clip((self.scaler.transform(vectors) - self.mean_) * self.scale_, -CLIP, CLIP)
        whitened: NDArray[np.float32] = rows if self.map_ is None else rows @ self.map_
        return whitened

    def log_density(self, whitened: NDArray[np.float32]) -> NDArray[np.float64]:
        """How likely rows are under a normal distribution with this mean and covariance, up to a constant."""
        squares: NDArray[np.float64] = np.einsum("ij,ij->i", whitened, whitened, dtype=np.float64)
        return self.density_ - 0.5 * squares


class TwoSides:
    """The adversary's vectors and those under attack, each with its own whitening."""

    def __init__(self, shrinkage: float) -> None:
        self.shrinkage = shrinkage

    def fit(self, own: Vectors, theirs: Vectors) -> Self:
        """Measure both collections in the same units."""
        scaler = Standardiser().fit(own)
        self.own = Collection(scaler, self.shrinkage).fit(own)
        self.theirs = Collection(scaler, self.shrinkage).fit(theirs)
        return self

    def transform(self, vectors: Vectors) -> NDArray[np.float32]:
        """Each row whitened as the collection that it is more likely of: an adversary knows the own vectors."""
        own, theirs = self.own.transform(vectors), self.theirs.transform(vectors)
        nearer = self.own.log_density(own) > self.theirs.log_density(theirs)
        return np.where(nearer[:, None], own, theirs)
