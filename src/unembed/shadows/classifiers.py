"""Classifiers on vectors, trained over and over on samples of them: what attacks on classifiers learn from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import UnknownNameError
from unembed.nn.features import Standardiser
from unembed.params import Parametrised, Params
from unembed.shadows.base import IntArray

#: Probabilities of all classes for vectors: all that whoever may ask a classifier gets to see (Corò 3.3).
Answers: TypeAlias = Callable[[Vectors], NDArray[np.float64]]
Kind: TypeAlias = Literal["perceptron", "linear"]
KINDS: tuple[Kind, ...] = ("perceptron", "linear")


class ClassifierTrainer(Protocol):
    """Trains one classifier after another; equal vectors, labels and seed give equal answers on one machine."""

    @property
    def identity(self) -> Params:
        """Its name, version and settings."""
        ...

    def train(self, vectors: Vectors, labels: IntArray, classes: int, seed: int) -> Answers:
        """A classifier of labels below ``classes``, some of which these vectors may not have."""
        ...


class PerceptronTrainer(Parametrised):
    """One hidden layer of sigmoid units, Adam at 0.001, batches of 64: a usual classifier on sentence vectors."""

    hidden: int = 200
    epochs: int = 30
    min_steps: int = 500

    @property
    def identity(self) -> Params:
        """Its name, version and settings."""
        return {"classifier": "perceptron", "version": 1, **self.get_params()}

    def train(self, vectors: Vectors, labels: IntArray, classes: int, seed: int) -> Answers:
        """A classifier of labels below ``classes``."""
        from unembed.nn.perceptron import SigmoidPerceptron

        made = SigmoidPerceptron(**self.get_params(), device="cpu", seed=seed)
        made.learn(vectors, labels, classes)
        return lambda asked: np.exp(made.log_probabilities(asked))


class LinearTrainer(Parametrised):
    """Softmax regression on standardised vectors, solved to its optimum, with an L2 penalty of 1/``strength``."""

    strength: float = 1.0

    @property
    def identity(self) -> Params:
        """Its name, version and settings."""
        return {"classifier": "linear", "version": 1, **self.get_params()}

    def train(self, vectors: Vectors, labels: IntArray, classes: int, seed: int) -> Answers:
        """A classifier of labels below ``classes``; the seed decides nothing."""
        from sklearn.linear_model import LogisticRegression

        scaler = Standardiser().fit(vectors)
        model = LogisticRegression(C=self.strength, max_iter=500).fit(scaler.transform(vectors), labels)

        def answer(asked: Vectors) -> NDArray[np.float64]:
            shares = np.zeros((int(asked.shape[0]), classes))
            shares[:, model.classes_] = model.predict_proba(scaler.transform(asked))
            return shares

        return answer


def classifier_trainer(kind: str, **params: Any) -> ClassifierTrainer:
    """A trainer by name."""
    if kind not in KINDS:
        raise UnknownNameError("classifier", kind, KINDS)
    return PerceptronTrainer(**params) if kind == "perceptron" else LinearTrainer(**params)
