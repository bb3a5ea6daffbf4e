"""Ours: everything that the vectors of a window say about each other, read by a linear classifier.

Word vectors of a small corpus share a direction: rare words point there, and are like each other for that reason alone.
So each dimension is brought to mean 0 and variance 1, over the words of the adversary's windows, before cosines are
taken. And the words around the middle one were drawn together as well: the cosine of every two of them counts, and how
long each vector is, which says how often the model saw its word. A logistic classifier weighs these few numbers.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.similarity import cosines, lengths, said_from, separating
from unembed.encoders.base import Vectors
from unembed.games.contexts import ContextKnowledge, knows, row_parts
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.rows import stack_rows
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.nn.features import Standardiser, check_vectors
from unembed.params import Parametrised


class WindowReader(Parametrised):
    """A logistic classifier of all cosines and lengths in a window."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/window-reader",
        game="membership-window",
        title="All likenesses and lengths in a window, weighed",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES, Capability.LABELS}),
        cost="seconds",
    )

    penalty: float = 20.0
    seed: int = 0

    def fit(self, knowledge: ContextKnowledge) -> Self:
        """Learn how to weigh."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        vectors, self.parts_ = knowledge.vectors, knowledge.parts
        check_vectors(vectors)
        self.width_ = int(vectors.shape[1])
        words = stack_rows(row_parts(vectors, self.parts_))
        self.scaler_ = None if issparse(vectors) else Standardiser().fit(words[np.flatnonzero(knows(words))])
        told = self._told(vectors)
        self.reader_: Any = make_pipeline(StandardScaler(), LogisticRegression(C=1 / self.penalty, max_iter=1000))
        self.reader_.fit(told, knowledge.members)
        self.threshold_ = separating(self.reader_.decision_function(told), knowledge.members)
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The classifier's score, and whether it reaches the threshold."""
        return said_from(self.reader_.decision_function(self._told(vectors)), self.threshold_)

    def _told(self, vectors: Vectors) -> FloatArray:
        """The cosine of every two words, and the logarithm of every length; 0 for words the model does not know."""
        check_vectors(vectors, self.width_)
        words = row_parts(vectors, self.parts_)
        known = [lengths(word) > 0 for word in words]
        if self.scaler_ is not None:
            words = [self.scaler_.transform(word) for word in words]
        alike = [cosines(words[a], words[b]) * (known[a] & known[b]) for a, b in combinations(range(self.parts_), 2)]
        long = [np.log(np.maximum(lengths(w), 1e-9)) * there for w, there in zip(words, known, strict=True)]
        return np.stack([*alike, *long], axis=1)
