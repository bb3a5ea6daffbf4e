"""How likely answers are with somebody's data and without, where few models were trained and many answers given.

An answer j of model m is, in deviations from its mean, z_mj = ±d_j/2 + noise: d_j is the effect of the data on it. From
n models d_j is known to a variance of 4/n, far more than most effects are. But which effects are large can be expected:
they are those on rare words that stand side by side. So each is drawn towards what the effects on alike pairs of all
users are, by as much as its own variance calls for (empirical Bayes), and the answers are weighed by the inverse of
their common noise, as the likelihood ratio of two normal distributions asks for (in LiRA's manner, of all answers at
once; Carlini et al. 2022 take one).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError
from unembed.metrics.spread import FloatArray
from unembed.seeds import generator
from unembed.shadows.signals import Asked

#: No kind of effect varies less than this, so that a clear effect of one answer is never drawn away wholly.
LEAST_VARIANCE = 1e-3
#: Parts of the shadow models that are held back in turn, to learn how scores of unseen models lie.
FOLDS = 5
#: Words that stand farther apart are taken for so far.
FARTHEST = 5
#: Weight of the penalty on the coefficients of what is expected.
_PENALTY = 10.0


@dataclass(frozen=True)
class Effects:
    """What is expected of effects before a model was seen: a mean and a variance for each answer."""

    mean: FloatArray
    variance: FloatArray

    def drawn_to(self, seen: FloatArray, noise: float) -> FloatArray:
        """The mean of each effect after it was seen with this much noise."""
        return np.asarray((self.variance * seen + noise * self.mean) / (self.variance + noise))


@dataclass(frozen=True)
class Ratio:
    """The log of the likelihood ratio, as a line through the answers about one user, in deviations."""

    weights: FloatArray
    equal: float
    rise: float

    def of(self, answers: FloatArray) -> FloatArray:
        """Above 0: likelier with the data."""
        return np.asarray((answers @ self.weights - self.equal) * self.rise)


def ratio_for(answers: FloatArray, members: NDArray[np.bool_], effects: Effects, ridge: float, seed: int) -> Ratio:
    """Weights from all models; where the ratio is 1, and its slope, from models that had no part in theirs."""

    def weigh(some: FloatArray, inside: NDArray[np.bool_]) -> FloatArray:
        return weights_for(some, inside, effects.drawn_to(effects_of(some, inside), noise_of(inside)), ridge)

    order = generator(seed, "folds").permutation(len(members))
    scores = np.zeros(len(order))
    for held in np.array_split(order, FOLDS):
        rest = np.setdiff1d(order, held)
        some, inside = answers[rest], members[rest]
        if inside.all() or not inside.any():
            raise CannotMeasureError(f"{len(order)} shadow models are too few to hold some of them back")
        weights = weigh(some, inside)
        scores[held] = answers[held] @ weights - middle(some, inside, weights)
    apart, rise = log_ratio(scores, members)
    weights = weigh(answers, members)
    return Ratio(weights, middle(answers, members, weights) + apart, rise)


def expected(kinds: FloatArray, seen: FloatArray, noise: float) -> Effects:
    """Learn from effects that were seen, of all users, what to expect of each kind of answer (one row of ``kinds``)."""
    spread = kinds.std(axis=0)
    basis = (kinds - kinds.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    mean = _smooth(basis, seen)
    return Effects(mean, np.maximum(_smooth(basis, (seen - mean) ** 2 - noise), LEAST_VARIANCE))


def nearness(answers: FloatArray, asked: Asked) -> FloatArray:
    """log(‖a − b‖ / √(‖a‖‖b‖)) for each pair of words; NaN where a model does not know one of them.

    How long vectors are differs between models, most of all between models that were trained in other ways, and
    says little about who was learnt from. Angles leave it out too, but depend more on how a model was trained.
    """
    known = np.where(answers > 0, answers, np.nan)
    apart, lengths = np.log(known[:, : len(asked.pairs)]), np.log(known[:, len(asked.pairs) :])
    return np.asarray(apart - lengths[:, asked.pairs].mean(axis=2))


def kinds_of_pairs(asked: Asked) -> FloatArray:
    """What is known of each pair before any model: how rare both words are, how near they stand, how often."""
    counts = np.log1p(asked.counts[asked.pairs])
    rare, common = counts.min(axis=1), counts.max(axis=1)
    times, amount = np.log(asked.times), np.full(len(rare), np.log1p(len(asked.words)))
    columns = [rare, common, times, amount, times * amount]
    columns += [rare**power * common ** (degree - power) for degree in (2, 3) for power in range(degree + 1)]
    columns += [of * by for of in (times, amount) for by in (rare, common)]
    for gap in range(1, FARTHEST + 1):
        near = (np.minimum(asked.gaps, FARTHEST) == gap).astype(np.float64)
        columns += [near, near * rare, near * common]
    return np.stack(columns, axis=1)


def effects_of(answers: FloatArray, members: NDArray[np.bool_]) -> FloatArray:
    """d: how far the answers of models with the data lie above those of models without."""
    return np.asarray(answers[members].mean(axis=0) - answers[~members].mean(axis=0))


def noise_of(members: NDArray[np.bool_]) -> float:
    """The variance with which these models tell an effect on an answer of variance 1."""
    return float(1 / max(1, members.sum()) + 1 / max(1, (~members).sum()))


def weights_for(answers: FloatArray, members: NDArray[np.bool_], effects: FloatArray, ridge: float) -> FloatArray:
    """Σ⁻¹d, where Σ is the models' own noise drawn towards independent answers by ``ridge``.

    There are more answers than models, so the inverse is taken on the models' side (Woodbury).
    """
    means = np.where(members[:, None], answers[members].mean(axis=0), answers[~members].mean(axis=0))
    noise = (answers - means) * np.sqrt((1 - ridge) / len(answers))
    inner = ridge * np.eye(len(noise)) + noise @ noise.T
    return np.asarray((effects - noise.T @ np.linalg.solve(inner, noise @ effects)) / ridge)


def middle(answers: FloatArray, members: NDArray[np.bool_], weights: FloatArray) -> float:
    """Half-way between both kinds of models, along the weights."""
    return float((answers[members].mean(axis=0) + answers[~members].mean(axis=0)) @ weights / 2)


def log_ratio(scores: FloatArray, members: NDArray[np.bool_]) -> tuple[float, float]:
    """Where the likelihoods of two normal distributions of one variance are equal, and how their ratio's log rises."""
    inside, outside = scores[members], scores[~members]
    variance = (inside.var() * len(inside) + outside.var() * len(outside)) / max(1, len(scores) - 2)
    return float((inside.mean() + outside.mean()) / 2), float((inside.mean() - outside.mean()) / max(variance, 1e-12))


def _smooth(basis: FloatArray, values: FloatArray) -> FloatArray:
    """The values as a line through the basis gives them (ridge)."""
    centre = values.mean()
    solved = np.linalg.solve(basis.T @ basis + _PENALTY * np.eye(basis.shape[1]), basis.T @ (values - centre))
    return np.asarray(basis @ solved + centre)
