"""A perceptron with one layer of sigmoid units, which tells classes from vectors (Pan 2020, Appendices A and D)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.nn.features import InputRows, Standardiser
from unembed.nn.trained import Trained


class SigmoidPerceptron(Trained):
    """(d-200-k). The paper names no more; Adam at 0.001, batches of 64, standardised inputs."""

    hidden: int = 200
    min_steps: int = 500

    def learn(self, vectors: Any, labels: NDArray[np.int64], classes: int) -> None:
        """Learn the label of each vector, a number below ``classes``."""
        import torch
        from torch import nn
        from torch.nn import functional

        self._start()
        self.scaler_ = Standardiser().fit(vectors)
        inputs = InputRows(self.scaler_, vectors, None, self.device_)
        answers = torch.from_numpy(labels).to(self.device_)
        layers = (nn.Linear(self.scaler_.width, self.hidden), nn.Sigmoid(), nn.Linear(self.hidden, classes))
        model = nn.Sequential(*layers).to(self.device_)

        def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
            return functional.cross_entropy(model(inputs[rows]), answers[torch.from_numpy(rows).to(self.device_)])

        self._train(model, loss_of, len(labels))

    def log_probabilities(self, vectors: Any) -> NDArray[np.float64]:
        """Of every class, for each vector."""
        import torch

        said: NDArray[np.float64] = torch.log_softmax(self._said(vectors).double(), dim=1).cpu().numpy()
        return said
