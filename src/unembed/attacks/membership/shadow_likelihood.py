"""Ours: the likelihood ratio of all answers about a user's data, with effects drawn to what words let expect.

Beside words that stand side by side it reads those up to the game's ``reach`` apart, each distance beside the lengths
of both vectors. ``attacks.membership.likelihood`` has the statistics. Cost: for n shadow models and p pairs n²p
operations per user and fold, a fraction of training one of the models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.lasso import MOST_UNKNOWN
from unembed.attacks.membership.likelihood import (
    Effects,
    effects_of,
    expected,
    kinds_of_pairs,
    nearness,
    noise_of,
    ratio_for,
)
from unembed.attacks.membership.shadow_lasso import asked_about, said_above_zero
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_user import UserKnowledge, answers_in, users_of
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised
from unembed.shadows.signals import Asked


@dataclass(frozen=True)
class _Studied:
    """One user's pairs of words, how near they lie in the shadow models, in deviations, and whose models those are."""

    asked: Asked
    columns: NDArray[np.int64]
    centre: FloatArray
    scale: FloatArray
    near: FloatArray
    members: NDArray[np.bool_]

    @classmethod
    def of(cls, asked: Asked, answers: FloatArray, members: NDArray[np.bool_]) -> Self:
        """With the pairs that nearly every model knows."""
        near = nearness(answers, asked)
        known = np.flatnonzero(np.isnan(near).mean(axis=0) <= MOST_UNKNOWN)
        centre, scale = np.nanmean(near[:, known], axis=0), np.nanstd(near[:, known], axis=0)
        varied = scale > 0
        columns, centre, scale = known[varied], centre[varied], scale[varied]
        return cls(asked, columns, centre, scale, _deviations(near[:, columns], centre, scale), members)

    def deviations(self, answers: FloatArray) -> FloatArray:
        """The same of other models; 0 where a word is not known."""
        return _deviations(nearness(answers, self.asked)[:, self.columns], self.centre, self.scale)


def _deviations(near: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    return np.nan_to_num((near - centre) / scale)


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
        studied = [_Studied.of(asked_about(one), *knowledge.of(user)) for user, one in enumerate(knowledge.users)]
        if not any(len(one.columns) for one in studied):
            raise CannotMeasureError("the shadow models know no two neighbouring words of any user")
        expectations = self._expected(studied)
        self.read_ = [
            (one, ratio_for(one.near, one.members, effects, self.ridge, self.seed))
            for one, effects in zip(studied, expectations, strict=True)
        ]
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The log of the likelihood ratio of each trial."""
        scores = np.zeros(int(vectors.shape[0]))
        whose = users_of(vectors, len(self.users_))
        for user, (studied, ratio) in enumerate(self.read_):
            rows = np.flatnonzero(whose == user)
            scores[rows] = ratio.of(studied.deviations(answers_in(vectors, rows, self.users_[user])))
        return said_above_zero(scores)

    def _expected(self, studied: list[_Studied]) -> list[Effects]:
        """What is expected of the effect on every pair of each user."""
        kinds = np.concatenate([kinds_of_pairs(one.asked)[one.columns] for one in studied])
        seen = np.concatenate([effects_of(one.near, one.members) for one in studied])
        found = expected(kinds, seen, float(np.mean([noise_of(one.members) for one in studied])))
        cuts = np.cumsum([len(one.columns) for one in studied])[:-1]
        means, variances = np.split(found.mean, cuts), np.split(found.variance, cuts)
        return [Effects(mean, variance) for mean, variance in zip(means, variances, strict=True)]
