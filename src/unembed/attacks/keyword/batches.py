"""Batches of keywords whose training sets differ in size."""

from __future__ import annotations

from collections.abc import Sequence

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


#: Rows that are put together ahead: choosing them keyword by keyword at every step is slow.
AHEAD = 1024


class KeywordBatches:
    """The next rows and answers of every keyword at once; one with few texts begins anew while others go on."""

    def __init__(
        self,
        rows: Sequence[NDArray[np.int64]],
        labels: Sequence[NDArray[np.bool_]],
        rngs: Sequence[np.random.Generator],
    ) -> None:
        self.rows, self.labels = rows, [label.astype(np.int64) for label in labels]
        self.orders = [ShuffledForever(len(own), rng) for own, rng in zip(rows, rngs, strict=True)]
        self.ready = np.zeros((2, len(rows), 0), dtype=np.int64)

    def take(self, size: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Row numbers and answers (0 or 1), each ``[keywords, size]``."""
        if self.ready.shape[2] < size:
            picks = [order.take(max(size, AHEAD)) for order in self.orders]
            new = [np.stack([own[p] for own, p in zip(part, picks, strict=True)]) for part in (self.rows, self.labels)]
            self.ready = np.concatenate([self.ready, np.stack(new)], axis=2)
        taken, self.ready = self.ready[:, :, :size], self.ready[:, :, size:]
        return taken[0], taken[1]
