"""Numbers in one byte each: 256 even steps over a range that is learnt."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import DefenseFacts
from unembed.defenses.formats import Format, Writer
from unembed.encoders.base import DenseVectors
from unembed.errors import UsageError

#: Steps between the lowest and the highest number; one of the 255 is left, because the lowest is put on a whole step.
_STEPS = 254
#: Numbers that quantiles are learnt from; of more, those of evenly spaced rows.
_SEEN = 1 << 25


class Int8(Format):
    """Each number as one of 256 even steps over the range of its dimension, or over one range for all of them.

    ``quantile`` is the share of the numbers that the range spans; what lies outside is clipped to its ends. 1: the
    whole range of the owner's vectors. A range below 3e-36, whose steps float32 can't divide by, is stored as its
    lowest number.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="int8", title="Numbers in one byte each")

    scales: Literal["dimension", "one"] = "dimension"
    quantile: float = 1.0

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if self.scales not in ("dimension", "one"):
            raise UsageError(f"'scales' of the defense 'int8' is 'dimension' or 'one', not '{self.scales}'")
        if not 0 < self.quantile <= 1:
            raise UsageError(f"'quantile' of the defense 'int8' lies above 0 and is at most 1, not {self.quantile}")

    def stored_bytes(self, dimension: int) -> float:
        """One byte a number."""
        return float(dimension)

    def learn(self, rows: DenseVectors) -> None:
        """The range of the numbers, and the steps that span it."""
        low, high = self._range(rows)
        step = (high - low) / _STEPS
        # What varies by less than float32 can divide by is taken for constant.
        even = step > 2.0**-126
        self.step_ = np.where(even, step, 0.0).astype(np.float32)
        self.lowest_ = np.where(even, np.rint(low / np.where(even, step, 1.0)), 0.0).astype(np.float32)
        self.constant_ = np.where(even, 0.0, low).astype(np.float32)

    def _range(self, rows: DenseVectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        together = None if self.scales == "one" else 0
        if self.quantile == 1:
            ends = rows.min(axis=together), rows.max(axis=together)
        else:
            some = rows[:: -(-rows.size // _SEEN)]
            outside = (1 - self.quantile) / 2
            low, high = np.quantile(some, (outside, 1 - outside), axis=together)
            ends = low, high
        low, high = (np.broadcast_to(np.asarray(end, dtype=np.float64), (self.dimension_,)) for end in ends)
        return low, high

    def writer(self, most: int) -> Writer:
        """The learnt numbers once per row of a tile: operations on equal shapes are faster than on repeated rows."""
        step, lowest, constant = (np.tile(part, (most, 1)) for part in (self.step_, self.lowest_, self.constant_))
        with np.errstate(divide="ignore"):
            inverse = np.where(step > 0, 1 / step, 0).astype(np.float32)
        highest = lowest + np.float32(255)
        some_constant = bool(self.constant_.any())

        def write(rows: DenseVectors, out: DenseVectors) -> None:
            count = len(rows)
            with np.errstate(over="ignore"):  # what is so far outside the range is clipped
                np.multiply(rows, inverse[:count], out=out)
            np.rint(out, out=out)
            np.maximum(out, lowest[:count], out=out)
            np.minimum(out, highest[:count], out=out)
            np.multiply(out, step[:count], out=out)
            if some_constant:
                np.add(out, constant[:count], out=out)

        return write
