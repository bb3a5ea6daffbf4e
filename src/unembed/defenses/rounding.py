"""Rounding to a number of decimals (Pan 2020, VII (1))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from unembed.defenses.base import DefenseFacts, Owned
from unembed.encoders.base import Vectors
from unembed.params import Parametrised


class Rounding(Parametrised):
    """Keeps ``decimals`` decimals of each number and nothing else; nothing is learnt, nothing is random."""

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="rounding", title="Rounding to a number of decimals", paper="pan2020", section="VII (1)"
    )

    decimals: int = 1
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Nothing to learn."""
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Rounded numbers."""
        if isinstance(vectors, np.ndarray):
            return np.round(vectors, self.decimals).astype(np.float32)
        rounded = vectors.copy()
        rounded.data = np.round(vectors.data, self.decimals)
        return rounded
