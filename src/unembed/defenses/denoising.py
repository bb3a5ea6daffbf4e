"""Taking noise out of stored vectors, as far as that can be done without knowing the key.

Whoever knows a defense can put their own texts through it under keys of their own, as often as they like, and so learn
how the noise of one record varies. The vectors of the store vary by the texts and by the noise. The best linear guess
of a vector without its noise shrinks each direction by the noise's share of the variance there (the Wiener filter).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import dense
from unembed.encoders.base import DenseVectors, Vectors
from unembed.errors import CannotMeasureError

_WHAT = "taking noise out"
#: Texts of the adversary's own that the noise is learnt from, at most.
MOST = 2_000

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Denoiser:
    """Moves vectors towards the mean of the store: ``kept`` is what is left of their distance from it."""

    mean: NDArray[np.float32]
    kept: NDArray[np.float32]

    def calm(self, vectors: Vectors) -> DenseVectors:
        """The best linear guess of the vectors without their noise."""
        return np.asarray((dense(vectors, _WHAT) - self.mean) @ self.kept + self.mean, dtype=np.float32)

    @property
    def share(self) -> float:
        """How much of what vectors vary by is left."""
        return float(np.trace(self.kept) / len(self.kept))


def learn_denoiser(stored: Vectors, draws: Iterable[Vectors]) -> Denoiser:
    """From vectors of the store, and from the same own texts behind the defense under many keys.

    The mean over the keys tells what the texts vary by: the noise that is left in it is known, and taken away.
    """
    mean = np.asarray(dense(stored, _WHAT), dtype=np.float64).mean(axis=0)
    count, total, squares = 0, np.zeros((0, 0)), np.zeros((0, 0))
    for draw in draws:
        rows: Matrix = np.asarray(dense(draw, _WHAT), dtype=np.float64) - mean
        total, squares = (rows, rows.T @ rows) if count == 0 else (total + rows, squares + rows.T @ rows)
        count += 1
    if count < 2 or len(total) < 2:
        raise CannotMeasureError("noise can't be told from texts by fewer than two vectors of each of two texts")
    noise = (squares - total.T @ total / count) / (len(total) * (count - 1))
    left, directions = np.linalg.eigh(np.cov(total.T / count) - noise / count)
    texts = (directions * np.maximum(left, 0)) @ directions.T
    every = texts + noise
    every += np.eye(len(every)) * max(float(np.trace(every)) / len(every), np.finfo(np.float64).tiny) * 1e-9
    kept = np.linalg.solve(every, texts)
    return Denoiser(mean.astype(np.float32), kept.astype(np.float32))
