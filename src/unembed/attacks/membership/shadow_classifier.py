"""Corò 3.3, after Shokri et al. 2017: a classifier of a classifier's answers, one for each class.

What a classifier answers to members and to others differs from class to class, so each class has an attack model of its
own: a small network that is shown the probabilities of all classes and says whether the text was learnt from. It learns
from shadow models.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.features import LEAST
from unembed.encoders.base import Vectors
from unembed.games.base import IntArray
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_model import ModelKnowledge
from unembed.games.model_answers import Columns
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.nn.perceptron import SigmoidPerceptron
from unembed.params import Parametrised
from unembed.seeds import seed_for

#: A class with fewer shadow texts of either kind is told by the model of all classes.
FEWEST_OF_CLASS = 20


class ShadowClassifier(Parametrised):
    """One small network per class on the probabilities that a classifier answers."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/shadow-classifier",
        game="membership-model",
        title="A classifier of a classifier's answers for each class, learnt from shadow models",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        paper="coro2022",
        section="3.3",
        departures="Probabilities enter as logarithms, in which the answers to members and others are apart also where "
        "both are near 1. A class with few shadow texts is told by a network of all classes. The thesis does not name "
        "the kind of attack model: here 64 sigmoid units.",
        of_game=(("answers", "classifier"),),
    )

    hidden: int = 64
    epochs: int = 20
    device: str = "auto"
    seed: int = 0

    def fit(self, knowledge: ModelKnowledge) -> Self:
        """A network for each class that has enough shadow texts, and one of all for the rest."""
        self.columns_: Columns = knowledge.columns
        inputs, labels = self._inputs(knowledge.vectors), self.columns_.labels(knowledge.vectors)
        members = knowledge.members.astype(np.int64)
        self.networks_: dict[int, SigmoidPerceptron] = {-1: self._learnt(inputs, members, -1)}
        for label in range(self.columns_.classes):
            rows = np.flatnonzero(labels == label)
            if np.bincount(members[rows], minlength=2).min() >= FEWEST_OF_CLASS:
                self.networks_[label] = self._learnt(inputs[rows], members[rows], label)
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The log-odds of having been learnt from, by the network of each text's class."""
        inputs, labels = self._inputs(vectors), self.columns_.labels(vectors)
        scores = np.zeros(len(labels))
        own = np.where(np.isin(labels, list(self.networks_)), labels, -1)
        for label in np.unique(own):
            rows = np.flatnonzero(own == label)
            said = self.networks_[int(label)].log_probabilities(inputs[rows])
            scores[rows] = said[:, 1] - said[:, 0]
        return InOrOutGuess(scores, (scores > 0).astype(np.float64))

    def _inputs(self, vectors: Vectors) -> FloatArray:
        """log p of the right class first, then of all classes."""
        p = np.log(np.maximum(self.columns_.probabilities(vectors), LEAST))
        return np.concatenate([p[np.arange(len(p)), self.columns_.labels(vectors)][:, None], p], axis=1)

    def _learnt(self, inputs: FloatArray, members: IntArray, label: int) -> SigmoidPerceptron:
        own = seed_for(self.seed, "class", label)
        made = SigmoidPerceptron(hidden=self.hidden, epochs=self.epochs, min_steps=300, device=self.device, seed=own)
        made.learn(inputs, members, 2)
        return made
