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
from unembed.nn.features import InputRows, Standardiser
from unembed.nn.trained import Trained


class EncoderClassifier(Trained):
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

    hidden: int = 200
    min_steps: int = 500

    def fit(self, knowledge: FingerprintKnowledge) -> Self:
        """Learn from vectors of every candidate."""
        import torch
        from torch import nn
        from torch.nn import functional

        self._start()
        self.scaler_ = Standardiser().fit(knowledge.vectors)
        inputs = InputRows(self.scaler_, knowledge.vectors, None, self.device_)
        labels = torch.from_numpy(knowledge.labels).to(self.device_)
        layers = (
            nn.Linear(self.scaler_.width, self.hidden),
            nn.Sigmoid(),
            nn.Linear(self.hidden, len(knowledge.encoders)),
        )
        model = nn.Sequential(*layers).to(self.device_)

        def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
            return functional.cross_entropy(model(inputs[rows]), labels[torch.from_numpy(rows).to(self.device_)])

        self._train(model, loss_of, len(labels))
        return self

    def run(self, vectors: Vectors) -> FingerprintGuess:
        """Log-probabilities of the candidates."""
        import torch

        return FingerprintGuess(torch.log_softmax(self._said(vectors).double(), dim=1).cpu().numpy())

    def hidden_layer(self, vectors: Any) -> NDArray[np.float64]:
        """What the hidden units say of each vector (Pan Fig. 9b)."""
        import torch

        with torch.no_grad():
            inputs = torch.from_numpy(self.scaler_.transform(vectors)).to(self.device_)
            found: NDArray[np.float64] = self.model_[1](self.model_[0](inputs)).double().cpu().numpy()
        return found
