"""The training side: which texts the encoder itself learnt from.

Vectors of texts that an encoder was trained on can give away more than others, and whether a text was among them is a
question of its own. What is kept is a digest per text, so that the side can travel to workers without its texts.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

#: The column that says where a text stood among those that were read: neighbours are one apart.
POSITION = "#position"


@dataclass(frozen=True)
class TrainingSide:
    """The texts that an encoder was trained or fitted on, by digest."""

    digests: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Self:
        """The side made of these texts."""
        return cls(frozenset(map(_digest, texts)))

    @property
    def fingerprint(self) -> str:
        """One digest for the whole side."""
        return _digest("".join(sorted(self.digests)))

    def holds(self, texts: Sequence[str]) -> NDArray[np.bool_]:
        """Which of the texts the encoder learnt from."""
        return np.array([_digest(text) in self.digests for text in texts], dtype=bool)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
