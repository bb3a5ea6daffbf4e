"""The classifier of Pan, Appendix D: a perceptron from vectors of one dimension to the encoder that made them.

It must be trained on vectors of all candidates at once and calls everything by one of their names; the signatures
beside it do without both.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.encoders.base import Vectors
from unembed.games.fingerprint import FingerprintGuess, FingerprintKnowledge
from unembed.games.threat import Capability
from unembed.nn.perceptron import SigmoidPerceptron


class EncoderClassifier(SigmoidPerceptron):
    """(d-200-k) with sigmoid units. The paper names no more; Adam at 0.001, batches of 64, standardised inputs."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="fingerprint/classifier",
        game="fingerprint",
        title="Which encoder, by a perceptron on vectors of all candidates",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        paper="pan2020",
        section="Appendix D",
        departures="Inputs are standardised; optimiser, batch size and number of steps are not in the paper. Sets of "
        "several vectors are judged by the sum of their log-probabilities.",
    )

    def fit(self, knowledge: FingerprintKnowledge) -> Self:
        """Learn from vectors of every candidate."""
        self.learn(knowledge.vectors, knowledge.labels, len(knowledge.encoders))
        return self

    def run(self, vectors: Vectors) -> FingerprintGuess:
        """Log-probabilities of the candidates."""
        return FingerprintGuess(self.log_probabilities(vectors))

    def hidden_layer(self, vectors: Any) -> NDArray[np.float64]:
        """What the hidden units say of each vector (Pan Fig. 9b)."""
        import torch

        with torch.no_grad():
            inputs = torch.from_numpy(self.scaler_.transform(vectors)).to(self.device_)
            found: NDArray[np.float64] = self.model_[1](self.model_[0](inputs)).double().cpu().numpy()
        return found
