"""Ours: everything that the vectors of a window say about each other, read by a linear classifier.

Word vectors of a small corpus share a direction: rare words point there, and are like each other for that reason alone.
So cosines are taken twice, of the vectors as they are and with their mean taken away, which is that of the words in the
adversary's windows. And the words around the middle one were drawn together as well: the cosine of every two of them
counts, and how long each vector is, which says how often the model saw its word. A logistic classifier weighs these few
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import ClassVar

import numpy as np
from scipy.sparse import issparse

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.context_attacks import ByClassifier
from unembed.attacks.membership.similarity import cosines, lengths
from unembed.encoders.base import DenseVectors, Vectors
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray


class WindowReader(ByClassifier):
    """A logistic classifier of all cosines and lengths in a window."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/window-reader",
        game="membership-window",
        title="All likenesses and lengths in a window, weighed",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES, Capability.LABELS}),
        cost="seconds",
    )

    penalty: float = 20.0

    def _prepare(self, vectors: Vectors) -> None:
        self.centre_ = _mean_word(self.parts_.of(vectors))

    def _told(self, vectors: Vectors) -> FloatArray:
        """The cosine of every two words, and the logarithm of every length; 0 for words the model does not know."""
        words = self.parts_.of(vectors)
        known = [lengths(word) > 0 for word in words]
        numbers = []
        for placed in [words] if self.centre_ is None else [words, [word - self.centre_ for word in words]]:
            for a, b in combinations(range(len(words)), 2):
                numbers.append(cosines(placed[a], placed[b]) * (known[a] & known[b]))
            numbers += [np.log(np.maximum(lengths(w), 1e-9)) * there for w, there in zip(placed, known, strict=True)]
        return np.stack(numbers, axis=1)


def _mean_word(words: Sequence[Vectors]) -> DenseVectors | None:
    """The mean of the words in some windows, each counted once; None for sparse vectors, which stay as they are."""
    if issparse(words[0]):
        return None
    rows = np.concatenate([np.asarray(word) for word in words])
    return np.asarray(np.unique(rows[(rows != 0).any(axis=1)], axis=0).mean(axis=0), dtype=np.float32)
