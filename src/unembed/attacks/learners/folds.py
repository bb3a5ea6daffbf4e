"""Parts of an adversary's rows that are held back in turn, so that texts and their changed copies stay together.

A copy with one word changed has nearly the vector of its text and the other answer (Pan VI-B). Learnt from one, a good
reader is wrong about the other, and only a poor one is at chance: held apart, the copies choose the poor one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.seeds import generator

IntArray = NDArray[np.int64]


def folds(
    target: NDArray[Any], seed: int, count: int, origins: IntArray | None = None, most: int | None = None
) -> list[IntArray]:
    """``count`` parts of the rows, each with its share of every class; rows of one origin stay in one part.

    Of more than ``most`` rows about as many are dealt, each class its share. Where a class stands in one origin alone,
    nothing is left to learn it from while that is held back; then the rows are dealt one by one.
    """
    each = np.arange(len(target))
    _, first, own = np.unique(each if origins is None else origins, return_index=True, return_inverse=True)
    order = generator(seed, "folds").permutation(len(first))
    classes = target.dtype.kind != "f"
    if classes:
        order = order[np.argsort(target[first[order]], kind="stable")]
    if most is not None and len(target) > most:
        some = max(len(order) * most // len(target), count)
        order = order[np.arange(some) * len(order) // some]
    parts = [np.flatnonzero(np.isin(own, order[i::count])) for i in range(count)]
    if origins is None or not classes or all(_tellable(target, part) for part in parts):
        return parts
    return folds(target, seed, count, most=most)


def _tellable(target: NDArray[Any], held: IntArray) -> bool:
    """Whether something is held back and what remains has two classes."""
    return len(held) > 0 and len(np.unique(np.delete(target, held))) > 1
