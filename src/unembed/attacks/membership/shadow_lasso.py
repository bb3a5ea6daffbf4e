"""Mahloujifar, Algorithms 1 and 2: distances of neighbouring words, weighed by LASSO over shadow models.

For each user a line through the distances of adjacent words of their data is learnt from shadow models that were
trained with and without them; most weights are zero, so that few words have to be asked of the model under attack.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.lasso import MOST_PAIRS, Reader, fitted
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import IntArray
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_user import UserColumns, UserKnowledge, answers_in, users_of
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised
from unembed.shadows.signals import Asked


class ShadowLasso(Parametrised):
    """A sparse line per user, learnt from shadow models."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/shadow-lasso",
        game="membership-user",
        title="Distances of neighbouring words, weighed over shadow models",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES}),
        cost="minutes",
        paper="mahloujifar2021",
        section="Algorithms 1 and 2, section 3",
        departures="Distances are standardised over the shadow models before the LASSO, whose penalty 1/√k weighs "
        "against the mean, not the sum, of the squares; the paper says neither. A pair with a word that a model does "
        "not know counts as its mean; the paper's models know every word of its dictionary.",
    )

    most_pairs: int = MOST_PAIRS
    seed: int = 0

    def fit(self, knowledge: UserKnowledge) -> Self:
        """Learn a line for each user."""
        self.users_ = knowledge.users
        self.columns_: list[IntArray] = [adjacent(user) for user in knowledge.users]
        self.readers_: list[Reader] = []
        for user, columns in enumerate(self.columns_):
            answers, members = knowledge.of(user)
            self.readers_.append(fitted(answers[:, columns], members, most=self.most_pairs))
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """On which side of its user's line each trial lies."""
        scores = np.zeros(int(vectors.shape[0]))
        whose = users_of(vectors, len(self.users_))
        for user, (columns, reader) in enumerate(zip(self.columns_, self.readers_, strict=True)):
            rows = np.flatnonzero(whose == user)
            scores[rows] = reader.score(answers_in(vectors, rows, self.users_[user])[:, columns])
        return said_above_zero(scores)


def asked_about(user: UserColumns) -> Asked:
    """The pairs of words that models were asked for about a user."""
    if user.asked is None:
        raise CannotMeasureError("the model was not asked for distances of words: this attack has nothing to read")
    return user.asked


def adjacent(user: UserColumns) -> IntArray:
    """The distances of words that stand side by side."""
    return np.flatnonzero(asked_about(user).gaps == 1)


def said_above_zero(scores: FloatArray) -> InOrOutGuess:
    """In where the score is above 0."""
    return InOrOutGuess(scores, (scores > 0).astype(np.float64))
