"""A secret rotation found from leaked pairs: orthogonal Procrustes (Schönemann 1966).

Somebody who knows texts of some stored vectors has them encoded and holds both ends of the map. With as many pairs as
dimensions the rotation follows exactly; with fewer, what lies in their span does.

Cost: one singular value decomposition.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.defenses.alignment import procrustes
from unembed.defenses.base import dense
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.recovery import RecoveryGuess, RecoveryKnowledge
from unembed.games.threat import Capability
from unembed.params import Parametrised
from unembed.seeds import generator


class Procrustes(Parametrised):
    """The rotation that brings known stored vectors nearest to their plain ones."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="recovery/procrustes",
        game="recovery",
        title="Finding a secret rotation from leaked pairs",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES, Capability.SHADOW_CORPUS, Capability.PAIRS}),
        cost="seconds",
    )

    pairs: int | None = None
    seed: int = 0

    def fit(self, knowledge: RecoveryKnowledge) -> Self:
        """Learn the rotation."""
        if self.pairs is not None and self.pairs < 1:
            raise UsageError(f"pairs of the attack 'recovery/procrustes' are at least 1, not {self.pairs}")
        if knowledge.pairs is None:
            raise CannotMeasureError("not applicable: this adversary holds no stored vector of a text of its own")
        rows = generator(self.seed, "pairs").permutation(int(knowledge.vectors.shape[0]))[: self.pairs]
        self.rotation_ = procrustes(knowledge.pairs[rows], knowledge.vectors[rows])
        return self

    def run(self, vectors: Vectors) -> RecoveryGuess:
        """The plain vectors."""
        return np.asarray(dense(vectors, "a secret map") @ self.rotation_, dtype=np.float32)
