"""Multi-label classification (MLC), Song 3.2 eq. 8: one binary classifier per vocabulary word."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.inversion.word_classifier import WordClassifier
from unembed.games.inversion import InversionKnowledge
from unembed.games.threat import Capability
from unembed.nn.features import Scaling


class MLC(WordClassifier):
    """The paper's linear form: 30 epochs of Adam at 0.001, batch 256, a word counts as found above 0.5.

    ``threshold="tuned"`` holds a tenth of the pairs back and takes the threshold with the best F1 there.
    """

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="inversion/mlc",
        game="inversion",
        title="Multi-label classification (linear)",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="minutes",
        paper="song2020",
        section="3.2, eq. 8; 6.2",
        departures="Vectors are standardised: the paper's encoders had values around one, unit-norm vectors have "
        "values around 0.05, which 30 epochs leave unlearnt (scaling='none' is the paper to the letter). Output "
        "biases start at the words' frequencies. Few pairs get more passes (min_steps).",
        default=False,
    )

    batch_size: int = 256
    threshold: float | str = 0.5
    scaling: Scaling = "each"

    def fit(self, knowledge: InversionKnowledge) -> Self:
        """Train |V| logistic classifiers as one linear layer."""
        tuned = self.threshold == "tuned"
        if not tuned:
            self.thresholds_ = np.full(knowledge.labels.shape[1], float(self.threshold), dtype=np.float32)
        return self.train_on(knowledge, scaling=self.scaling, validate=0.1 if tuned else 0.0)
