"""Linear classifier on labelled vectors (Song 4, Alg. 3; 6.3)."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.encoders.base import Vectors
from unembed.games.attribute import AttributeGuess, AttributeKnowledge
from unembed.games.threat import Capability
from unembed.nn.device import pick_device
from unembed.nn.features import Standardiser
from unembed.params import Parametrised
from unembed.seeds import generator, seed_for


class AttributeLinear(Parametrised):
    """Softmax regression: 30 epochs of Adam at 0.001, batch 128, as in the paper."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="attribute/linear",
        game="attribute",
        title="Attribute inference with a linear classifier",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        paper="song2020",
        section="4, Alg. 3; 6.3",
        departures="Inputs are standardised; classes are weighted so that rare ones count as much as common ones, "
        "with weight decay 0.01 against overfitting on few labels.",
    )

    def __init__(
        self,
        *,
        epochs: int = 30,
        batch_size: int = 128,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.01,
        balanced: bool = True,
        min_steps: int = 300,
        device: str = "auto",
        seed: int = 0,
    ) -> None:
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.balanced = balanced
        self.min_steps = min_steps
        self.device = device
        self.seed = seed

    def fit(self, knowledge: AttributeKnowledge) -> Self:
        """Train on the labelled vectors."""
        import torch
        from torch.nn import functional

        from unembed.nn.modules import perceptron
        from unembed.nn.training import train

        self.device_ = pick_device(self.device)
        torch.manual_seed(seed_for(self.seed, "weights") % 2**32)
        self.scaler_ = Standardiser().fit(knowledge.vectors)
        inputs = torch.from_numpy(self.scaler_.transform(knowledge.vectors)).to(self.device_)
        labels = torch.from_numpy(knowledge.labels).to(self.device_)
        classes = len(knowledge.classes)
        counts = np.bincount(knowledge.labels, minlength=classes)
        rarity = len(knowledge.labels) / (classes * np.maximum(counts, 1))
        weights = torch.from_numpy(rarity.astype(np.float32)).to(self.device_) if self.balanced else None
        model = perceptron(self.scaler_.width, [], classes).to(self.device_)

        def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
            chosen = torch.from_numpy(rows).to(self.device_)
            return functional.cross_entropy(model(inputs[chosen]), labels[chosen], weight=weights)

        self.log_ = train(
            model,
            loss_of,
            n=len(labels),
            epochs=self.epochs,
            min_steps=self.min_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            rng=generator(self.seed, "batches"),
        )
        self.model_ = model
        return self

    def run(self, vectors: Vectors) -> AttributeGuess:
        """Log-probabilities of the classes."""
        import torch

        with torch.no_grad():
            inputs = torch.from_numpy(self.scaler_.transform(vectors)).to(self.device_)
            scores: AttributeGuess = torch.log_softmax(self.model_(inputs).double(), dim=1).cpu().numpy()
        return scores
