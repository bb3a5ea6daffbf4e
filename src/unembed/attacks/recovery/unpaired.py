"""Ours: a secret rotation found without a single pair, from the shape of the stored vectors.

The adversary has public text encoded and turns the stored vectors until both clouds of points lie alike
(``defenses.alignment``): third moments for a start, mutual nearest neighbours and Procrustes from there.

Cost: third moments along 64 directions, and the products of some ten thousand vectors of both sides in each round.
"""

from __future__ import annotations

from typing import ClassVar, Self

from unembed.attacks.base import AttackFacts
from unembed.defenses.alignment import match_unpaired
from unembed.encoders.base import Vectors
from unembed.games.recovery import RecoveryGuess, RecoveryKnowledge
from unembed.games.threat import Capability
from unembed.params import Parametrised


class Unpaired(Parametrised):
    """The turn that brings the stored vectors among the adversary's own."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="recovery/unpaired",
        game="recovery",
        title="Finding a secret rotation from the shape of the vectors alone",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES}),
        cost="minutes",
    )

    rounds: int = 5
    most: int = 30_000
    seed: int = 0

    def fit(self, knowledge: RecoveryKnowledge) -> Self:
        """Find the turn."""
        self.alignment_ = match_unpaired(
            knowledge.vectors, knowledge.stored, seed=self.seed, rounds=self.rounds, most=self.most
        )
        return self

    def run(self, vectors: Vectors) -> RecoveryGuess:
        """The plain vectors."""
        return self.alignment_.back(vectors)
