"""Vectors as network input: safely standardised, whatever their scale.

Constant, dead and un-normalised dimensions are normal input: a dimension without variance (MiniLM stored
in half precision has one) is set to zero instead of being divided by zero, and clipping keeps one
huge value from drowning the rest. Sparse vectors keep the columns seen in training and are scaled, not
centred.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError

if TYPE_CHECKING:
    import torch

Scaling = Literal["each", "common", "none"]
CLIP = 10.0
CHUNK = 8192
#: Training inputs up to this size are standardised once and kept in memory; on a GPU up to a quarter of what is free.
PREPARED_BYTES = 512 * 2**20


def check_vectors(vectors: Any, width: int | None = None) -> None:
    """Refuse vectors no attack can use: of a width other than that it learnt from, NaN or infinite.

    A network turns such input into an empty or constant guess, which would look like safety. One pass, in chunks.
    """
    from scipy.sparse import issparse

    if len(vectors.shape) != 2:
        raise CannotMeasureError(f"vectors come as rows and columns, these have {len(vectors.shape)} axes")
    n, found = vectors.shape
    if width is not None and found != width:
        raise CannotMeasureError(
            f"the vectors under attack have {found} dimensions, the attack expects {width}: use vectors of the "
            "same encoder"
        )
    parts = [vectors.data] if issparse(vectors) else (vectors[i : i + CHUNK] for i in range(0, n, CHUNK))
    if not all(np.isfinite(np.asarray(part)).all() for part in parts):
        raise CannotMeasureError("vectors hold NaN or infinite values: remove those rows or encode them again")


class Standardiser:
    """Learns each dimension's mean and deviation; turns rows into float32 arrays for a network.

    ``scaling``: "each" dimension to mean 0 and variance 1, all by one "common" factor to a mean variance of 1, or
    "none".
    """

    def __init__(self, scaling: Scaling = "each") -> None:
        self.scaling = scaling

    columns_: NDArray[np.int64] | None
    mean_: NDArray[np.float32]
    scale_: NDArray[np.float32]
    dimension_: int

    def fit(self, vectors: Any) -> Self:
        """One pass in chunks, so that a memory map is never loaded whole."""
        from scipy.sparse import issparse

        check_vectors(vectors)
        self.dimension_ = int(vectors.shape[1])
        if issparse(vectors):
            used = np.asarray(abs(vectors).sum(axis=0)).ravel() > 0
            self.columns_ = np.flatnonzero(used)
            squares = np.asarray(vectors.multiply(vectors).mean(axis=0)).ravel()[self.columns_]
            self.mean_ = np.zeros(len(self.columns_), dtype=np.float32)
            self.scale_ = _inverse(_alike(np.sqrt(squares)) if self.scaling == "common" else np.sqrt(squares))
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
            self.scale_ = _inverse(_alike(spread) if self.scaling == "common" else spread)
        return self

    @property
    def width(self) -> int:
        """How many inputs a network gets."""
        return len(self.mean_)

    def transform(self, vectors: Any) -> NDArray[np.float32]:
        """Standardised rows, dense."""
        check_vectors(vectors, self.dimension_)
        if self.columns_ is not None:
            rows = np.asarray(vectors[:, self.columns_].todense(), dtype=np.float32)
        else:
            rows = np.asarray(vectors, dtype=np.float32)
        scaled: NDArray[np.float32] = np.clip((rows - self.mean_) * self.scale_, -CLIP, CLIP)
        return scaled


class InputRows:
    """Rows of vectors (None: all) as standardised tensors on a device, prepared once where they fit, else by batch."""

    def __init__(self, scaler: Standardiser, vectors: Any, rows: NDArray[np.int64] | None, device: Any) -> None:
        import torch

        rows = np.arange(int(vectors.shape[0])) if rows is None else rows

        self.scaler, self.vectors, self.rows, self.device = scaler, vectors, rows, device
        self.ready: torch.Tensor | None = None
        if len(rows) * scaler.width * 4 <= _room(device):
            self.ready = torch.empty(len(rows), scaler.width, device=device)
            for i in range(0, len(rows), CHUNK):
                part = scaler.transform(vectors[rows[i : i + CHUNK]])
                self.ready[i : i + len(part)] = torch.from_numpy(part).to(device)

    def __getitem__(self, index: NDArray[np.int64] | torch.Tensor) -> torch.Tensor:
        import torch

        if self.ready is not None:
            return self.ready[on_device(index, self.device)]
        if isinstance(index, torch.Tensor):
            index = index.cpu().numpy()
        return torch.from_numpy(self.scaler.transform(self.vectors[self.rows[index]])).to(self.device)


class LabelRows:
    """Word sets on a device: a batch of them is one gather, never a dense 0/1 matrix, and waits for nothing."""

    def __init__(self, labels: Any, device: Any) -> None:
        import torch

        self.sizes = np.diff(labels.indptr).astype(np.int64)
        # One entry more, so that the filling of the last text has a place to point at.
        flat = np.append(labels.indices, 0).astype(np.int64)
        self.columns = torch.from_numpy(flat).to(device)
        self.starts = torch.from_numpy(labels.indptr[:-1].astype(np.int64)).to(device)
        self.counts = torch.from_numpy(self.sizes).to(device)
        self.device = device

    def __getitem__(self, index: NDArray[np.int64] | torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Words of each text ``[n, most]``, filled up, and which of them are really there (1.0 or 0.0).

        For row numbers that are on the device already, ``most`` is that of all texts.
        """
        import torch

        rows = on_device(index, self.device)
        sizes = self.sizes if isinstance(index, torch.Tensor) else self.sizes[index]
        step = torch.arange(max(int(sizes.max(initial=0)), 1), device=self.device)
        there = step < self.counts[rows, None]
        place = (self.starts[rows, None] + step).clamp(max=len(self.columns) - 1)
        return self.columns[place], there.float()


def on_device(index: NDArray[np.int64] | torch.Tensor, device: Any) -> torch.Tensor:
    """Row numbers as a tensor there."""
    import torch

    return index if isinstance(index, torch.Tensor) else torch.from_numpy(index).to(device, non_blocking=True)


def _room(device: Any) -> int:
    import torch

    return PREPARED_BYTES if device.type != "cuda" else max(PREPARED_BYTES, torch.cuda.mem_get_info(device)[0] // 4)


def _alike(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same deviation for all dimensions that have one: that of a mean variance."""
    return np.where(spread > 0, np.sqrt(np.mean(np.square(spread))), 0.0)


def _inverse(spread: NDArray[np.float64]) -> NDArray[np.float32]:
    """One over the deviation, zero for a dimension that has none."""
    alive = spread > 1e-12
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=alive).astype(np.float32)
