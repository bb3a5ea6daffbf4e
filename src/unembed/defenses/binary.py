"""One bit a number: on which side of the middle it lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from unembed.defenses.base import DefenseFacts
from unembed.defenses.formats import Format, Writer
from unembed.defenses.tiles import as_rows, usable_tiles
from unembed.encoders.base import DenseVectors, Vectors

_SIGN, _ONE = np.uint32(0x80000000), np.uint32(0x3F800000)


class Binary(Format):
    """Each number as its sign, 1 or -1, after the means of the dimensions were taken off if ``centre``."""

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="binary", title="One bit a number")

    centre: bool = True

    def stored_bytes(self, dimension: int) -> float:
        """Eight numbers a byte."""
        return float(-(-dimension // 8))

    def learn(self, rows: DenseVectors) -> None:
        """The middle of each dimension, and how far from it its numbers lie."""
        middle = rows.mean(axis=0, dtype=np.float64) if self.centre else np.zeros(self.dimension_)
        self.centre_ = middle.astype(np.float32)
        far = np.zeros(self.dimension_)
        for place in usable_tiles(self.facts.name, rows):
            far += np.abs(rows[place] - self.centre_).sum(axis=0, dtype=np.float64)
        self.distance_ = (far / len(rows)).astype(np.float32)

    def writer(self, most: int) -> Writer:
        """The sign bit of the difference, with the other bits of 1."""
        shift = np.tile(np.float32(0) - self.centre_, (most, 1))

        def write(rows: DenseVectors, out: DenseVectors) -> None:
            bits = out.view(np.uint32)
            np.add(rows, shift[: len(rows)], out=out)  # also with no centre: it makes zero of minus zero
            np.bitwise_and(bits, _SIGN, out=bits)
            np.bitwise_or(bits, _ONE, out=bits)

        return write

    def inverse(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Each number as far from the middle as the numbers of its dimension are on average."""
        rows = as_rows(self.facts.name, vectors, self.dimension_)
        made = rows * self.distance_
        made += self.centre_
        return made
