"""Yes-or-no questions answered by a score: the true positives at a false-alarm rate, and the area under the curve.

A rate of false alarms is only as fine as there are negatives: of 100 texts that are not there, none or one in a hundred
can be a false alarm, and 0.1 % can't be seen. Such a figure is undefined here, not 0: 0.1 % needs 1,000 negatives that
are independent of each other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.metrics.estimate import LEVEL, Estimate, mean, undefined, wilson
from unembed.metrics.spread import FloatArray, IntArray

ROUNDS = 400
#: Drawn texts held at once.
_AT_ONCE = 2_000_000


def negatives_needed(rate: float) -> int:
    """How many independent negatives show a false-alarm rate: one of them is that share."""
    if not 0 < rate < 1:
        raise ValueError(f"a false-alarm rate lies between 0 and 1, not {rate}")
    return math.ceil(1 / rate - 1e-9)


def tpr_at_fpr(scores: NDArray[np.floating], truth: NDArray[np.bool_], rate: float) -> float:
    """The largest share of positives above a threshold that at most this share of the negatives reaches.

    Equal scores lie on the same side of every threshold. NaN where there is no positive or no negative.
    """
    ranked = _Ranked(scores, truth)
    return float(ranked.at(rate, np.ones((1, len(ranked.order))))[0])


def auc(scores: NDArray[np.floating], truth: NDArray[np.bool_]) -> float:
    """How often a positive scores higher than a negative, ties counted half; NaN without one of either."""
    ranked = _Ranked(scores, truth)
    return float(ranked.area(np.ones((1, len(ranked.order))))[0])


def tpr_at_fpr_estimate(
    scores: NDArray[np.floating],
    truth: NDArray[np.bool_],
    rate: float,
    *,
    rng: np.random.Generator,
    groups: Sequence[object] | None = None,
    repeated: bool = False,
) -> Estimate:
    """The true positives at a false-alarm rate with their interval; undefined where too few negatives can show it.

    What belongs together counts once, unless it was tried ``repeated``ly on its own: then each trial may be a false
    alarm, and only the interval follows from the groups.
    """
    resampled = _Resampled(scores, truth, groups)
    if (int((~truth).sum()) if repeated else resampled.negatives) < negatives_needed(rate):
        return undefined(len(scores), f"fewer than {negatives_needed(rate):,} negatives")
    value, drawn = resampled.values(lambda ranked, weights: ranked.at(rate, weights), rng)
    return _estimate(value, drawn, resampled.positives, len(scores))


def auc_estimate(
    scores: NDArray[np.floating],
    truth: NDArray[np.bool_],
    *,
    rng: np.random.Generator,
    groups: Sequence[object] | None = None,
) -> Estimate:
    """The area under the curve with its interval."""
    resampled = _Resampled(scores, truth, groups)
    if not min(resampled.positives, resampled.negatives):
        return undefined(len(scores))
    value, drawn = resampled.values(lambda ranked, weights: ranked.area(weights), rng)
    return _estimate(value, drawn, min(resampled.positives, resampled.negatives), len(scores))


def auc_within_estimate(
    scores: NDArray[np.floating], truth: NDArray[np.bool_], groups: Sequence[object]
) -> Estimate | None:
    """The area under the curve of each group alone, averaged over the groups with both kinds; None where none has.

    It says what scores tell apart where each group has a threshold of its own.
    """
    labels = np.unique(np.asarray([str(group) for group in groups]), return_inverse=True)[1]
    areas = [
        auc(scores[rows], truth[rows]) for rows in (labels == label for label in range(labels.max(initial=-1) + 1))
    ]
    known = [area for area in areas if not math.isnan(area)]
    return mean(known) if known else None


class _Ranked:
    """Texts from the best score to the worst; texts of one score share a block."""

    def __init__(self, scores: NDArray[np.floating], truth: NDArray[np.bool_]) -> None:
        known = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        self.order = np.argsort(-known, kind="stable")
        ranked = known[self.order]
        self.ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True)) if len(ranked) else np.zeros(0, int)
        self.positive = np.asarray(truth, dtype=bool)[self.order]

    def _curve(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """True and false positives down to each block, and how many positives and negatives there are."""
        ordered = weights[:, self.order]
        found = np.cumsum(ordered * self.positive, axis=1)[:, self.ends]
        alarms = np.cumsum(ordered * ~self.positive, axis=1)[:, self.ends]
        if not len(self.ends):
            none = np.zeros(len(weights))
            return found, alarms, none, none
        return found, alarms, found[:, -1], alarms[:, -1]

    def at(self, rate: float, weights: FloatArray) -> FloatArray:
        found, alarms, positives, negatives = self._curve(weights)
        # One part in a million over the rate is rounding.
        allowed = alarms <= rate * negatives[:, None] * (1 + 1e-6)
        best = np.where(allowed, found, 0.0).max(axis=1, initial=0.0)
        return _share(best, np.where(negatives > 0, positives, 0.0))

    def area(self, weights: FloatArray) -> FloatArray:
        found, alarms, positives, negatives = self._curve(weights)
        before = np.diff(alarms, axis=1, prepend=0.0)
        halfway = found - np.diff(found, axis=1, prepend=0.0) / 2
        return _share((before * halfway).sum(axis=1), positives * negatives)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))


@dataclass
class _Resampled:
    """Positives and negatives drawn anew, each from their own, the texts of a group in one piece."""

    scores: NDArray[np.floating]
    truth: NDArray[np.bool_]
    groups: Sequence[object] | None

    def __post_init__(self) -> None:
        names = np.arange(len(self.scores)) if self.groups is None else np.asarray([str(g) for g in self.groups])
        self.labels: IntArray = np.unique(names, return_inverse=True)[1].astype(np.int64)
        self.positives = len(np.unique(self.labels[self.truth]))
        self.negatives = len(np.unique(self.labels[~self.truth]))

    def values(
        self, figure: Callable[[_Ranked, FloatArray], FloatArray], rng: np.random.Generator
    ) -> tuple[float, FloatArray]:
        ranked = _Ranked(self.scores, self.truth)
        value = float(figure(ranked, np.ones((1, len(self.scores))))[0])
        step = max(1, _AT_ONCE // max(1, len(self.scores)))
        drawn = [figure(ranked, self._draws(min(step, ROUNDS - start), rng)) for start in range(0, ROUNDS, step)]
        return value, np.concatenate(drawn)

    def _draws(self, rounds: int, rng: np.random.Generator) -> FloatArray:
        """How often each text is drawn in every round."""
        weights = np.zeros((rounds, len(self.scores)))
        for side in (self.truth, ~self.truth):
            rows = np.flatnonzero(side)
            labels = np.unique(self.labels[rows], return_inverse=True)[1]
            count = int(labels.max(initial=-1)) + 1
            if count:
                counts = rng.multinomial(count, np.full(count, 1 / count), size=rounds)
                weights[:, rows] = counts[:, labels]
        return weights


def _estimate(value: float, drawn: FloatArray, units: int, n: int) -> Estimate:
    """What drawing anew gives, and never less than a rate of so many texts has: where all are right nothing varies."""
    known = drawn[~np.isnan(drawn)]
    if math.isnan(value) or not len(known):
        return undefined(n)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    rate = wilson(round(value * units), units)
    reach = rate.value - rate.low, rate.high - rate.value
    low, high = min(float(low), value - reach[0]), max(float(high), value + reach[1])
    return Estimate(value, max(0.0, low), min(1.0, high), n, LEVEL, "bootstrap")
