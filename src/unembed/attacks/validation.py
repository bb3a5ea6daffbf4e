"""Which of the adversary's pairs choose epochs and thresholds instead of being learnt from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unembed.seeds import generator


def held_back(n: int, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows held back to choose epoch and thresholds (at most 2,000), and the rest."""
    order = generator(seed, "validation").permutation(n)
    held = min(max(int(n * share), min(50, n // 4)), 2000)
    return np.sort(order[:held]), np.sort(order[held:])
