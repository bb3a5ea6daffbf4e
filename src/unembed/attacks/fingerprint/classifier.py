"""The classifier of Pan, Appendix D: a perceptron from vectors of one dimension to the encoder that made them.

It must be trained on vectors of all candidates at once and calls everything by one of their names; the signatures
beside it do without both. It stands here to be compared with.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unembed.errors import UsageError
from unembed.nn.device import pick_device
from unembed.nn.features import Standardiser
from unembed.params import Parametrised
from unembed.seeds import generator, seed_for


class EncoderClassifier(Parametrised):
    """(d-200-k) with sigmoid units. The paper names no more; Adam at 0.001, batches of 64, standardised inputs."""

    def __init__(
        self,
        *,
        hidden: int = 200,
        epochs: int = 30,
        batch_size: int = 64,
        learning_rate: float = 1e-3,
        min_steps: int = 500,
        device: str = "auto",
        seed: int = 0,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.min_steps = min_steps
        self.device = device
        self.seed = seed

    def fit(self, vectors: Mapping[str, Any]) -> Self:
        """Learn from dense vectors of every candidate, all of one dimension."""
        import torch
        from torch.nn import functional

        from unembed.nn.modules import perceptron
        from unembed.nn.training import train

        widths = {int(v.shape[1]) for v in vectors.values()}
        if len(vectors) < 2 or len(widths) != 1:
            raise UsageError("a classifier of encoders needs two or more of one dimension")
        self.names_ = tuple(vectors)
        stacked = np.concatenate(list(vectors.values()))
        self.device_ = pick_device(self.device)
        torch.manual_seed(seed_for(self.seed, "weights") % 2**32)
        self.scaler_ = Standardiser().fit(stacked)
        inputs = torch.from_numpy(self.scaler_.transform(stacked)).to(self.device_)
        numbers = np.repeat(np.arange(len(vectors)), [len(v) for v in vectors.values()])
        labels = torch.from_numpy(numbers).to(self.device_)
        model = perceptron(widths.pop(), [self.hidden], len(vectors), activation="sigmoid").to(self.device_)

        def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
            chosen = torch.from_numpy(rows).to(self.device_)
            return functional.cross_entropy(model(inputs[chosen]), labels[chosen])

        train(
            model,
            loss_of,
            n=len(labels),
            epochs=self.epochs,
            min_steps=self.min_steps,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            rng=generator(self.seed, "batches"),
        )
        self.model_ = model
        return self

    def log_probabilities(self, vectors: Any) -> NDArray[np.float64]:
        """One row a vector, one column a name of ``names_``; sums over rows are the evidence of a set."""
        import torch

        with torch.no_grad():
            inputs = torch.from_numpy(self.scaler_.transform(vectors)).to(self.device_)
            found: NDArray[np.float64] = torch.log_softmax(self.model_(inputs).double(), dim=1).cpu().numpy()
        return found

    def hidden_layer(self, vectors: Any) -> NDArray[np.float64]:
        """What the hidden units say of each vector (Pan Fig. 9b)."""
        import torch

        with torch.no_grad():
            inputs = torch.from_numpy(self.scaler_.transform(vectors)).to(self.device_)
            found: NDArray[np.float64] = self.model_[1](self.model_[0](inputs)).double().cpu().numpy()
        return found
