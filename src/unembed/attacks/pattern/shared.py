"""Our reader of patterns: whitened vectors, a body shared by all parts, check digits as a filter.

Three things the paper's sub-attacks lack. Vectors are whitened (``whitening``): digits lie in directions of little
variance. Beside one sigmoid network per part there is one wide body that reads all parts, also those nobody asks for,
since what tells the day also tells the month beside it; how much each of the two counts is chosen for each part on
held-back pairs, with one temperature each, so that probabilities of different parts can be multiplied. And wholes
that can't be, such as 30 February, are passed over; where everything but a check digit is asked, the check digit read
from the vector weighs the candidates.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from unembed.attacks.base import AttackFacts
from unembed.attacks.pattern.fields import units_of
from unembed.attacks.pattern.reading import PartReader, cross_entropy
from unembed.attacks.pattern.whitening import Whitener
from unembed.encoders.base import Vectors
from unembed.games.pattern import PatternGuess, PatternKnowledge, sizes_of
from unembed.games.pattern_ranking import FloatArray, possible_wholes
from unembed.games.threat import Capability
from unembed.nn.trained import Trained

#: How much the shared body can count beside the part's own network.
WEIGHTS = np.linspace(0, 1, 11)


class PatternShared(Trained):
    """A body of residual layers for all parts and a small network for each, weighed against each other part by part."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="pattern/shared",
        game="pattern",
        title="Pattern reconstruction from whitened vectors with a shared body (ours)",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.FORMAT}),
        cost="minutes",
        paper="pan2020",
        section="V-B",
        departures="Ours: whitened vectors; a wide body shared by all parts beside the paper's networks; calibrated "
        "probabilities; impossible values passed over; the check digit weighs the candidates.",
        version=2,
    )

    hidden: int = 0
    depth: int = 2
    dropout: float = 0.3
    patience: int = 10
    batch_size: int = 0
    weight_decay: float = 0.1
    beside: float = 0.3
    min_steps: int = 500

    def fit(self, knowledge: PatternKnowledge) -> Self:
        """Train both, calibrate both, weigh them."""
        self.pattern_, self.asked_ = knowledge.pattern, knowledge.asked
        checks = self.pattern_.parts_of([f.name for f in self.pattern_.fields if f.follows])
        self.check_ = int(checks[0]) if len(checks) else None
        self.body_ = self._body(knowledge)
        self.own_ = self._own(knowledge, np.concatenate([self.asked_, checks]))
        self.device_ = self.body_.device_
        held = self.body_.held_
        wide, own = (reader.probabilities(knowledge.vectors[held]) for reader in (self.body_, self.own_))
        self.weights_ = {part: _weight(wide[part], own[part], knowledge.labels[held, part]) for part in own}
        return self

    def _body(self, knowledge: PatternKnowledge) -> PartReader:
        """One network with the classes of all parts as outputs."""
        from unembed.nn.modules import ResidualPerceptron

        width, batch = settings_for(len(knowledge.labels))
        parts = np.arange(len(knowledge.pattern.parts))
        outputs = sum(sizes_of(knowledge.pattern, parts))

        def build(inputs: int) -> Any:
            return ResidualPerceptron(inputs, self.hidden or width, self.depth, outputs, dropout=self.dropout)

        return _Reader(device=self.device, seed=self.seed).train_on(
            knowledge,
            parts,
            build,
            scaler=Whitener(),
            beside=self.beside,
            epochs=self.epochs,
            patience=self.patience,
            min_steps=self.min_steps,
            batch_size=self.batch_size or batch,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            schedule=True,
        )

    def _own(self, knowledge: PatternKnowledge, parts: NDArray[np.int64]) -> PartReader:
        """The paper's networks, on whitened vectors, also for the check digit."""
        from unembed.nn.modules import SeparatePerceptrons

        hidden = [units_of(knowledge.pattern, int(part)) for part in parts]
        classes = sizes_of(knowledge.pattern, parts)
        batch = settings_for(len(knowledge.labels))[1]
        return _Reader(device=self.device, seed=self.seed).train_on(
            knowledge,
            parts,
            lambda inputs: SeparatePerceptrons(inputs, hidden, classes),
            scaler=Whitener(),
            epochs=2 * self.epochs,
            patience=self.patience,
            min_steps=self.min_steps,
            batch_size=batch,
            learning_rate=1e-3 * (batch / 128) ** 0.5,
            recorded=True,
        )

    def probabilities(self, vectors: Vectors) -> dict[int, FloatArray]:
        """Log-probabilities by part, of the asked ones and the check digit."""
        wide, own = self.body_.probabilities(vectors), self.own_.probabilities(vectors)
        return {part: log_softmax(w * wide[part] + (1 - w) * own[part], axis=1) for part, w in self.weights_.items()}

    def run(self, vectors: Vectors) -> PatternGuess:
        """Probabilities of the asked parts; wholes by their product, as far as they can be."""
        known = self.probabilities(vectors)
        scores = [known[int(part)] for part in self.asked_]
        digit = None if self.check_ is None else known[self.check_]
        return PatternGuess(np.hstack(scores), possible_wholes(scores, self.pattern_, self.asked_, digit))


class _Reader(PartReader):
    """One of the two, calibrated."""

    def train_on(self, knowledge: PatternKnowledge, *args: Any, **settings: Any) -> Self:
        """Train, then calibrate."""
        super().train_on(knowledge, *args, **settings)
        self.calibrate(knowledge)
        return self


def _weight(wide: FloatArray, own: FloatArray, labels: NDArray[np.int64]) -> float:
    """How much the body counts: what gives the smallest cross-entropy on the held-back pairs."""
    losses = [cross_entropy(w * wide + (1 - w) * own, labels) for w in WEIGHTS]
    return float(WEIGHTS[int(np.argmin(losses))])


def settings_for(pairs: int) -> tuple[int, int]:
    """Hidden units and batch of the body for so many pairs: a wide one needs them."""
    return next((w, b) for least, w, b in ((50_000, 2048, 512), (10_000, 1024, 256), (0, 512, 128)) if pairs >= least)
