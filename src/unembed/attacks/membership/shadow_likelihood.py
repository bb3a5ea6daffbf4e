"""Ours: the likelihood ratio of all answers about a user's data, with effects drawn to what words let expect.

Beside words that stand side by side it reads those up to the game's ``reach`` apart, and the lengths of their vectors.
``attacks.membership.likelihood`` has the statistics. Cost: for n shadow models and p answers n²p operations per user
and fold, a fraction of training one of the models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.lasso import moments, standardised, usable
from unembed.attacks.membership.likelihood import (
    Effects,
    effects_of,
    expected,
    kinds_of_answers,
    log_ratio,
    middle,
    noise_of,
    weights_for,
)
from unembed.attacks.membership.shadow_lasso import asked_about, said_above_zero
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_user import UserKnowledge, answers_in, users_of
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised
from unembed.seeds import generator

#: Parts of the shadow models that are held back in turn, to learn how scores of unseen models lie.
FOLDS = 5


@dataclass(frozen=True)
class _Studied:
    """One user's answers, in deviations from their mean, and whose models gave them."""

    columns: NDArray[np.int64]
    centre: FloatArray
    scale: FloatArray
    answers: FloatArray
    members: NDArray[np.bool_]


@dataclass(frozen=True)
class _Ratio:
    """The log of the likelihood ratio, as a line through one user's answers."""

    studied: _Studied
    weights: FloatArray
    equal: float
    rise: float

    def of(self, answers: FloatArray) -> FloatArray:
        """Above 0: likelier with the data."""
        here = standardised(answers[:, self.studied.columns], self.studied.centre, self.studied.scale)
        return np.asarray((here @ self.weights - self.equal) * self.rise)


class ShadowLikelihood(Parametrised):
    """A likelihood ratio per user, learnt from shadow models."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/shadow-likelihood",
        game="membership-user",
        title="Likelihood of all distances, with effects expected from how rare words are",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES}),
        cost="minutes",
    )

    ridge: float = 0.3
    seed: int = 0

    def fit(self, knowledge: UserKnowledge) -> Self:
        """Learn what effects to expect from all users, and a ratio for each."""
        self.users_ = knowledge.users
        studied = [self._study(knowledge, user) for user in range(len(knowledge.users))]
        if not any(len(one.columns) for one in studied):
            raise CannotMeasureError("the shadow models know no two neighbouring words of any user")
        expectations = self._expected(studied)
        self.ratios_ = [self._ratio(one, effects) for one, effects in zip(studied, expectations, strict=True)]
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The log of the likelihood ratio of each trial."""
        scores = np.zeros(int(vectors.shape[0]))
        whose = users_of(vectors, len(self.users_))
        for user, ratio in enumerate(self.ratios_):
            rows = np.flatnonzero(whose == user)
            scores[rows] = ratio.of(answers_in(vectors, rows, self.users_[user]))
        return said_above_zero(scores)

    def _study(self, knowledge: UserKnowledge, user: int) -> _Studied:
        answers, members = knowledge.of(user)
        columns = np.flatnonzero(usable(answers))
        centre, scale = moments(answers[:, columns])
        return _Studied(columns, centre, scale, standardised(answers[:, columns], centre, scale), members)

    def _expected(self, studied: list[_Studied]) -> list[Effects]:
        """What is expected of the effect on every answer about each user."""
        kinds = [
            kinds_of_answers(asked_about(user))[one.columns] for user, one in zip(self.users_, studied, strict=True)
        ]
        seen = [effects_of(one.answers, one.members) for one in studied]
        noise = noise_of(np.concatenate([one.members for one in studied])) * len(studied)
        found = expected(np.concatenate(kinds), np.concatenate(seen), noise)
        cuts = np.cumsum([len(one.columns) for one in studied])[:-1]
        means, variances = np.split(found.mean, cuts), np.split(found.variance, cuts)
        return [Effects(mean, variance) for mean, variance in zip(means, variances, strict=True)]

    def _ratio(self, one: _Studied, effects: Effects) -> _Ratio:
        """Weights from all models; where the ratio is 1, and its slope, from models that had no part in theirs."""
        order = generator(self.seed, "folds").permutation(len(one.members))
        scores = np.zeros(len(order))
        for held in np.array_split(order, FOLDS):
            rest = np.setdiff1d(order, held)
            answers, members = one.answers[rest], one.members[rest]
            if members.all() or not members.any():
                raise CannotMeasureError(f"{len(order)} shadow models are too few to hold some of them back")
            weights = self._weights(answers, members, effects)
            scores[held] = one.answers[held] @ weights - middle(answers, members, weights)
        apart, rise = log_ratio(scores, one.members)
        weights = self._weights(one.answers, one.members, effects)
        return _Ratio(one, weights, middle(one.answers, one.members, weights) + apart, rise)

    def _weights(self, answers: FloatArray, members: NDArray[np.bool_], effects: Effects) -> FloatArray:
        drawn = effects.drawn_to(effects_of(answers, members), noise_of(members))
        return weights_for(answers, members, drawn, self.ridge)
