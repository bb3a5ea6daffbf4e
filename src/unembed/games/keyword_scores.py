"""What somebody who looks for a word gets out of the whole store, at the word's real share.

A balanced test set hides how rare a word is: right in nine of ten cases on it, an attack may still name ninety-nine
texts without the word for one that holds it. So the texts of the store are ranked by their scores, best first, and
the ranking is read as somebody would use it, from the top.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.games.base import IntArray, SliceScore
from unembed.metrics.classes import macro_recall
from unembed.metrics.estimate import LEVEL, Estimate, FloatArray, Measure, estimates_of, undefined
from unembed.seeds import generator

#: The kind of the slices that show single keywords.
KEYWORD = "keyword"
AVERAGE_PRECISION = "average_precision"
FIRST_N = "precision_among_first_n"
HALF, NINE_TENTHS = "looked_through_to_find_half", "looked_through_to_find_nine_tenths"
PREVALENCE = "prevalence"
#: Figures that every keyword also has of its own: the name of the figure, the kind of the slice.
SLICES = {AVERAGE_PRECISION: "keyword, average precision", FIRST_N: "keyword, precision among first n"}
#: Stores drawn anew for an interval.
BOOTSTRAP_ROUNDS = 400
#: How many drawn texts are held at once.
AT_ONCE = 4_000_000


def store_scores(
    keywords: Sequence[str],
    present: NDArray[np.bool_],
    scores: FloatArray,
    said: FloatArray,
    groups: Sequence[object] | None,
    seed: int,
) -> tuple[dict[str, Estimate], list[SliceScore]]:
    """Figures over all texts, averaged over the keywords that some text holds; and two of them per keyword.

    ``said`` is 1 where the answer is yes and 0 where it is no, or the share of epochs that say yes. All texts of a
    store are drawn anew together, so the intervals of the averages know of texts that hold several keywords.
    """
    there = np.flatnonzero(present.any(axis=0))
    if not len(there):
        return {}, []
    rankings = [_Ranking(scores[:, column], present[:, column]) for column in there]
    value = _stacked(rankings, np.ones((1, len(present)), dtype=np.int64))
    labels, drawn_of = _labels(groups, len(present))
    rng = generator(seed, "store")
    rounds = [_stacked(rankings, draws[:, labels]) for draws in _draws(drawn_of, rng)]
    drawn = {name: np.concatenate([part[name] for part in rounds]) for name in value}
    method = "bootstrap" if drawn_of == len(present) else "cluster bootstrap"

    secondary = {
        name: _estimate(value[name].mean(), _mean_of_known(drawn[name]), len(present), method) for name in value
    }
    right = said * present
    answers = {
        "precision_of_yes": Measure(np.hstack([right, said])[:, _both(there, present)], macro_recall),
        "recall_of_yes": Measure(np.hstack([right, present])[:, _both(there, present)], macro_recall),
    }
    secondary |= estimates_of(answers, groups=groups)
    slices = [
        SliceScore(
            kind,
            keywords[int(column)],
            _estimate(value[name][0, place], drawn[name][:, place], len(present), method),
            floor=float(value[PREVALENCE][0, place]),
        )
        for name, kind in SLICES.items()
        for place, column in enumerate(there)
    ]
    return secondary, slices


class _Ranking:
    """The texts of the store by their scores of one keyword, best first; texts with one score share a block."""

    def __init__(self, scores: FloatArray, present: NDArray[np.bool_]) -> None:
        known = np.where(np.isnan(scores), -np.inf, scores)
        self.order = np.argsort(-known, kind="stable")
        held = present[self.order]
        edges = np.flatnonzero(known[self.order][1:] != known[self.order][:-1]) + 1
        starts, ends = np.r_[0, edges], np.r_[edges, len(known)]
        counts = np.add.reduceat(held.astype(np.int64), starts)
        telling = counts > 0
        self.starts, self.ends = starts[telling], ends[telling]
        self.holders = self.order[held]
        self.firsts = np.r_[0, np.cumsum(counts[telling])[:-1]]

    def figures(self, draws: IntArray) -> dict[str, FloatArray]:
        """Each figure of the store in which every text stands as often as it was drawn: ``[rounds]``."""
        upto = np.zeros((len(draws), draws.shape[1] + 1))
        np.cumsum(draws[:, self.order], axis=1, out=upto[:, 1:])
        before, after, texts = upto[:, self.starts], upto[:, self.ends], upto[:, -1]
        hits = np.add.reduceat(draws[:, self.holders], self.firsts, axis=1).astype(np.float64)
        found, size = np.cumsum(hits, axis=1), after - before
        holding = found[:, -1]
        some = np.where(holding > 0, holding, np.nan)
        # Within a block the order is chance: the first n take as large a part of its hits as of its texts.
        part = np.clip(holding[:, None] - before, 0, size) / np.maximum(size, 1)
        return {
            AVERAGE_PRECISION: (hits * found / np.maximum(after, 1)).sum(axis=1) / some,
            PREVALENCE: holding / texts,
            FIRST_N: (hits * part).sum(axis=1) / some,
            HALF: _looked_through(0.5, before, size, hits, found) / np.where(holding > 0, texts, np.nan),
            NINE_TENTHS: _looked_through(0.9, before, size, hits, found) / np.where(holding > 0, texts, np.nan),
        }


def _looked_through(
    share: float, before: FloatArray, size: FloatArray, hits: FloatArray, found: FloatArray
) -> FloatArray:
    """At which place of the ranking that share of the texts with the word is found, for chance within a block."""
    wanted = np.ceil(share * found[:, -1:])
    block = (found >= wanted).argmax(axis=1)[:, None]
    before, size, hits, found = (np.take_along_axis(part, block, axis=1) for part in (before, size, hits, found))
    return np.asarray(before + (wanted - found + hits) * (size + 1) / (hits + 1))[:, 0]


def _stacked(rankings: Sequence[_Ranking], draws: IntArray) -> dict[str, FloatArray]:
    """Each figure of all keywords: ``[rounds, keywords]``."""
    each = [ranking.figures(draws) for ranking in rankings]
    return {name: np.stack([figures[name] for figures in each], axis=1) for name in each[0]}


def _labels(groups: Sequence[object] | None, n: int) -> tuple[IntArray, int]:
    """What is drawn in one piece with each text: itself, or its group; and how many pieces there are."""
    if groups is None:
        return np.arange(n), n
    names, labels = np.unique(np.asarray([str(g) for g in groups]), return_inverse=True)
    return labels.astype(np.int64), len(names)


def _draws(n: int, rng: np.random.Generator) -> Iterator[IntArray]:
    """How often each of ``n`` pieces is drawn, some rounds at a time."""
    step = max(1, AT_ONCE // n)
    for start in range(0, BOOTSTRAP_ROUNDS, step):
        rounds = min(step, BOOTSTRAP_ROUNDS - start)
        drawn = rng.integers(0, n, size=(rounds, n)) + np.arange(rounds)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=rounds * n).reshape(rounds, n)


def _mean_of_known(values: FloatArray) -> FloatArray:
    """The mean over keywords, without those that a draw left without a text."""
    known = ~np.isnan(values)
    count = known.sum(axis=1)
    return np.asarray(np.where(known, values, 0).sum(axis=1) / np.where(count > 0, count, np.nan))


def _estimate(value: float, drawn: FloatArray, n: int, method: str) -> Estimate:
    known = drawn[~np.isnan(drawn)]
    if not len(known):
        return undefined(n)
    low, high = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return Estimate(float(value), min(float(value), float(low)), max(float(value), float(high)), n, LEVEL, method)


def _both(there: IntArray, present: NDArray[np.bool_]) -> IntArray:
    """The columns of those keywords in two tables side by side."""
    return np.concatenate([there, there + present.shape[1]])
