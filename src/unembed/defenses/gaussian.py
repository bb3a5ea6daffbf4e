"""Normal noise on every number, in units of what the numbers vary by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from unembed.defenses.base import DefenseFacts, Owned, check_dimension, dense, noise
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.params import Parametrised


class Gaussian(Parametrised):
    """Adds noise whose deviation is ``scale`` times the mean deviation of a dimension over the owner's vectors.

    A record's noise is drawn once: it follows from the key and the record's id. No privacy guarantee is claimed.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="gaussian", title="Normal noise on every number", keyed="noise", version=2
    )

    scale: float = 1.0
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn how much the numbers vary."""
        if not self.scale >= 0:
            raise UsageError(f"'scale' of the defense 'gaussian' must not be negative, not {self.scale}")
        rows = dense(vectors, "noise on every number")
        self.deviation_ = float(rows.std(axis=0, dtype=np.float64).mean())
        self.dimension_ = int(rows.shape[1])
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Vectors with their records' noise."""
        check_dimension(self.facts.name, self.dimension_, vectors)
        added = noise(ids, self.dimension_, self.seed)
        added *= np.float32(self.scale * self.deviation_)
        added += dense(vectors, "noise on every number")
        return added
