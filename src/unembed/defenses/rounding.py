"""Rounding to a number of decimals (Pan 2020, VII (1))."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from unembed.defenses.base import DefenseFacts, Owned
from unembed.defenses.tiles import as_rows, usable_tiles
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.params import Parametrised

#: Decimals on either side of the point: no vector that can be measured has a number above 10^15.
_MOST = 15


class Rounding(Parametrised):
    """Keeps ``decimals`` decimals of each number and nothing else; nothing is learnt, nothing is random.

    Negative ones round before the point. The vectors are stored in as many bytes as before.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="rounding", title="Rounding to a number of decimals", paper="pan2020", section="VII (1)"
    )

    decimals: int = 1
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Nothing to learn."""
        self.check_parameters()
        return self

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if self.decimals != int(self.decimals) or abs(self.decimals) > _MOST:
            raise UsageError(
                f"'decimals' of the defense 'rounding' is a whole number from -{_MOST} to {_MOST}, not {self.decimals}"
            )

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Rounded numbers."""
        if isinstance(vectors, np.ndarray):
            rows = as_rows(self.facts.name, vectors)
            made = np.empty_like(rows)
            for place in usable_tiles(self.facts.name, rows):
                np.round(rows[place], self.decimals, out=made[place])
            return made
        if not np.isfinite(vectors.data).all():
            raise CannotMeasureError("the defense 'rounding' can't be applied: a number is NaN or infinite")
        rounded = vectors.copy()
        rounded.data = np.round(vectors.data, self.decimals)
        return rounded
