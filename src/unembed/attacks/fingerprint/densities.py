"""Signatures as an adversary of the fingerprint game: one density for each candidate, and "none of those" (ours).

What ``unembed fingerprint`` does with its file of signatures, done with those learnt from the vectors that are dealt.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.fingerprint.directions import directions_and_rows
from unembed.attacks.fingerprint.identify import FALSE_ALARM
from unembed.attacks.fingerprint.learning import learn_from_vectors
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.games.fingerprint import SETS, FingerprintGuess, FingerprintKnowledge
from unembed.games.threat import Capability
from unembed.nn.features import check_vectors
from unembed.params import Parametrised


class EncoderSignatures(Parametrised):
    """A signature for each candidate; a set of vectors is named if it scores higher than strangers' sets do."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="fingerprint/signatures",
        game="fingerprint",
        title="Which encoder, by a signature of each candidate, or none of them",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
    )

    false_alarm: float = FALSE_ALARM
    seed: int = 0

    def fit(self, knowledge: FingerprintKnowledge) -> Self:
        """Learn every candidate's signature by itself."""
        if not 0 < self.false_alarm < 0.5:
            raise UsageError(f"a false-alarm rate lies between 0 and 0.5, not at {self.false_alarm}")
        self.signatures_ = [
            learn_from_vectors(name, [knowledge.vectors[np.flatnonzero(knowledge.labels == i)]])
            for i, name in enumerate(knowledge.encoders)
        ]
        return self

    def run(self, vectors: Vectors) -> FingerprintGuess:
        """Log densities; a vector of zeros, which has no direction, speaks for nobody: all score as low on it."""
        check_vectors(vectors, self.signatures_[0].dimension)
        lowest = min(level.mean for s in self.signatures_ for level in s.strangers)
        scores = np.full((int(vectors.shape[0]), len(self.signatures_)), lowest)
        rows, alive = directions_and_rows(vectors)
        scores[alive] = np.stack([s.score_directions(rows) for s in self.signatures_], axis=1)
        needed = np.array([[s.needed(n, self.false_alarm) for s in self.signatures_] for n in SETS])
        return FingerprintGuess(scores, needed)
