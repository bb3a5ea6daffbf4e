"""What vector stores do to numbers to save room: what the formats have in common.

A format is measured as a search sees it: the numbers that were kept in fewer bits come back as float32. Nothing of it
is random, so no key decides anything.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import ClassVar, Self, TypeAlias

import numpy as np

from unembed.defenses.base import DefenseFacts, Owned
from unembed.defenses.tiles import as_rows, rows_to_learn_from, tile_rows, usable_tiles
from unembed.encoders.base import DenseVectors, Vectors
from unembed.params import Parametrised

#: Writes what comes back for the rows of the first array into the second.
Writer: TypeAlias = Callable[[DenseVectors, DenseVectors], object]


class Format(Parametrised, ABC):
    """A format of numbers: it may learn from the owner's vectors, then writes tile after tile."""

    facts: ClassVar[DefenseFacts]
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn what the format needs."""
        self.check_parameters()
        rows = rows_to_learn_from(self.facts.name, vectors)
        self.dimension_ = int(rows.shape[1])
        self.learn(rows)
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """The numbers as they come back from the store."""
        rows = as_rows(self.facts.name, vectors, self.dimension_)
        made = np.empty_like(rows)
        step = self.rows_at_once()
        write = self.writer(min(len(rows), step))
        for place in usable_tiles(self.facts.name, rows, step):
            write(rows[place], made[place])
        return made

    def inverse(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """What comes back from the store is as near as anybody gets."""
        return vectors

    @abstractmethod
    def stored_bytes(self, dimension: int) -> float:
        """Bytes of one stored vector."""

    def stored_dimension(self, dimension: int) -> int:
        """Every dimension is kept."""
        return dimension

    def rows_at_once(self) -> int:
        """Rows of a tile."""
        return tile_rows(self.dimension_)

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""

    @abstractmethod
    def learn(self, rows: DenseVectors) -> None:
        """Set what is learnt."""

    @abstractmethod
    def writer(self, most: int) -> Writer:
        """What turns tiles of at most so many rows into what comes back."""
