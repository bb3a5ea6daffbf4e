"""The two ways in which contexts are judged: a score against a threshold, and a classifier of a few numbers.

Both are learnt from contexts of which the adversary knows whether the model learnt from them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from unembed.attacks.membership.similarity import Parts, said_from, separating
from unembed.encoders.base import Vectors
from unembed.games.contexts import ContextKnowledge
from unembed.games.in_or_out import InOrOutGuess
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised


class ByThreshold(Parametrised):
    """One score per context, and the threshold that separates the adversary's own best."""

    seed: int = 0

    def fit(self, knowledge: ContextKnowledge) -> Self:
        """Choose the threshold."""
        self.parts_ = Parts(knowledge.vectors, knowledge.parts)
        self.threshold_ = separating(self._scores(knowledge.vectors), knowledge.members)
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The score, and whether it reaches the threshold."""
        return said_from(self._scores(vectors), self.threshold_)

    @abstractmethod
    def _scores(self, vectors: Vectors) -> FloatArray:
        """Larger for contexts that look learnt from."""


class ByClassifier(Parametrised):
    """A few numbers per context, weighed by a logistic classifier that ``penalty`` holds back."""

    penalty: float = 10.0
    seed: int = 0

    def fit(self, knowledge: ContextKnowledge) -> Self:
        """Learn how to weigh."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.parts_ = Parts(knowledge.vectors, knowledge.parts)
        self._prepare(knowledge.vectors)
        told = self._told(knowledge.vectors)
        self.reader_: Any = make_pipeline(StandardScaler(), LogisticRegression(C=1 / self.penalty, max_iter=1000))
        self.reader_.fit(told, knowledge.members)
        self.threshold_ = separating(self.reader_.decision_function(told), knowledge.members)
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The classifier's score, and whether it reaches the threshold."""
        return said_from(self.reader_.decision_function(self._told(vectors)), self.threshold_)

    def _prepare(self, vectors: Vectors) -> None:
        """What is learnt of the adversary's vectors before any number is taken; nothing, unless a reader says so."""

    @abstractmethod
    def _told(self, vectors: Vectors) -> FloatArray:
        """The numbers of each context, one row each."""
