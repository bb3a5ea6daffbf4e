"""The linear map M of Song 3.1 (eq. 6): from an observed vector to a lower layer's, by ridge regression.

"Learning a linear least square model as M works reasonably well", says the paper. Plain least squares overfits
where pairs are few and blows up on dead dimensions, so it is ridge here: dimensions are standardised safely, and
the strength is the one with the smallest error on held-back pairs.

Cost: one pass over the pairs, n · d · (d + k) multiply-adds for XᵀX and XᵀY in chunks (never more than a chunk in
float64), then one eigendecomposition of d × d from which every strength of the grid follows with d² · k more.
400,000 pairs of 768 dimensions are 0.5 TFLOP.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError
from unembed.nn.device import pick_device
from unembed.nn.features import CHUNK, Standardiser
from unembed.seeds import generator

#: Strengths tried, as shares of the inputs' mean eigenvalue; they span "no shrinking" to "nothing but the mean".
STRENGTHS = tuple(float(s) for s in np.logspace(-8, 3, 23))
MOST_HELD_BACK = 5_000
#: More sparse columns than this would need a Gram matrix larger than a few gigabytes.
MOST_COLUMNS = 20_000

#: Rows of a matrix by number; lets outputs be computed chunk by chunk.
RowSource = Callable[[NDArray[np.int64]], Any]


class RidgeMap:
    """Inputs to outputs by a matrix and an intercept, both in closed form.

    After ``fit``: ``strength_`` (share of the mean eigenvalue), ``r2_`` (explained share of the variance of the
    held-back outputs), ``matrix_`` [d, k] and ``intercept_`` [k], which act on standardised inputs.

    Args:
        strengths: the grid; one value fixes the strength.
        held_back: share of the pairs that chooses the strength (at most 5,000 pairs).
        device: where the products run.
    """

    strength_: float
    r2_: float
    matrix_: torch.Tensor
    intercept_: torch.Tensor

    def __init__(
        self, *, strengths: tuple[float, ...] = STRENGTHS, held_back: float = 0.1, device: str = "auto"
    ) -> None:
        self.strengths = strengths
        self.held_back = held_back
        self.device = device

    def fit(
        self, inputs: Any, outputs: Any | RowSource, seed: int = 0, *, rows: NDArray[np.int64] | None = None
    ) -> Self:
        """Learn from pairs: ``inputs`` [n, d] dense or CSR, ``outputs`` [n, k] or a function of row numbers.

        ``rows`` are the pairs to learn from, where not all.
        """
        pairs_at = np.arange(int(inputs.shape[0])) if rows is None else rows
        n = len(pairs_at)
        if n < 4:
            raise CannotMeasureError(f"a linear map can't be learnt from {n} pairs: give the adversary more")
        output_rows: RowSource = outputs if callable(outputs) else lambda rows: outputs[rows]
        chosen = pick_device(self.device)
        # Apple's devices have no double precision.
        self._device = torch.device("cpu") if chosen.type == "mps" else chosen
        self._scaler = Standardiser().fit(inputs)
        if self._scaler.width > MOST_COLUMNS:
            raise CannotMeasureError(
                f"vectors with {self._scaler.width:,} columns in use are too wide for a linear map "
                f"(at most {MOST_COLUMNS:,})"
            )
        order = pairs_at[generator(seed, "ridge").permutation(n)]
        held = min(max(int(n * self.held_back), 1), MOST_HELD_BACK)
        checking, learning = np.sort(order[:held]), np.sort(order[held:])
        moments: _Moments | None = None
        for start in range(0, len(learning), CHUNK):
            pairs = self._pairs(inputs, output_rows, learning[start : start + CHUNK])
            moments = moments or _Moments(*pairs)
            moments.add(*pairs)
        assert moments is not None
        held_pairs = self._pairs(inputs, output_rows, checking)
        self.strength_, self.r2_ = self._choose(moments, *held_pairs)
        moments.add(*held_pairs)
        matrix = _Solutions(moments).matrix(self.strength_)
        self.matrix_ = matrix.float()
        self.intercept_ = (moments.output_mean - moments.input_mean @ matrix).float()
        return self

    def _choose(self, moments: _Moments, inputs: torch.Tensor, outputs: torch.Tensor) -> tuple[float, float]:
        """The strength with the smallest error on held-back pairs, and the share of their variance it explains."""
        solutions = _Solutions(moments)
        along = (inputs - moments.input_mean) @ solutions.axes
        truth = outputs - moments.output_mean
        errors = [float((along @ solutions.along(s) - truth).square().sum()) for s in self.strengths]
        best = int(np.argmin(errors))
        spread = float((truth - truth.mean(dim=0)).square().sum())
        return self.strengths[best], 1 - errors[best] / spread if spread > 0 else 0.0

    def apply(self, vectors: Any) -> NDArray[np.float32]:
        """The mapped vectors, float32 [n, k]."""
        n = int(vectors.shape[0])
        mapped = np.empty((n, len(self.intercept_)), dtype=np.float32)
        for start in range(0, n, CHUNK):
            rows = torch.from_numpy(self._scaler.transform(vectors[start : start + CHUNK])).to(self._device)
            mapped[start : start + CHUNK] = (rows @ self.matrix_ + self.intercept_).cpu().numpy()
        return mapped

    def _pairs(self, inputs: Any, outputs: RowSource, rows: NDArray[np.int64]) -> tuple[torch.Tensor, torch.Tensor]:
        """Standardised inputs and outputs of some rows, in float64."""
        left = torch.from_numpy(self._scaler.transform(inputs[rows]))
        right = torch.from_numpy(np.ascontiguousarray(outputs(rows), dtype=np.float32))
        return left.to(self._device).double(), right.to(self._device).double()


class _Moments:
    """Means, covariance and cross-covariance of pairs, summed up chunk by chunk around the first chunk's means."""

    def __init__(self, inputs: torch.Tensor, outputs: torch.Tensor) -> None:
        self.input_shift, self.output_shift = inputs.mean(dim=0), outputs.mean(dim=0)
        d, k = inputs.shape[1], outputs.shape[1]
        self.gram, self.product = inputs.new_zeros(d, d), inputs.new_zeros(d, k)
        self.input_sum, self.output_sum = inputs.new_zeros(d), inputs.new_zeros(k)
        self.count = 0

    def add(self, inputs: torch.Tensor, outputs: torch.Tensor) -> None:
        inputs, outputs = inputs - self.input_shift, outputs - self.output_shift
        self.gram += inputs.T @ inputs
        self.product += inputs.T @ outputs
        self.input_sum += inputs.sum(dim=0)
        self.output_sum += outputs.sum(dim=0)
        self.count += len(inputs)

    @property
    def covariance(self) -> torch.Tensor:
        return (self.gram - torch.outer(self.input_sum, self.input_sum) / self.count) / self.count

    @property
    def cross(self) -> torch.Tensor:
        return (self.product - torch.outer(self.input_sum, self.output_sum) / self.count) / self.count

    @property
    def input_mean(self) -> torch.Tensor:
        return self.input_shift + self.input_sum / self.count

    @property
    def output_mean(self) -> torch.Tensor:
        return self.output_shift + self.output_sum / self.count


class _Solutions:
    """The ridge solutions of every strength, from one eigendecomposition."""

    def __init__(self, moments: _Moments) -> None:
        values, self.axes = torch.linalg.eigh(moments.covariance)
        self.values = values.clamp_min(0)
        self.unit = float(self.values.mean()) or 1.0
        self.cross = self.axes.T @ moments.cross

    def along(self, strength: float) -> torch.Tensor:
        """The map from coordinates along the axes."""
        return torch.div(self.cross, (self.values + strength * self.unit).unsqueeze(1))

    def matrix(self, strength: float) -> torch.Tensor:
        """The map from standardised inputs."""
        return torch.mm(self.axes, self.along(strength))
