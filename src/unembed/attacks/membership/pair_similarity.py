"""Song and Raghunathan, Algorithm 5 without its learned part: neighbours in a training text are like each other.

    Δ = { δ(Φ(x_i), Φ(x_i+1)) } ,   member if the mean of Δ is at least τ_m

with the dot product for δ. One pair is the paper's context level, many of one document its aggregate level.
"""

from __future__ import annotations

from typing import ClassVar

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.context_attacks import ByThreshold
from unembed.attacks.membership.similarity import lengths, mean_over_known, products
from unembed.encoders.base import Vectors
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray


class PairSimilarity(ByThreshold):
    """The mean dot product of neighbouring sentences against a threshold."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/pair-similarity",
        game="membership-pair",
        title="How like each other neighbouring sentences are",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES, Capability.LABELS}),
        cost="seconds",
        paper="song2020",
        section="Algorithm 5, section 5.2",
        departures="The paper does not say how τ_m is found: it is the threshold with most true above false positives "
        "among the adversary's own pairs. A pair with a sentence of which the model knows no word is left out of Δ. A "
        "dimension a hundred times larger than the others is brought down to their size.",
    )

    def _scores(self, vectors: Vectors) -> FloatArray:
        sentences = self.parts_.of(vectors)
        pairs = list(zip(sentences[::2], sentences[1::2], strict=True))
        known = [(lengths(a) > 0) & (lengths(b) > 0) for a, b in pairs]
        return mean_over_known([products(a, b) for a, b in pairs], known)
