"""Networks: residual layers beside a linear path, and many small perceptrons trained as one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn


class ResidualPerceptron(nn.Module):
    """Normalised residual hidden layers plus a linear map from the input straight to the output.

    Without hidden layers it is that linear map.
    """

    def __init__(self, inputs: int, width: int, depth: int, outputs: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.straight = nn.Linear(inputs, outputs)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Linear(inputs if i == 0 else width, width), nn.LayerNorm(width), nn.GELU(), nn.Dropout(dropout)
            )
            for i in range(depth)
        )
        self.out = nn.Linear(width, outputs, bias=False) if depth else None

    def forward(self, inputs: Tensor) -> Tensor:
        """Both paths, summed."""
        scores: Tensor = self.straight(inputs)
        if self.out is None:
            return scores
        values = inputs
        for i, block in enumerate(self.blocks):
            values = block(values) if i == 0 else values + block(values)
        total: Tensor = scores + self.out(values)
        return total


class StackedPerceptron(nn.Module):
    """``count`` sigmoid perceptrons of one shape, trained as one batched matrix product instead of a loop.

    Input ``[count, batch, inputs]`` (or ``[batch, inputs]`` for all alike), output ``[count, batch, outputs]``.
    """

    def __init__(
        self,
        count: int,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        *,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        self.count = count
        widths = [inputs, *hidden, outputs]
        self.weights = nn.ParameterList()
        self.biases = nn.ParameterList()
        for before, after in pairwise(widths):
            bound = 1 / math.sqrt(before)
            weight = torch.empty(count, before, after).uniform_(-bound, bound, generator=generator)
            bias = torch.empty(count, 1, after).uniform_(-bound, bound, generator=generator)
            self.weights.append(nn.Parameter(weight))
            self.biases.append(nn.Parameter(bias))

    def forward(self, inputs: Tensor) -> Tensor:
        """All networks at once."""
        values = inputs if inputs.dim() == 3 else inputs.unsqueeze(0).expand(self.count, -1, -1)
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = torch.baddbmm(bias, values, weight)
            if i < last:
                values = torch.sigmoid(values)
        return values


class SeparatePerceptrons(nn.Module):
    """Three-layer perceptrons on the same inputs, of different widths and classes: their outputs side by side.

    Nothing is shared, but the hidden layers are one product.
    """

    def __init__(self, inputs: int, hidden: Sequence[int], outputs: Sequence[int]) -> None:
        super().__init__()
        self.hidden = list(hidden)
        self.first = nn.Linear(inputs, sum(hidden))
        self.heads = nn.ModuleList(nn.Linear(h, o) for h, o in zip(hidden, outputs, strict=True))

    def forward(self, inputs: Tensor) -> Tensor:
        """The classes of all networks side by side."""
        values = torch.split(torch.sigmoid(self.first(inputs)), self.hidden, dim=1)
        return torch.cat([head(value) for head, value in zip(self.heads, values, strict=True)], dim=1)


class PositionPerceptron(nn.Module):
    """Sigmoid layers, normalised over the batch, on a vector joined with the embedding of a position.

    The product with the joined input is two products: with the vector, and with the few embeddings there are.
    """

    positions: Tensor

    def __init__(self, positions: Tensor, hidden: Sequence[int], outputs: int) -> None:
        super().__init__()
        self.register_buffer("positions", positions)
        width = positions.shape[1]
        self.first = nn.Linear(2 * width, hidden[0])
        layers: list[nn.Module] = [nn.BatchNorm1d(hidden[0]), nn.Sigmoid()]
        for before, after in pairwise(hidden):
            layers += [nn.Linear(before, after), nn.BatchNorm1d(after), nn.Sigmoid()]
        self.rest = nn.Sequential(*layers, nn.Linear(hidden[-1], outputs))

    def forward(self, inputs: Tensor, at: Tensor) -> Tensor:
        """Classes of the positions ``at``, one per row of ``inputs``."""
        width = self.positions.shape[1]
        own, place = self.first.weight[:, :width], self.first.weight[:, width:]
        values: Tensor = self.rest(inputs @ own.T + (self.positions @ place.T)[at] + self.first.bias)
        return values
