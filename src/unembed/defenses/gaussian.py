"""Normal noise on every number, in units of what the numbers vary by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from unembed.defenses.base import DefenseFacts, noise
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.params import Parametrised


class Gaussian(Parametrised):
    """Adds noise whose deviation is ``scale`` times the mean deviation of a dimension over the owner's vectors.

    A record's noise is drawn once: it follows from the key and the record's id. No privacy guarantee is claimed.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="gaussian", title="Normal noise on every number")

    scale: float = 1.0
    seed: int = 0

    def fit(self, vectors: Vectors) -> Self:
        """Learn how much the numbers vary."""
        if issparse(vectors):
            raise CannotMeasureError("not applicable: noise on every number of a sparse vector would fill it")
        self.deviation_ = float(np.asarray(vectors, dtype=np.float64).std(axis=0).mean())
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Vectors with their records' noise."""
        drawn = noise(ids, int(vectors.shape[1]), self.seed)
        return np.asarray(vectors + self.scale * self.deviation_ * drawn, dtype=np.float32)
