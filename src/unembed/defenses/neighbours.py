"""A small map that keeps neighbours and as little else as possible (ours).

Words are read from a vector through its many directions, while a search needs only to know which vectors are near.
Dropping principal components throws away directions by their variance, whether neighbours need them or not. Here a map
to few dimensions is learnt so that every vector keeps its distribution over near vectors: stochastic neighbour
embedding (Hinton and Roweis 2002) with cosines, on neighbourhoods of the owner's own vectors. It learns from vectors
alone, so there is no list of words or of secrets to which its protection would be confined.

A wider network learns the neighbourhoods of what is stored nearly by heart: it keeps more of them, hardly more of those
of other vectors, and gives away no more words, which only ``components`` decides. ``hidden=8192,steps=6000`` takes half
a minute on a GPU and is too slow for two cores.

A map that also fights a simulated reader of words was tried on the same vectors and gives the same curve of leak
against neighbours kept, at three times the cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import DefenseFacts, Owned
from unembed.defenses.tiles import (
    ROWS,
    as_rows,
    kept_dimensions,
    product,
    rows_to_learn_from,
    unit_length,
    usable_tiles,
)
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.params import Parametrised, learnt
from unembed.seeds import generator

if TYPE_CHECKING:
    import torch

FloatArray = NDArray[np.float32]

#: Vectors that are learnt from at the most, and neighbours of each that stand in a batch with it.
_MOST, _NEAR = 100_000, 40


class Neighbours(Parametrised):
    """Maps vectors to ``components`` dimensions so that near vectors stay near.

    The map is the leading principal components plus a small network, and its output has length 1. ``components`` below
    1 is a share of the dimensions. Batches are ``around`` vectors with their nearest neighbours; ``temperature`` says
    how near is near. One step costs about 6·b·(d·hidden + b·d) floating-point operations for batches of b vectors.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="neighbours",
        title="A map to few dimensions that keeps neighbours",
        paper=None,
        quick=(("steps", 150), ("learning_rate", 2e-3)),
        version=2,
    )

    components: float = 0.125
    hidden: int = 1024
    steps: int = 600
    around: int = 32
    temperature: float = 0.05
    learning_rate: float = 1e-3
    seed: int = 0

    dimension_: int = learnt()
    kept_: int = learnt()
    scale_: float = learnt()
    divergence_: float = learnt()
    centre_: FloatArray = learnt()
    straight_: FloatArray = learnt()
    first_: FloatArray = learnt()
    bias_: FloatArray = learnt()
    second_: FloatArray = learnt()

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn the map from the owner's vectors."""
        self.check_parameters()
        rows = rows_to_learn_from(self.facts.name, vectors, _NEAR)
        if not np.ptp(rows, axis=0).any():
            raise CannotMeasureError("all vectors are the same: none has neighbours")
        if len(rows) > _MOST:
            rows = rows[np.sort(generator(0, "neighbours").permutation(len(rows))[:_MOST])]
        self.dimension_ = int(rows.shape[1])
        self.kept_ = kept_dimensions(self.facts.name, self.components, self.dimension_)
        self.centre_ = rows.mean(axis=0, dtype=np.float64).astype(np.float32)
        spread = rows - self.centre_
        self.scale_ = float(1 / max(np.sqrt((spread.astype(np.float64) ** 2).mean()), 1e-12))
        _, directions = np.linalg.eigh(spread.T.astype(np.float64) @ spread)
        self.straight_ = np.ascontiguousarray(directions[:, ::-1][:, : self.kept_], dtype=np.float32)
        self._learn(rows)
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Mapped vectors of length 1."""
        rows = as_rows(self.facts.name, vectors, self.dimension_)
        made = np.empty((len(rows), self.kept_), dtype=np.float32)
        scale = np.float32(self.scale_)
        first, straight = scale * self.first_, scale * self.straight_
        for place in usable_tiles(self.facts.name, rows, ROWS):
            part = rows[place] - self.centre_
            bent = product(part, first)
            bent += self.bias_
            np.maximum(bent, np.float32(0), out=bent)
            unit_length(np.add(product(part, straight), product(bent, self.second_), out=made[place]))
        return made

    def stored_dimension(self, dimension: int) -> int:
        """Numbers in one stored vector."""
        return kept_dimensions(self.facts.name, self.components, dimension)

    def stored_bytes(self, dimension: int) -> float:
        """As float32."""
        return 4.0 * self.stored_dimension(dimension)

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        for name in ("hidden", "steps", "around"):
            if getattr(self, name) < 1:
                raise UsageError(f"'{name}' of the defense 'neighbours' must be at least 1, not {getattr(self, name)}")
        for name in ("temperature", "learning_rate"):
            if not getattr(self, name) > 0:
                raise UsageError(f"'{name}' of the defense 'neighbours' must be above 0, not {getattr(self, name)}")

    def _learn(self, rows: FloatArray) -> None:
        """Minimise the divergence of every vector's distribution over its batch, by Adam with a falling rate."""
        import torch

        from unembed.nn.device import pick_device

        device = pick_device("auto")
        source = generator(0, "neighbours", "training")
        plain = torch.from_numpy(np.ascontiguousarray(rows, dtype=np.float32)).to(device)
        unit = torch.nn.functional.normalize(plain, dim=1)
        inputs = (plain - torch.from_numpy(self.centre_).to(device)) * self.scale_
        weights = self._start(source, device)
        optimiser = torch.optim.Adam(weights, lr=self.learning_rate)
        rate = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, self.steps)
        for _ in range(self.steps):
            batch = _neighbourhoods(unit, source.integers(0, len(rows), self.around))
            part = inputs[batch]
            mapped = part @ weights[0] + torch.relu(part @ weights[1] + weights[2]) @ weights[3]
            loss = _divergence(unit[batch], torch.nn.functional.normalize(mapped, dim=1), self.temperature)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            rate.step()
        straight, first, bias, second = (weight.detach().cpu().numpy() for weight in weights)
        self.straight_, self.first_, self.bias_, self.second_ = straight, first, bias, second
        self.divergence_ = float(loss.detach())

    def _start(self, source: np.random.Generator, device: Any) -> list[torch.Tensor]:
        """The principal components, and a network that adds little at first."""
        import torch

        def drawn(rows: int, columns: int, scale: float) -> FloatArray:
            return (scale * source.standard_normal((rows, columns))).astype(np.float32)

        first = drawn(self.dimension_, self.hidden, (2 / self.dimension_) ** 0.5)
        second = drawn(self.hidden, self.kept_, 0.1 * self.hidden**-0.5)
        begun = (self.straight_, first, np.zeros(self.hidden, dtype=np.float32), second)
        return [torch.from_numpy(one.copy()).to(device).requires_grad_() for one in begun]


def _neighbourhoods(unit: torch.Tensor, centres: NDArray[np.int64]) -> torch.Tensor:
    """Some vectors together with their nearest neighbours, each once."""
    import torch

    chosen = unit[torch.from_numpy(centres).to(unit.device)]
    near: torch.Tensor = torch.unique((chosen @ unit.T).topk(min(_NEAR, len(unit)), dim=1).indices)
    return near


def _divergence(plain: torch.Tensor, mapped: torch.Tensor, temperature: float) -> torch.Tensor:
    """The mean divergence of the distributions over the other vectors of the batch, plain from mapped."""
    import torch

    itself = torch.eye(len(plain), dtype=torch.bool, device=plain.device)

    def logarithms(rows: torch.Tensor) -> torch.Tensor:
        return torch.log_softmax((rows @ rows.T / temperature).masked_fill(itself, -1e4), dim=1)

    wanted, found = logarithms(plain), logarithms(mapped)
    return (wanted.exp() * (wanted - found)).sum(dim=1).mean()
