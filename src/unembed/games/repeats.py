"""How much of a result is luck: what the attack would score had the adversary held other pairs.

The interval of a measurement covers the choice of the targets. Which pairs the adversary happens to hold is chance as
well: with another split, the same attack on the same collection moves by points. Leaving out one part of the pairs
after the other, learning again and looking how far the score moves gives that part of the variance (the jackknife over
groups of pairs; Shao and Wu 1989). It is added to the interval.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, Divisible, G, Game, K, Player, Scores, T
from unembed.metrics.estimate import Estimate, quantile
from unembed.params import Params
from unembed.seeds import generator, seed_for

#: Parts of the pairs that are left out in turn, where a round takes seconds.
REPEATS = 5


def luck_of_pairs(game: Game[K, T, G], attack: Player[K, G], deal: Deal[K, T], repeats: int, seed: int) -> float | None:
    """The standard deviation that the choice of the pairs gives the metric; None where it can't be measured.

    Two attacks that learnt from other pairs also differ by chance on the few targets they are tried on. That part is in
    the interval already, so it is taken away: attacks that know nothing differ by no more than that.
    """
    from sklearn.base import clone

    pairs = int(deal.knowledge.vectors.shape[0])
    divide = game.some_pairs if isinstance(game, Divisible) else None
    if repeats < 2 or pairs < 2 * repeats or divide is None:
        return None
    order = generator(seed, "parts").permutation(pairs)
    settings = _same_choice(attack)
    found: list[Scores] = []
    for part in range(repeats):
        kept = np.sort(np.delete(order, np.s_[part::repeats]))
        copy = clone(attack).set_params(seed=seed_for(seed, "part", part), **settings)
        try:
            guess = copy.fit(divide(deal.knowledge, kept)).run(deal.vectors)
        except CannotMeasureError:
            return None
        found.append(game.judge(deal.truth, guess, seed))
    points = np.array([scores.point for scores in found])
    moved = float(np.square(points - points.mean()).sum())
    # The same attack on other targets: half the variance between two of them each, but for the share of the mean.
    by_targets = sum(one.variance_against(other) for one, other in zip(found, [*found[1:], found[0]], strict=True))
    own = moved - by_targets / 2 * (1 - 1 / repeats)
    return math.sqrt(max(0.0, (repeats - 1) / repeats * own))


def _same_choice(attack: Player[K, G]) -> Params:
    """What makes a portfolio learn again without choosing again: that takes a twentieth of the time."""
    given = attack.get_params()
    if "only" in given and hasattr(attack, "chosen_"):
        return {"only": attack.chosen_}
    return {"quick": True} if "quick" in given else {}


def widened(estimate: Estimate, luck: float | None, repeats: int) -> Estimate:
    """The estimate with the luck of the pairs in its interval; a share stays between 0 and 1."""
    if luck is None or math.isnan(luck) or math.isnan(estimate.value):
        return estimate
    reach = quantile(estimate.level, repeats - 1) * luck
    low = estimate.value - math.hypot(estimate.value - estimate.low, reach)
    high = estimate.value + math.hypot(estimate.high - estimate.value, reach)
    if estimate.low < -1 or estimate.high > 1:
        return replace(estimate, low=low, high=high)
    return replace(estimate, low=max(low, 0.0 if estimate.low >= 0 else -1.0), high=min(high, 1.0))
