"""What the pattern attacks share: one training over (vector, classes of the parts), and the guess from its scores.

Cost: a training step is 6 · batch · parameters FLOPs; the guess is one pass over the targets, plus k² sums per part to
rank whole secrets (``games.pattern_ranking``).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from unembed.attacks.validation import held_back
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.pattern import PatternKnowledge, by_part, sizes_of
from unembed.games.pattern_ranking import FloatArray
from unembed.nn.features import InputRows, Standardiser
from unembed.nn.trained import Trained
from unembed.params import learnt

RUN_BATCH = 4096
#: Held-back share, on which the epoch is chosen.
HELD_BACK = 0.1
#: Temperatures tried for each part.
TEMPERATURES = np.geomspace(0.2, 5.0, 33)


class PartReader(Trained):
    """Trains a network with the classes of all its parts side by side as outputs; subclasses bring the network."""

    sizes_: list[int] = learnt()
    parts_: NDArray[np.int64] = learnt()

    def train_on(
        self,
        knowledge: PatternKnowledge,
        parts: NDArray[np.int64],
        build: Callable[[int], Any],
        *,
        beside: float = 1.0,
        scaler: Standardiser | None = None,
        **loop: Any,
    ) -> Self:
        """Minimise the summed cross-entropies of parts; the epoch best for the asked ones on held-back pairs stands.

        ``build`` makes the network for so many inputs; parts nobody asks for
        weigh ``beside``; ``scaler`` prepares the vectors, otherwise they are standardised.
        """
        import torch
        from torch.nn import functional

        n = len(knowledge.labels)
        if n != int(knowledge.vectors.shape[0]):
            raise CannotMeasureError(f"{int(knowledge.vectors.shape[0])} vectors but {n} secrets")
        self._start()
        held, training = held_back(n, HELD_BACK, self.seed)
        self.parts_, self.sizes_ = parts, sizes_of(knowledge.pattern, parts)
        self.scaler_ = (scaler or Standardiser()).fit(knowledge.vectors)
        self.model_ = build(self.scaler_.width).to(self.device_)
        inputs = InputRows(self.scaler_, knowledge.vectors, training, self.device_)
        wanted = torch.from_numpy(knowledge.labels[training][:, parts]).to(self.device_)

        weights = np.where(np.isin(parts, knowledge.asked), 1.0, beside).tolist()

        def loss_of(rows: Any) -> Any:
            rows = rows if isinstance(rows, torch.Tensor) else torch.from_numpy(rows).to(self.device_)
            labels = wanted[rows]
            scores = by_part(self.model_(inputs[rows]), self.sizes_)
            return sum(weights[i] * functional.cross_entropy(s, labels[:, i]) for i, s in enumerate(scores))

        held_labels = knowledge.labels[held][:, parts]
        counts = np.flatnonzero(np.isin(parts, knowledge.asked))

        def score() -> float:
            found = self.logits(knowledge.vectors[held])
            return -sum(cross_entropy(found[i], held_labels[:, i]) for i in counts)

        self._train(self.model_, loss_of, len(training), score=score, **loop)
        self.temperatures_ = np.ones(len(parts))
        self.held_ = held
        return self

    def logits(self, vectors: Vectors) -> list[FloatArray]:
        """Raw scores, one table per part."""
        import torch

        self.model_.eval()
        rows = []
        with torch.no_grad():
            for start in range(0, int(vectors.shape[0]), RUN_BATCH):
                part = torch.from_numpy(self.scaler_.transform(vectors[start : start + RUN_BATCH])).to(self.device_)
                rows.append(self.model_(part).double().cpu().numpy())
        table = np.concatenate(rows) if rows else np.zeros((0, sum(self.sizes_)))
        return by_part(table, self.sizes_)

    def calibrate(self, knowledge: PatternKnowledge) -> None:
        """One temperature per part, so that probabilities of different parts can be multiplied.

        Found on the pairs that were held back: the one with the smallest cross-entropy.
        """
        labels = knowledge.labels[self.held_][:, self.parts_]
        for i, table in enumerate(self.logits(knowledge.vectors[self.held_])):
            losses = [cross_entropy(table / t, labels[:, i]) for t in TEMPERATURES]
            self.temperatures_[i] = TEMPERATURES[int(np.argmin(losses))]

    def probabilities(self, vectors: Vectors) -> dict[int, FloatArray]:
        """Log-probabilities by part."""
        tables = self.logits(vectors)
        return {
            int(part): log_softmax(table / t, axis=1)
            for part, table, t in zip(self.parts_, tables, self.temperatures_, strict=True)
        }


def cross_entropy(table: FloatArray, labels: NDArray[np.int64]) -> float:
    """Mean cross-entropy."""
    return -float(log_softmax(table, axis=1)[np.arange(len(labels)), labels].mean()) if len(labels) else 0.0
