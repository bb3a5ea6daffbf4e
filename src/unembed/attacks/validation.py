"""Which of the adversary's pairs choose epochs and thresholds instead of being learnt from, and how they look there."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.seeds import generator


class Pairs(Protocol):
    """Knowledge of vectors that may lie otherwise in the store."""

    @property
    def vectors(self) -> Vectors:
        """What is learnt from."""
        ...

    @property
    def as_stored(self) -> Vectors | None:
        """The same rows as the store would hold them, where that is something else."""
        ...


def to_check_on(knowledge: Pairs) -> Vectors:
    """The adversary's vectors as they look where choices must hold: in the store."""
    return knowledge.vectors if knowledge.as_stored is None else knowledge.as_stored


def held_back(n: int, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows held back to choose epoch and thresholds (at most 2,000), and the rest."""
    order = generator(seed, "validation").permutation(n)
    held = min(max(int(n * share), min(50, n // 4)), 2000)
    return np.sort(order[:held]), np.sort(order[held:])
