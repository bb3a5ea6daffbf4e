"""Answers among classes: top-k accuracy, balanced accuracy, average precision, and which classes are recognised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.metrics.estimate import LEVEL, Estimate, difference, interval, ratio, undefined
from unembed.metrics.spread import (
    Classes,
    FloatArray,
    IntArray,
    Rates,
    Spread,
    effective,
    lean_of,
    numbered,
    spread,
    summed,
)

#: Average precision varies more than its derivative says by this much over the number of positives, and a positive text
#: may be worth less than one independent observation; both found by simulation (``benchmarks/coverage.py``).
FEW_POSITIVES, LEAST_WORTH = 3.0, 0.75


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


def _halves(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    half = sums.shape[-1] // 2
    return sums[..., :half], sums[..., half:]


#: Mean over classes of correct / asked; sums are ``[..., 2 * classes]``: correct first, asked after. Classes nobody
#: asked about don't count.
macro_recall = Rates(_halves)


def average_precision(
    scores: NDArray[np.floating], truth: NDArray[np.bool_], *, weights: NDArray[np.floating] | None = None
) -> FloatArray:
    """Mean over the positive texts of the precision down to their rank; NaN without a positive.

    ``weights`` are ``[..., texts]``, for example how often each text is drawn, one row per round; one value per row
    comes back. Texts of the same score share one rank, the last of them, so equal scores for all give the share of
    positives. A score of NaN ranks last.
    """
    ranked = _Ranking(scores, truth)
    return ranked.precision(np.ones(len(ranked.order)) if weights is None else np.asarray(weights, dtype=np.float64))


def average_precision_estimate(
    scores: NDArray[np.floating],
    truth: NDArray[np.bool_],
    *,
    groups: Sequence[object] | None = None,
    level: float = LEVEL,
) -> Estimate:
    """Average precision with its interval."""
    if not len(scores):
        return undefined()
    return interval(average_precision_spread(scores, truth, groups=groups), len(scores), level=level)


def average_precision_spread(
    scores: NDArray[np.floating], truth: NDArray[np.bool_], *, groups: Sequence[object] | None = None
) -> Spread:
    """Average precision and how far each text moves it; two of the same texts can be handed to ``difference``.

    It is a mean over positive texts, so what it rests on is their number (Boyd, Eng and Page 2013), or the number of
    groups that hold them. Every positive text counts itself among those found, which flatters a small sample: the
    interval lies around the value without that. ``FEW_POSITIVES`` makes up for what the derivative misses of the
    variance where positives are few.
    """
    ranked = _Ranking(scores, truth)
    positive = np.asarray(truth, dtype=np.float64)
    value = float(ranked.precision(np.ones(len(positive))))
    labels = None if groups is None else numbered(groups)
    if np.isnan(value):
        return Spread(value, np.zeros(len(positive)), None, 0, 0.0)
    moves, whole = ranked.moves(value), positive.sum()
    moves *= 1 + FEW_POSITIVES / whole
    shares, together = positive / whole, None
    if labels is not None:
        shares = summed(shares, labels)
        lean = lean_of(positive, np.ones(len(positive)), value)
        together = np.append(summed(moves, labels), lean / effective(shares))
    units = effective(shares)
    classes = Classes(np.array([value - ranked.flattery()]), np.array([whole]), units[None] * LEAST_WORTH)
    return Spread(value, np.append(moves, 0.0), together, int((shares > 0).sum()), float(units), classes)


class _Ranking:
    """Texts from the best score to the worst, in blocks of equal scores."""

    def __init__(self, scores: NDArray[np.floating], truth: NDArray[np.bool_]) -> None:
        known = np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        self.order = np.argsort(-known, kind="stable")
        ranked = known[self.order]
        self.ends = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
        self.positive = np.asarray(truth, dtype=np.float64)[self.order]

    def precision(self, weights: FloatArray) -> FloatArray:
        """The average precision for each row of weights."""
        ranked = weights[..., self.order]
        found = np.cumsum(ranked * self.positive, axis=-1)[..., self.ends]
        named = np.cumsum(ranked, axis=-1)[..., self.ends]
        share = np.divide(found, named, out=np.zeros_like(found), where=named > 0)
        part, whole = (np.diff(found, axis=-1, prepend=0.0) * share).sum(axis=-1), found[..., -1]
        return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0))

    def flattery(self) -> float:
        """How much higher the value is because a positive text counts itself among those found."""
        found, named = np.cumsum(self.positive)[self.ends], self.ends + 1.0
        gained = np.diff(found, prepend=0.0)
        return float((gained * (named - found) / named / np.maximum(named - 1, 1)).sum() / found[-1])

    def moves(self, value: float) -> FloatArray:
        """How far each text moves the value: its derivative by the text's weight."""
        found, named = np.cumsum(self.positive)[self.ends], self.ends + 1.0
        gained = np.diff(found, prepend=0.0)
        block = np.searchsorted(self.ends, np.arange(len(self.order)))
        later_hit = np.cumsum((gained / named)[::-1])[::-1][block]
        later_any = np.cumsum((gained * found / named**2)[::-1])[::-1][block]
        own = self.positive * ((found / named)[block] - value)
        moved = np.empty(len(self.order))
        moved[self.order] = (own + self.positive * later_hit - later_any) / found[-1]
        return moved


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
