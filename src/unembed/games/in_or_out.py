"""What games about in or out share: a score and a decision per trial, and the figures they are judged by.

Was this text stored, was it learnt from: half of the trials are. The headline is balanced accuracy, with the advantage
(true minus false positives), the area under the curve, and the true positives at low false-alarm rates beside it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.games.base import Detail, Scores, SliceScore
from unembed.metrics.estimate import Estimate, Measure, estimates_of
from unembed.metrics.roc import auc_estimate, auc_within_estimate, negatives_needed, tpr_at_fpr_estimate
from unembed.metrics.spread import FloatArray, Rates
from unembed.seeds import generator

#: False-alarm rates at which the true positives are told, and what the figure is called.
RATES = {0.01: "found_at_1_percent_false_alarms", 0.001: "found_at_0.1_percent_false_alarms"}


@dataclass(frozen=True)
class InOrOutGuess:
    """A score per trial, higher is likelier in, and whether it is said to be in (1 or 0)."""

    scores: FloatArray
    said: FloatArray

    def __getitem__(self, rows: NDArray[np.int64]) -> InOrOutGuess:
        return InOrOutGuess(self.scores[rows], self.said[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Both as one table."""
        table = np.stack([self.scores, self.said], axis=1)
        return table if dtype is None else table.astype(dtype)

    @classmethod
    def nobody(cls, n: int) -> InOrOutGuess:
        """Nothing is in: any constant answer is right for half."""
        return cls(np.zeros(n), np.zeros(n))


@dataclass(frozen=True)
class Trials:
    """For each trial whether its data were learnt from, whose they are, and which parts it counts in, by kind.

    ``repeated``: the same data were tried several times, each time on another model.
    """

    inside: NDArray[np.bool_]
    groups: Sequence[object] | None = None
    parts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    repeated: bool = False


def counts(said: FloatArray, inside: NDArray[np.bool_]) -> FloatArray:
    """For each trial: found and inside, then let pass and outside. ``halves`` makes the headline of their sums."""
    return np.stack([said * inside, inside, (1 - said) * ~inside, ~inside], axis=1).astype(np.float64)


def figures(
    guess: InOrOutGuess,
    inside: NDArray[np.bool_],
    groups: Sequence[object] | None,
    rng: np.random.Generator,
    repeated: bool = False,
) -> dict[str, Estimate]:
    """Everything beside the headline; a rate that so few trials can't show is undefined, not 0."""
    parts = counts(guess.said, inside)
    rates = {
        "found": Measure(parts[:, :2], _one, int(inside.sum())),
        "false_alarms": Measure(
            np.stack([guess.said * ~inside, ~inside], axis=1).astype(np.float64), _one, int((~inside).sum())
        ),
        "advantage": Measure(parts, _advantage),
    }
    return estimates_of(rates, groups=groups) | curve(guess.scores, inside, groups, rng, repeated)


def curve(
    scores: FloatArray,
    inside: NDArray[np.bool_],
    groups: Sequence[object] | None,
    rng: np.random.Generator,
    repeated: bool = False,
) -> dict[str, Estimate]:
    """The area under the curve, over all and within groups that hold both kinds, and true positives at the rates."""
    found = {"auc": auc_estimate(scores, inside, rng=rng, groups=groups)}
    for rate, name in RATES.items():
        found[name] = tpr_at_fpr_estimate(scores, inside, rate, rng=rng, groups=groups, repeated=repeated)
    within = None if groups is None else auc_within_estimate(scores, inside, groups)
    return found if within is None else {**found, "auc_within_groups": within}


def judged(truth: Trials, guess: InOrOutGuess, seed: int) -> Scores:
    """Balanced accuracy; advantage, curves and parts beside it."""

    def work_out() -> Detail:
        rng = generator(seed, "membership", "judge")
        slices = []
        for kind, names in truth.parts.items():
            for name in sorted(set(names), key=_in_order):
                rows = np.flatnonzero([other == name for other in names])
                groups = None if truth.groups is None else [truth.groups[int(row)] for row in rows]
                advantage = advantage_of(guess[rows], truth.inside[rows], groups)
                slices.append(SliceScore(kind, name, advantage, 0.0))
        return Detail(figures(guess, truth.inside, truth.groups, rng, truth.repeated), tuple(slices))

    return Scores(counts(guess.said, truth.inside), halves, truth.groups, work_out)


def unseen_rates(negatives: int, asked: str) -> list[str]:
    """Notes on the false-alarm rates that so few trials outside can't show."""
    return [
        f"{100 * rate:g} % false alarms can't be seen with {negatives:,} {asked}: {needed:,} are needed"
        for rate in RATES
        if negatives < (needed := negatives_needed(rate))
    ]


def advantage_of(guess: InOrOutGuess, inside: NDArray[np.bool_], groups: Sequence[object] | None) -> Estimate:
    """True positives minus false positives, for a part of the trials."""
    return estimates_of({"advantage": Measure(counts(guess.said, inside), _advantage)}, groups=groups)["advantage"]


def _in_order(name: str) -> tuple[float, str]:
    """Parts that begin with a number by that number, others behind them."""
    number = re.match(r"\d+", name)
    return (float(number[0]) if number else math.inf, name)


def _two_shares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    return sums[..., ::2], sums[..., 1::2]


#: The mean of the share recognised inside and of the share let pass outside.
halves = Rates(_two_shares)
_one = Rates(_two_shares)


def _advantage(sums: FloatArray) -> FloatArray:
    """True positives minus false positives."""
    return np.asarray(2 * halves(sums) - 1)
