"""Song and Raghunathan, Algorithm 4: a window was learnt from if its words are like the one in their middle.

    Δ = { δ(v_w0, v_wi) | w_i ∈ C \\ {w_0} } ,   member if the mean of Δ is at least τ_m

with the cosine for δ. Words that stand together are drawn together in training, the more so the fewer other places a
word has. The threshold is the one that separates the adversary's own windows best.
"""

from __future__ import annotations

from typing import ClassVar

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.context_attacks import ByThreshold
from unembed.attacks.membership.similarity import cosines, lengths, mean_over_known
from unembed.encoders.base import Vectors
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray


class WindowSimilarity(ByThreshold):
    """The mean cosine of the middle word with its neighbours against a threshold."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/window-similarity",
        game="membership-window",
        title="How like its neighbours the middle word of a window is",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES, Capability.LABELS}),
        cost="seconds",
        paper="song2020",
        section="Algorithm 4, section 5.1",
        departures="The paper does not say how τ_m is found: it is the threshold with most true above false positives "
        "among the adversary's own windows. Neighbours that the model does not know are left out of Δ. A dimension a "
        "hundred times larger than the others is brought down to their size.",
    )

    def _scores(self, vectors: Vectors) -> FloatArray:
        middle, *others = self.parts_.of(vectors)  # w_0 and the rest of C
        return mean_over_known([cosines(middle, other) for other in others], [lengths(other) > 0 for other in others])
