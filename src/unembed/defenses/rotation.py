"""A secret rotation: all distances stay, and what a number means is known to whoever has the key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import DefenseFacts, Owned
from unembed.defenses.tiles import product, rows_to_learn_from, usable_rows
from unembed.encoders.base import Vectors
from unembed.params import Parametrised
from unembed.seeds import generator


class Rotation(Parametrised):
    """All vectors times one random orthogonal matrix, drawn evenly among all of them; it follows from the key alone.

    Queries are rotated with the same key, so a search finds what it found before. Whoever holds some vectors before and
    after can work the matrix out.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="rotation", title="A secret rotation", keyed="map")

    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Nothing to learn but the dimension."""
        self.dimension_ = int(rows_to_learn_from(self.facts.name, vectors).shape[1])
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Rotated vectors."""
        rows = usable_rows(self.facts.name, vectors, self.dimension_)
        return product(rows, orthogonal(self.seed, self.dimension_))

    def inverse(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Vectors rotated back."""
        rows = usable_rows(self.facts.name, vectors, self.dimension_)
        return product(rows, orthogonal(self.seed, self.dimension_).T)


@lru_cache(maxsize=4)
def orthogonal(key: int, dimension: int) -> NDArray[np.float32]:
    """The orthogonal matrix of a key; it is kept outside the defense, which is copied to other keys and saved without.

    The factor Q of a normal matrix is even among all orthogonal ones once the signs of R's diagonal are put into it
    (Mezzadri 2007, "How to generate random matrices from the classical compact groups").
    """
    drawn = generator(key, "rotation", dimension).standard_normal((dimension, dimension))
    factor, triangle = np.linalg.qr(drawn)
    made: NDArray[np.float32] = (factor * np.copysign(1.0, np.diag(triangle))).astype(np.float32)
    made.flags.writeable = False
    return made
