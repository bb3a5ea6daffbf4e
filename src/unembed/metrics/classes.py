"""Answers among classes: top-k accuracy, balanced accuracy, and which classes are recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.metrics.estimate import LEVEL, Estimate, difference, interval, ratio
from unembed.metrics.spread import FloatArray, IntArray, Rates, numbered, spread


def top_k_hits(scores: NDArray[np.floating], truth: IntArray, k: int) -> NDArray[np.bool_]:
    """Whether the true class is among the ``k`` best-scored; ties and scores of NaN count against the adversary."""
    if k >= scores.shape[1]:
        return np.ones(len(truth), dtype=bool)
    scores = np.where(np.isnan(scores), -np.inf, scores)
    own = scores[np.arange(len(truth)), truth]
    better = (scores > own[:, None]).sum(axis=1)
    equal = (scores == own[:, None]).sum(axis=1) - 1
    hits: NDArray[np.bool_] = better + equal < k
    return hits


#: Mean over classes of correct / asked; sums are ``[..., 2 * classes]``: correct first, asked after. Classes nobody
#: asked about don't count.
macro_recall = Rates(lambda sums: (sums[..., : sums.shape[-1] // 2], sums[..., sums.shape[-1] // 2 :]))


def f1_rows(said: IntArray, truth: IntArray, classes: int) -> FloatArray:
    """One row per text for macro-F1: F1 of a class is twice what is right over how often it is said and asked about.

    ``macro_recall`` of these rows is the mean of F1 over the classes that are said or asked about.
    """
    own, named = (np.eye(classes)[labels] for labels in (truth, said))
    return np.hstack([2 * own * named, own + named])


@dataclass(frozen=True)
class Recognised:
    """One class: how often its texts are recognised, how often others are taken for it, and whether that is clear."""

    recall: Estimate
    mistaken: Estimate
    clear: bool


def recognised(
    right: NDArray[np.bool_],
    said: IntArray,
    labels: IntArray,
    *,
    classes: int | None = None,
    groups: Sequence[object] | None = None,
    level: float = LEVEL,
) -> list[Recognised]:
    """For each class, whether its texts are given its name clearly more often than other texts are.

    ``right`` says for each text whether its class was named, ``said`` which class was named. A class is clear if the
    difference of both rates is above zero after Holm's correction for the number of classes: where no class is
    recognised, the chance that any is called so is at most ``1 - level``. Two tests must agree: Fisher's exact test,
    which holds for rare classes, and the interval of the difference, in which texts of one group are taken together. A
    class that fewer than five groups hold is never clear.
    """
    from scipy.stats import hypergeom

    count = int(labels.max(initial=-1)) + 1 if classes is None else classes
    together = None if groups is None else numbered(groups)
    pairs, chance = [], []
    for c in range(count):
        own = labels == c
        hits, taken = right & own, (said == c) & ~own
        chance.append(hypergeom.sf(hits.sum() - 1, len(labels), own.sum(), hits.sum() + taken.sum()))
        sides = [np.stack(p, axis=1).astype(np.float64) for p in ((hits, own), (taken, ~own))]
        pairs.append((spread(sides[0], ratio, together), spread(sides[1], ratio, together)))
    clear: set[int] = set()
    while True:
        tail = (1 - level) / max(1, count - len(clear))
        left = [c for c in range(count) if c not in clear and chance[c] <= tail]
        more = {c for c in left if difference(*pairs[c], len(labels), level=1 - 2 * tail).low > 0}
        clear |= more
        if not more:
            break
    sizes = np.bincount(labels, minlength=count)
    return [
        Recognised(
            interval(own, int(sizes[c]), level=level),
            interval(other, len(labels) - int(sizes[c]), level=level),
            c in clear,
        )
        for c, (own, other) in enumerate(pairs)
    ]
