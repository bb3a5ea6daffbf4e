"""Ours: the candidate whose own vector is nearest.

The candidates are encoded; similarity is the cosine after each dimension was scaled to the same spread over the
candidates. Nothing is learnt from pairs. Sparse vectors are compared as they are.

Cost: one query per candidate, and one product of vectors and candidates.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from unembed.attacks.base import AttackFacts
from unembed.collections.nearest import unit_rows
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.candidates import CandidatesGuess, CandidatesKnowledge
from unembed.games.threat import Capability
from unembed.nn.features import Standardiser
from unembed.params import Parametrised


class Similarities:
    """Cosines of vectors with fixed ones, each dimension scaled by how it varies among those."""

    def __init__(self, fixed: Any) -> None:
        self.scaler = None if issparse(fixed) else Standardiser().fit(fixed)
        self.fixed = unit_rows(self._placed(fixed))

    def _placed(self, vectors: Any) -> Any:
        return vectors if self.scaler is None else self.scaler.transform(vectors)

    def of(self, vectors: Any) -> CandidatesGuess:
        """One row per vector, one column per fixed one."""
        found = unit_rows(self._placed(vectors)) @ self.fixed.T
        return np.asarray(found.todense() if issparse(found) else found, dtype=np.float32)


class CandidateSimilarity(Parametrised):
    """Ranks candidates by the similarity of their vectors."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="candidates/similarity",
        game="candidates",
        title="Ranking candidate texts by the similarity of their vectors",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES}),
        cost="seconds",
    )

    seed: int = 0

    def fit(self, knowledge: CandidatesKnowledge) -> Self:
        """Keep the candidates' vectors."""
        if knowledge.encoded is None:
            raise CannotMeasureError("not applicable: without the encoder no candidate can be encoded")
        self.similarities_ = Similarities(knowledge.encoded)
        return self

    def run(self, vectors: Vectors) -> CandidatesGuess:
        """One score per candidate."""
        return self.similarities_.of(vectors)
