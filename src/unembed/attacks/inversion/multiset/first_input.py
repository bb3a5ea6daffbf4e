"""W1: from a vector, dense or sparse, to the first input of a decoder, with its own optimiser.

A dense vector is one product. A sparse one of 2^18 columns is never spread out: the columns seen in training
are the rows of a table, a text's input is the weighted sum of its columns' rows, and a step updates the rows
of its batch.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from unembed.attacks.inversion.multiset.row_adam import RowAdam
from unembed.nn.features import CLIP, InputRows, Scaling, Standardiser


class FirstInput(nn.Module):
    """What training and inference need of W1, whatever the vectors are."""

    def prepare(self, vectors: Any, rows: NDArray[np.int64]) -> None:
        """Take in the training vectors."""
        raise NotImplementedError

    def forget(self) -> None:
        """Let go of the training vectors and of what the optimiser kept."""
        for name in ("inputs", "last", "optimiser", "rows", "offset", "used", "local", "values", "owner"):
            self.__dict__.pop(name, None)

    def start(self, *, learning_rate: float, weight_decay: float) -> None:
        """Begin a training."""
        raise NotImplementedError

    def batch(self, rows: NDArray[np.int64]) -> Tensor:
        """First inputs of training rows; remembers what ``learn`` needs."""
        raise NotImplementedError

    def learn(self, gradient: Tensor) -> None:
        """One step from the gradient of the last batch's first inputs."""
        raise NotImplementedError

    def project(self, vectors: Any) -> Tensor:
        """First inputs of vectors never seen."""
        raise NotImplementedError


class DenseFirst(FirstInput):
    """One linear layer over standardised vectors."""

    def __init__(self, scaler: Standardiser, hidden: int, device: torch.device) -> None:
        super().__init__()
        self.scaler, self.device = scaler, device
        self.linear = nn.Linear(scaler.width, hidden)

    def prepare(self, vectors: Any, rows: NDArray[np.int64]) -> None:
        """Standardised once and kept on the device where they fit."""
        self.inputs = InputRows(self.scaler, vectors, rows, self.device)

    def start(self, *, learning_rate: float, weight_decay: float) -> None:
        """A plain Adam."""
        fused = self.device.type in ("cpu", "cuda")
        self.optimiser = torch.optim.Adam(self.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=fused)

    @torch.no_grad()
    def batch(self, rows: NDArray[np.int64]) -> Tensor:
        """The product."""
        self.last = self.inputs[rows]
        first: Tensor = self.linear(self.last)
        return first

    @torch.no_grad()
    def learn(self, gradient: Tensor) -> None:
        """The product's gradient, and Adam."""
        self.linear.weight.grad = gradient.T @ self.last
        self.linear.bias.grad = gradient.sum(0)
        self.optimiser.step()

    @torch.no_grad()
    def project(self, vectors: Any) -> Tensor:
        """Standardised, then the product."""
        first: Tensor = self.linear(torch.from_numpy(self.scaler.transform(vectors)).to(self.device))
        return first


class SparseFirst(FirstInput):
    """A weighted sum of one row for each column that a text holds and training knew."""

    def __init__(self, columns: NDArray[np.int64], scale: NDArray[np.float32], hidden: int, device: Any) -> None:
        super().__init__()
        self.device = device
        self.columns, self.scale = columns, scale
        self.table = nn.Parameter(torch.randn(max(len(columns), 1), hidden) / math.sqrt(hidden))
        self.bias = nn.Parameter(torch.zeros(hidden))

    def prepare(self, vectors: Any, rows: NDArray[np.int64]) -> None:
        """Scaled rows, in training's own numbering of the columns."""
        self.inputs = self._scaled(vectors[rows])

    def _scaled(self, vectors: Any) -> Any:
        known = vectors.tocsr()[:, self.columns].astype(np.float32)
        known.data = np.clip(known.data * self.scale[known.indices], -CLIP, CLIP)
        return known

    def start(self, *, learning_rate: float, weight_decay: float) -> None:
        """Adam over rows; the bias is a row of its own."""
        self.rows = RowAdam(self.table.data, learning_rate=learning_rate, weight_decay=weight_decay)
        self.offset = RowAdam(self.bias.data[None], learning_rate=learning_rate)

    @torch.no_grad()
    def batch(self, rows: NDArray[np.int64]) -> Tensor:
        """Sums over the batch's own columns."""
        part = self.inputs[rows]
        used, local = np.unique(part.indices, return_inverse=True)
        self.used = torch.from_numpy(used.astype(np.int64)).to(self.device)
        self.local = torch.from_numpy(local.astype(np.int64)).to(self.device)
        self.values = torch.from_numpy(part.data).to(self.device)
        self.owner = torch.from_numpy(np.repeat(np.arange(len(rows)), np.diff(part.indptr))).to(self.device)
        return self._sums(part, self.table[self.used], self.local)

    def _sums(self, part: Any, table: Tensor, local: Tensor) -> Tensor:
        if not part.nnz:
            return self.bias.expand(part.shape[0], -1).clone()
        starts = torch.from_numpy(part.indptr[:-1].astype(np.int64)).to(self.device)
        weights = torch.from_numpy(part.data).to(self.device)
        sums = functional.embedding_bag(local, table, starts, mode="sum", per_sample_weights=weights)
        return sums + self.bias

    @torch.no_grad()
    def learn(self, gradient: Tensor) -> None:
        """Each column's row gets the gradients of the texts that hold it."""
        from unembed.attacks.inversion.multiset.decoder import add_rows

        self.offset.step(torch.zeros(1, dtype=torch.int64, device=self.device), gradient.sum(0, keepdim=True))
        if len(self.used):
            total = torch.zeros(len(self.used), gradient.shape[1], dtype=gradient.dtype, device=self.device)
            add_rows(total, self.local, gradient[self.owner] * self.values[:, None])
            self.rows.step(self.used, total)

    @torch.no_grad()
    def project(self, vectors: Any) -> Tensor:
        """Columns training never saw add nothing."""
        part = self._scaled(vectors)
        return self._sums(part, self.table, torch.from_numpy(part.indices.astype(np.int64)).to(self.device))


def first_input(vectors: Any, scaling: Scaling, hidden: int, device: torch.device) -> FirstInput:
    """W1 for these vectors."""
    from scipy.sparse import issparse

    scaler = Standardiser(scaling).fit(vectors)
    if issparse(vectors):
        assert scaler.columns_ is not None
        scale = np.ones(scaler.width, dtype=np.float32) if scaling == "none" else scaler.scale_
        return SparseFirst(scaler.columns_, scale, hidden, device).to(device)
    return DenseFirst(scaler, hidden, device).to(device)
