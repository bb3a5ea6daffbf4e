"""Vectors as network input: safely standardised, whatever their scale.

Constant, dead and un-normalised dimensions are normal input: a dimension without variance (MiniLM stored
in half precision has one) is set to zero instead of being divided by nothing, and clipping keeps one
huge value from drowning the rest. Sparse vectors keep the columns seen in training and are scaled, not
centred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch

Scaling = Literal["each", "none"]
CLIP = 10.0
CHUNK = 8192
#: Training inputs up to this size are standardised once and kept on the device.
PREPARED_BYTES = 512 * 2**20


class Standardiser:
    """Learns each dimension's mean and deviation; turns rows into float32 arrays for a network.

    ``scaling``: "each" dimension to mean 0 and variance 1, or "none".
    """

    def __init__(self, scaling: Scaling = "each") -> None:
        self.scaling = scaling

    columns_: NDArray[np.int64] | None
    mean_: NDArray[np.float32]
    scale_: NDArray[np.float32]

    def fit(self, vectors: Any) -> Self:
        """One pass in chunks, so that a memory map is never loaded whole."""
        from scipy.sparse import issparse

        if issparse(vectors):
            used = np.asarray(abs(vectors).sum(axis=0)).ravel() > 0
            self.columns_ = np.flatnonzero(used)
            squares = np.asarray(vectors.multiply(vectors).mean(axis=0)).ravel()[self.columns_]
            self.mean_ = np.zeros(len(self.columns_), dtype=np.float32)
            self.scale_ = _inverse(np.sqrt(squares))
            return self
        self.columns_ = None
        n, dimension = vectors.shape
        total, squares = np.zeros(dimension), np.zeros(dimension)
        shift = np.asarray(vectors[:CHUNK], dtype=np.float64).mean(axis=0)
        for start in range(0, n, CHUNK):
            chunk = np.asarray(vectors[start : start + CHUNK], dtype=np.float64) - shift
            total += chunk.sum(axis=0)
            squares += (chunk * chunk).sum(axis=0)
        mean = total / n
        self.mean_ = (mean + shift).astype(np.float32)
        spread = np.sqrt(np.maximum(squares / n - mean * mean, 0))
        size = np.abs(self.mean_).astype(np.float64)
        spread[spread < 1e-6 * size] = 0
        if self.scaling == "none":
            self.mean_, self.scale_ = np.zeros_like(self.mean_), np.ones(dimension, dtype=np.float32)
        else:
            self.scale_ = _inverse(spread)
        return self

    @property
    def width(self) -> int:
        """How many inputs a network gets."""
        return len(self.mean_)

    def transform(self, vectors: Any) -> NDArray[np.float32]:
        """Standardised rows, dense."""
        if self.columns_ is not None:
            rows = np.asarray(vectors[:, self.columns_].todense(), dtype=np.float32)
        else:
            rows = np.asarray(vectors, dtype=np.float32)
        scaled: NDArray[np.float32] = np.clip((rows - self.mean_) * self.scale_, -CLIP, CLIP)
        return scaled


class InputRows:
    """Rows of vectors as standardised tensors on a device; prepared once where they fit, else batch by batch."""

    def __init__(self, scaler: Standardiser, vectors: Any, rows: NDArray[np.int64], device: Any) -> None:
        import torch

        self.scaler, self.vectors, self.rows, self.device = scaler, vectors, rows, device
        self.ready: torch.Tensor | None = None
        if len(rows) * scaler.width * 4 <= PREPARED_BYTES:
            parts = [scaler.transform(vectors[rows[i : i + CHUNK]]) for i in range(0, len(rows), CHUNK)]
            self.ready = torch.from_numpy(np.concatenate(parts)).to(device)

    def __getitem__(self, index: NDArray[np.int64]) -> torch.Tensor:
        import torch

        if self.ready is not None:
            return self.ready[torch.from_numpy(index).to(self.device)]
        return torch.from_numpy(self.scaler.transform(self.vectors[self.rows[index]])).to(self.device)


def _inverse(spread: NDArray[np.float64]) -> NDArray[np.float32]:
    """One over the deviation, zero for a dimension that has none."""
    alive = spread > 1e-12
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=alive).astype(np.float32)
