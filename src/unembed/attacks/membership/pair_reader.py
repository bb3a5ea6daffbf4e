"""Ours: neighbours that were learnt from are alike beyond what the sentences of their document are anyway.

A book whose sentences are all alike has similar neighbours without any model having seen it, and a dot product is large
where vectors are long, which they are for long or rare sentences. So three numbers of each run are weighed by a
logistic classifier: the mean cosine of neighbours, how alike all its sentences are, and how long their vectors are.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.context_attacks import ByClassifier
from unembed.attacks.membership.similarity import (
    cosines,
    lengths,
    mean_over_known,
    products,
)
from unembed.encoders.base import Vectors
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray


class PairReader(ByClassifier):
    """A logistic classifier of likeness of neighbours, likeness of all, and length."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/pair-reader",
        game="membership-pair",
        title="How much more alike neighbours are than other sentences of their document",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES, Capability.LABELS}),
        cost="seconds",
    )

    def _told(self, vectors: Vectors) -> FloatArray:
        sentences = self.parts_.of(vectors)
        first, second = sentences[::2], sentences[1::2]
        long = [lengths(sentence) for sentence in sentences]
        there = [length > 0 for length in long]
        pairs = [cosines(a, b) for a, b in zip(first, second, strict=True)]
        neighbours = mean_over_known(pairs, [a & b for a, b in zip(there[::2], there[1::2], strict=True)])
        # Sentences in the middle of a run stand in two pairs; each counts once.
        once = [*range(0, len(sentences), 2), len(sentences) - 1]
        middle: Any = sum(scaled(sentences[row], long[row]) for row in once)
        alike = np.sqrt(products(middle, middle)) / np.maximum(np.sum([there[row] for row in once], axis=0), 1)
        size = mean_over_known([np.log(np.maximum(long[row], 1e-12)) for row in once], [there[row] for row in once])
        return np.stack([neighbours, alike, size], axis=1)


def scaled(vectors: Vectors, long: FloatArray) -> Any:
    """Rows at length 1; zeros stay zeros."""
    from scipy.sparse import diags, issparse

    factors = np.divide(1, long, out=np.zeros(len(long)), where=long > 0)
    return diags(factors) @ vectors if issparse(vectors) else np.asarray(vectors) * factors[:, None]
