"""Vectors as network input with equal variance in every direction, not only in every dimension.

Encoders spread their vectors over a few strong directions; what tells one digit from another lies in weak ones, which
a network fed with standardised dimensions finds late or never. Cost: one covariance (2 · n · d² FLOPs), one
eigendecomposition (about 9 · d³) and one product of d² a vector.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unembed.nn.features import CHUNK, CLIP, Standardiser

#: Directions with less of the mean variance than this hold rounding errors.
LEAST_VARIANCE = 1e-6
#: With fewer than two rows a dimension weak directions are mostly chance: they are strengthened less, by this share.
SHRINKAGE = 0.1


class Whitener(Standardiser):
    """Standardises, rotates to the principal directions, divides each by its deviation; sparse rows are only scaled."""

    rotation_: NDArray[np.float32] | None

    def fit(self, vectors: Any) -> Self:
        """One more pass in chunks, for the covariance of the standardised rows."""
        super().fit(vectors)
        self.rotation_ = None
        if self.columns_ is not None:
            return self
        n, total = int(vectors.shape[0]), np.zeros((len(self.mean_), len(self.mean_)))
        for start in range(0, n, CHUNK):
            rows = super().transform(vectors[start : start + CHUNK]).astype(np.float64)
            total += rows.T @ rows
        variances, directions = np.linalg.eigh(total / max(n, 1))
        mean = float(np.maximum(variances, 0).mean())
        alive = variances > LEAST_VARIANCE * mean
        if mean == 0 or not alive.any():
            return self
        ridge = SHRINKAGE * max(0.0, 2 * len(self.mean_) / n - 1) * mean
        self.rotation_ = (directions[:, alive] / np.sqrt(variances[alive] + ridge)).astype(np.float32)
        return self

    @property
    def width(self) -> int:
        """How many inputs a network gets."""
        return super().width if self.rotation_ is None else int(self.rotation_.shape[1])

    def transform(self, vectors: Any) -> NDArray[np.float32]:
        """Whitened rows, dense."""
        rows = super().transform(vectors)
        if self.rotation_ is None:
            return rows
        whitened: NDArray[np.float32] = np.clip(rows @ self.rotation_, -CLIP, CLIP)
        return whitened
