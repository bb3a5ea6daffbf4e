"""Accuracy of answers among classes: top-1, top-k, per class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]


def top_k_hits(scores: NDArray[np.floating], truth: IntArray, k: int) -> NDArray[np.bool_]:
    """Whether the true class is among the ``k`` best-scored; ties count against the adversary."""
    if k >= scores.shape[1]:
        return np.ones(len(truth), dtype=bool)
    own = scores[np.arange(len(truth)), truth]
    better = (scores > own[:, None]).sum(axis=1)
    equal = (scores == own[:, None]).sum(axis=1) - 1
    hits: NDArray[np.bool_] = better + equal < k
    return hits


def macro_recall(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean over classes of correct / asked; ``sums`` are ``[..., 2 * classes]``: correct first, asked after.

    Classes nobody asked about don't count.
    """
    half = sums.shape[-1] // 2
    correct, asked = sums[..., :half], sums[..., half:]
    rate = np.divide(correct, asked, out=np.zeros_like(correct), where=asked > 0)
    classes = (asked > 0).sum(axis=-1)
    blank = np.full(classes.shape, np.nan)
    return np.asarray(np.divide(rate.sum(axis=-1), classes, out=blank, where=classes > 0))
