"""Mahloujifar, Algorithm 5: whose data a language model learnt from, told by its likeliest next word alone.

The pairs of neighbouring words whose distance in shadow word vectors tells most (Algorithm 1) are asked about: each
sentence of the user up to the first word. A user is a member if the model says the second word even once.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.lasso import MOST_PAIRS
from unembed.attacks.membership.preparation import chosen_pairs
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import IntArray
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_user import NextWordColumns, UserColumns, UserKnowledge, answers_in, users_of
from unembed.games.threat import Capability
from unembed.params import Parametrised

#: Which pairs are asked about: those that the preparation chose, all (the first baseline of 5.2), or those with a word
#: that no public dictionary has (the second).
Pairs = Literal["chosen", "all", "rare"]
NO_WORDS = (
    "could not measure: membership/next-word reads the next words of a language model, and models were asked for "
    "something else; ask your own and deal it the answers, as the how-to 'Membership through a model' does"
)


class NextWord(Parametrised):
    """Any hit among the pairs that the preparation chose."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/next-word",
        game="membership-user",
        title="A language model's likeliest next word, for pairs chosen over shadow word vectors",
        requires=frozenset({Capability.QUERIES}),
        cost="seconds",
        paper="mahloujifar2021",
        section="Algorithm 5, section 5",
        departures="The paper only decides; the score by which trials are ranked here is the share of a user's pairs "
        "that hit.",
        default=False,
        by_hand=NO_WORDS,
    )

    pairs: Pairs = "chosen"
    most_pairs: int = MOST_PAIRS
    seed: int = 0

    def fit(self, knowledge: UserKnowledge) -> Self:
        """Choose pairs for each user."""
        if self.pairs not in ("chosen", "all", "rare"):
            raise UsageError(f"'pairs' of membership/next-word is chosen, all or rare, not '{self.pairs}'")
        self.users_ = knowledge.users
        self.asked_: list[IntArray] = [
            self._pairs_of(user, number, knowledge) for number, user in enumerate(knowledge.users)
        ]
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The share of its user's pairs that hit in each trial; one is enough."""
        scores = np.zeros(int(vectors.shape[0]))
        whose = users_of(vectors, len(self.users_))
        for number, (user, columns) in enumerate(zip(self.users_, self.asked_, strict=True)):
            rows = np.flatnonzero(whose == number)
            answers = answers_in(vectors, rows, user)[:, columns]
            scores[rows] = (answers > 0).sum(axis=1) / np.maximum((answers != 0).sum(axis=1), 1)
        return InOrOutGuess(scores, (scores > 0).astype(np.float64))

    def _pairs_of(self, user: UserColumns, number: int, knowledge: UserKnowledge) -> IntArray:
        if not isinstance(user, NextWordColumns):
            raise CannotMeasureError(NO_WORDS)
        if self.pairs == "all":
            return np.arange(user.width)
        if self.pairs == "rare":
            if user.rare is None:
                raise CannotMeasureError("no public dictionary says which pairs of words are rare")
            return np.flatnonzero(user.rare)
        return chosen_pairs(user, *knowledge.of(number), most=self.most_pairs)
