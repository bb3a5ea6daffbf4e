"""Networks: a plain perceptron, and many small ones stacked into one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor, nn

Activation = Literal["relu", "sigmoid", "gelu"]
_ACTIVATIONS: dict[str, type[nn.Module]] = {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "gelu": nn.GELU}


def perceptron(
    inputs: int,
    hidden: Sequence[int],
    outputs: int,
    *,
    activation: Activation = "relu",
) -> nn.Sequential:
    """Fully connected layers; no hidden layer makes it linear."""
    layers: list[nn.Module] = []
    width = inputs
    for units in hidden:
        layers += [nn.Linear(width, units), _ACTIVATIONS[activation]()]
        width = units
    layers.append(nn.Linear(width, outputs))
    return nn.Sequential(*layers)


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
    """``count`` perceptrons of one shape, trained as one batched matrix product instead of a loop.

    Input ``[count, batch, inputs]`` (or ``[batch, inputs]`` for all alike), output ``[count, batch, outputs]``.
    """

    def __init__(
        self,
        count: int,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        *,
        activation: Activation = "sigmoid",
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
        self.activation = _ACTIVATIONS[activation]()

    def forward(self, inputs: Tensor) -> Tensor:
        """All networks at once."""
        values = inputs if inputs.dim() == 3 else inputs.unsqueeze(0).expand(self.count, -1, -1)
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            values = torch.baddbmm(bias, values, weight)
            if i < last:
                values = self.activation(values)
        return values
