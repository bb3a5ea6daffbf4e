"""One secret rotation of all vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from unembed.defenses.base import DefenseFacts, Owned, check_dimension, dense
from unembed.encoders.base import DenseVectors, Vectors
from unembed.params import Parametrised
from unembed.seeds import generator


class Rotation(Parametrised):
    """Turns every vector by an orthogonal matrix that follows from the key; distances stay as they are."""

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="rotation", title="One secret rotation of all vectors", keyed="map"
    )

    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn how many dimensions there are."""
        self.dimension_ = int(dense(vectors, "a rotation").shape[1])
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Turned vectors."""
        check_dimension(self.facts.name, self.dimension_, vectors)
        return np.asarray(dense(vectors, "a rotation") @ self._turn(), dtype=np.float32)

    def _turn(self) -> DenseVectors:
        drawn = generator(self.seed, "rotation").standard_normal((self.dimension_, self.dimension_))
        turn, upper = np.linalg.qr(drawn)
        return np.asarray(turn * np.sign(np.diag(upper)), dtype=np.float32)
