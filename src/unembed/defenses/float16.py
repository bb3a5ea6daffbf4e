"""Numbers in half precision, as most vector stores offer."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from unembed.defenses.base import DefenseFacts
from unembed.defenses.formats import Format, Writer
from unembed.defenses.tiles import usable_tiles
from unembed.encoders.base import DenseVectors
from unembed.errors import CannotMeasureError

#: From here on a number rounds to infinity; below the second, steps are even (IEEE 754, binary16).
_OVERFLOW, _SUBNORMAL = 65520.0, np.float32(2.0**-14)
#: float32 keeps 13 bits more: x * (2^13 + 1) less its difference to x is x without them, rounded to the nearest.
_SPLIT = np.float32(2**13 + 1)
#: Numbers near it lie as far apart as the smallest ones of half precision.
_ANCHOR = np.float32(0.75)


class Float16(Format):
    """Each number rounded to the nearest one of half precision; vectors with larger numbers than it has are refused."""

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="float16", title="Numbers in half precision")

    def stored_bytes(self, dimension: int) -> float:
        """Two bytes a number."""
        return 2.0 * dimension

    def learn(self, rows: DenseVectors) -> None:
        """Nothing is learnt; what can't be stored is found before anything is measured."""
        for place in usable_tiles(self.facts.name, rows):
            _check_range(rows[place])

    def writer(self, most: int) -> Writer:
        """Rounds in float32 operations, which take half the time of numpy's own conversion there and back."""
        rest = np.empty((most, self.dimension_), dtype=np.float32)
        small = np.empty(rest.shape, dtype=np.bool_)

        def write(rows: DenseVectors, out: DenseVectors) -> None:
            _check_range(rows)
            part, tiny = rest[: len(rows)], small[: len(rows)]
            np.abs(rows, out=part)
            np.less(part, _SUBNORMAL, out=tiny)
            np.multiply(rows, _SPLIT, out=out)
            np.subtract(out, rows, out=part)
            np.subtract(out, part, out=out)
            if len(places := np.flatnonzero(tiny)):
                out.reshape(-1)[places] = (rows.reshape(-1)[places] + _ANCHOR) - _ANCHOR

        return write


def _check_range(rows: DenseVectors) -> None:
    # The sum of squares bounds every number, and is large only where some may be.
    if np.vdot(rows, rows) >= _OVERFLOW**2 and (large := float(np.abs(rows).max())) >= _OVERFLOW:
        raise CannotMeasureError(
            f"the defense 'float16' can't hold a number of {large:.3g}, as half precision ends at 65504: scale the "
            "vectors down"
        )
