"""Fewer dimensions: the first ones, or the principal components."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import DefenseFacts, Owned
from unembed.defenses.tiles import ROWS, kept_dimensions, product, rows_to_learn_from, usable_rows
from unembed.encoders.base import DenseVectors, Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.params import Parametrised


class Truncation(Parametrised):
    """Keeps ``components`` numbers per vector: so many, or below 1 a share of them.

    ``kind``: the "first" dimensions, as encoders offer that were trained for it, or coordinates along the "principal"
    directions of all the owner's vectors, after their mean was taken off.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="truncation", title="Fewer dimensions")

    components: float = 0.5
    kind: Literal["first", "principal"] = "first"
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn the mean and, for principal components, the directions."""
        self.check_parameters()
        rows = rows_to_learn_from(self.facts.name, vectors)
        self.dimension_ = int(rows.shape[1])
        kept = self.stored_dimension(self.dimension_)
        mean = rows.mean(axis=0, dtype=np.float64)
        self.mean_ = mean.astype(np.float32)
        if self.kind == "principal":
            if len(rows) <= kept:
                raise CannotMeasureError(
                    f"the defense 'truncation' needs more vectors than the {kept:,} principal components it keeps, not "
                    f"{len(rows):,}"
                )
            self.directions_ = _principal(rows, mean, kept)
        return self

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if self.kind not in ("first", "principal"):
            raise UsageError(f"'kind' of the defense 'truncation' is 'first' or 'principal', not '{self.kind}'")

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Vectors of ``components`` numbers."""
        rows = usable_rows(self.facts.name, vectors, self.dimension_)
        if self.kind == "principal":
            return product(rows, self.directions_, less=self.mean_)
        return np.ascontiguousarray(rows[:, : self.stored_dimension(self.dimension_)])

    def inverse(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Vectors of the dimension they came with; what was left out is as it is on average."""
        rows = usable_rows(self.facts.name, vectors, self.stored_dimension(self.dimension_))
        if self.kind == "principal":
            made = product(rows, self.directions_.T)
            made += self.mean_
            return made
        return np.concatenate([rows, np.tile(self.mean_[rows.shape[1] :], (len(rows), 1))], axis=1)

    def stored_bytes(self, dimension: int) -> float:
        """Four bytes for each number that is kept."""
        return 4.0 * self.stored_dimension(dimension)

    def stored_dimension(self, dimension: int) -> int:
        """How many numbers are kept."""
        return kept_dimensions(self.facts.name, self.components, dimension)


def _principal(rows: DenseVectors, mean: NDArray[np.float64], kept: int) -> NDArray[np.float32]:
    """Directions of the largest variance, as columns, each with its largest number positive."""
    products = np.zeros((rows.shape[1], rows.shape[1]))
    for start in range(0, len(rows), ROWS):
        centred = rows[start : start + ROWS] - mean
        products += centred.T @ centred
    _, directions = np.linalg.eigh(products)
    found = directions[:, : -kept - 1 : -1]
    largest = np.take_along_axis(found, np.abs(found).argmax(axis=0)[None], axis=0)
    made: NDArray[np.float32] = (found * np.copysign(1.0, largest)).astype(np.float32)
    return made
