"""How much of a result is luck: what the attack would score had the adversary held other pairs.

The interval of a measurement covers the choice of the targets. Which pairs the adversary happens to hold is chance as
well: with another split, the same attack on the same collection moves by points. Leaving out one part of the pairs after
the other, learning again and looking how far the score moves gives that part of the variance (the jackknife over groups
of pairs; Shao and Wu 1989). It is added to the interval.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, Divisible
from unembed.metrics.estimate import Estimate, quantile
from unembed.seeds import generator, seed_for

#: Parts of the pairs that are left out in turn, where a round takes seconds.
REPEATS = 5


def luck_of_pairs(game: Any, attack: Any, deal: Deal[Any, Any], repeats: int, seed: int) -> float | None:
    """The standard deviation that the choice of the pairs gives the metric; None where it can't be measured."""
    pairs = int(deal.knowledge.vectors.shape[0])
    if repeats < 2 or pairs < 2 * repeats or not isinstance(game, Divisible):
        return None
    order = generator(seed, "parts").permutation(pairs)
    settings = {"quick": True} if "quick" in attack.get_params() else {}
    points = []
    for part in range(repeats):
        kept = np.sort(np.delete(order, np.s_[part::repeats]))
        copy = clone(attack).set_params(seed=seed_for(seed, "part", part), **settings)
        try:
            guess = copy.fit(game.some_pairs(deal.knowledge, kept)).run(deal.vectors)
        except CannotMeasureError:
            return None
        points.append(game.judge(deal.truth, guess, seed).point)
    moved = np.asarray(points) - np.mean(points)
    return float(np.sqrt((repeats - 1) / repeats * np.square(moved).sum()))


def widened(estimate: Estimate, luck: float | None, repeats: int) -> Estimate:
    """The estimate with the luck of the pairs in its interval; a share stays between 0 and 1."""
    if luck is None or math.isnan(luck) or math.isnan(estimate.value):
        return estimate
    reach = quantile(estimate.level, repeats - 1) * luck
    low = estimate.value - math.hypot(estimate.value - estimate.low, reach)
    high = estimate.value + math.hypot(estimate.high - estimate.value, reach)
    least, most = (0.0 if estimate.low >= 0 else -1.0), 1.0
    bounded = estimate.low >= -1 and estimate.high <= 1
    return (
        replace(estimate, low=max(low, least), high=min(high, most))
        if bounded
        else replace(estimate, low=low, high=high)
    )
