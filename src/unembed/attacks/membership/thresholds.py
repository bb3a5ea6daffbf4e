"""The threshold that tells members from others best."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unembed.metrics.spread import FloatArray


def best_threshold(values: FloatArray, members: NDArray[np.bool_]) -> float:
    """τ = argmax Σ_members 1[f ≥ τ] + Σ_others 1[f < τ] (Corò 3.3), halfway between two values; the smallest of equals.

    Where nothing is gained by telling them apart, everybody or nobody is above it.
    """
    order = np.argsort(values, kind="stable")
    ranked, inside = values[order], members[order]
    # With a threshold before the i-th smallest value: members from there on, others below it.
    right = (inside.sum() - np.concatenate([[0], np.cumsum(inside)])) + np.concatenate([[0], np.cumsum(~inside)])
    steps = np.concatenate([[True], ranked[1:] != ranked[:-1], [True]])
    place = int(np.flatnonzero(steps)[np.argmax(right[steps])])
    if place == 0:
        return float(ranked[0]) if len(ranked) else 0.0
    if place == len(ranked):
        return float(np.nextafter(ranked[-1], np.inf))
    middle = (ranked[place - 1] + ranked[place]) / 2
    return float(middle if middle > ranked[place - 1] else ranked[place])
