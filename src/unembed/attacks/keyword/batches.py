"""Batches of keywords whose training sets differ in size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class ShuffledForever:
    """Row numbers in one shuffled order after another, taken in any portion."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.n, self.rng = n, rng
        self.left = rng.permutation(n)

    def take(self, count: int) -> NDArray[np.int64]:
        """The next ``count`` rows."""
        while len(self.left) < count:
            self.left = np.concatenate([self.left, self.rng.permutation(self.n)])
        taken, self.left = self.left[:count], self.left[count:]
        return taken
