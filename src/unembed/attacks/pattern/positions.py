"""One network for all positions: the vector joined with an embedding of the position asked about (Pan V-C, App. B).

Section V-C prints a four-layer perceptron with 400 and 100 sigmoid units and batch normalisation between, Appendix B a
three-layer one with 200; the former is the default. The position embedding is that of the appendix: sine in even
coordinates, cosine in odd ones, as wide as the vector.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from unembed.attacks.base import AttackFacts
from unembed.attacks.pattern.reading import HELD_BACK
from unembed.attacks.validation import held_back
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.games.pattern import PatternGuess, PatternKnowledge, sizes_of
from unembed.games.pattern_ranking import best_wholes
from unembed.games.threat import Capability
from unembed.nn.features import InputRows, Standardiser
from unembed.nn.trained import Trained

RUN_BATCH = 1024


class PatternPositions(Trained):
    """Learns from tuples (vector, position, class); asked for each position in turn."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="pattern/positions",
        game="pattern",
        title="Pattern reconstruction, one network with the position as input",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.FORMAT}),
        cost="minutes",
        paper="pan2020",
        section="V-C, Appendix B",
        departures="A fixed number of pairs instead of fresh ones in every batch; inputs are standardised; the epoch "
        "with the smallest loss on held-back pairs stands. Parts with different alphabets share the outputs, of which "
        "each uses as many as it has classes.",
        default=False,
    )

    hidden: str = "400,100"
    epochs: int = 6
    patience: int = 3
    batch_size: int = 128
    min_steps: int = 4000

    def fit(self, knowledge: PatternKnowledge) -> Self:
        """Train on every (vector, position), in random order."""
        import torch
        from torch.nn import functional

        from unembed.nn.modules import PositionPerceptron

        self.sizes_ = sizes_of(knowledge.pattern, knowledge.asked)
        self._start()
        held, training = held_back(len(knowledge.labels), HELD_BACK, self.seed)
        self.scaler_ = Standardiser().fit(knowledge.vectors)
        positions = len(self.sizes_)
        table = torch.from_numpy(sinusoids(positions, self.scaler_.width))
        self.model_ = PositionPerceptron(table, _units(self.hidden), max(self.sizes_)).to(self.device_)
        inputs = InputRows(self.scaler_, knowledge.vectors, training, self.device_)
        wanted = torch.from_numpy(knowledge.labels[training][:, knowledge.asked]).to(self.device_)
        checked = knowledge.labels[held][:, knowledge.asked]

        def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
            # Normalisation over a batch needs two rows.
            pair, position = np.divmod(np.resize(rows, max(len(rows), 2)), positions)
            at = torch.from_numpy(position).to(self.device_)
            which = torch.from_numpy(pair).to(self.device_)
            return functional.cross_entropy(self.model_(inputs[which], at), wanted[which, at])

        def score() -> float:
            chances = self._scores(knowledge.vectors[held])
            rows = np.arange(len(held))
            return float(np.mean([c[rows, checked[:, i]].mean() for i, c in enumerate(chances)]))

        self._train(self.model_, loss_of, len(training) * positions, patience=self.patience, score=score)
        return self

    def _scores(self, vectors: Vectors) -> list[NDArray[np.float64]]:
        """Log-probabilities of each position's classes."""
        import torch

        self.model_.eval()
        rows: list[list[Any]] = [[] for _ in self.sizes_]
        with torch.no_grad():
            for start in range(0, int(vectors.shape[0]), RUN_BATCH):
                part = torch.from_numpy(self.scaler_.transform(vectors[start : start + RUN_BATCH])).to(self.device_)
                for i, size in enumerate(self.sizes_):
                    at = torch.full((len(part),), i, dtype=torch.int64, device=self.device_)
                    rows[i].append(log_softmax(self.model_(part, at)[:, :size].double().cpu().numpy(), axis=1))
        return [np.concatenate(found) for found in rows]

    def run(self, vectors: Vectors) -> PatternGuess:
        """Every position in turn; wholes by the product."""
        scores = self._scores(vectors)
        return PatternGuess(np.hstack(scores), best_wholes(scores))


def sinusoids(positions: int, width: int) -> NDArray[np.float32]:
    """The position embeddings ``[positions, width]`` of Appendix B, for positions 1, 2 and so on."""
    place = np.arange(1, positions + 1)[:, None]
    column = np.arange(width)[None]
    angle = place / 10_000 ** (column / width)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle)).astype(np.float32)


def _units(text: str) -> list[int]:
    """``"400,100"`` as numbers."""
    try:
        units = [int(part) for part in str(text).split(",")]
    except ValueError:
        units = []
    if not units or min(units) < 1:
        raise UsageError(f"hidden of pattern/positions gives the units of each layer, such as 400,100, not '{text}'")
    return units
