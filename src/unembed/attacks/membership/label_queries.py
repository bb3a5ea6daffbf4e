"""Mahloujifar, Algorithms 3 and 4: whose data a classifier's word vectors learnt from, told by its labels alone.

Documents get words of the user's data appended until their label changes; when it does depends on where the word
vectors lie. A random forest learns from shadow classifiers how answers differ where the user's data were used.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.shadow_lasso import said_above_zero
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_user import UserKnowledge, answers_in, users_of
from unembed.games.threat import Capability
from unembed.params import Parametrised
from unembed.seeds import seed_for

NO_LABELS = (
    "could not measure: this attack reads the labels of classifiers, and models were asked for vectors; "
    "ask your own and deal it the answers, as the how-to 'Membership through a model' does"
)


class LabelQueries(Parametrised):
    """A random forest per user on the labels that shadow classifiers give."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/label-queries",
        game="membership-user",
        title="A classifier's labels, read by a forest over shadow classifiers",
        requires=frozenset({Capability.QUERIES}),
        cost="seconds",
        paper="mahloujifar2021",
        section="Algorithms 3 and 4, section 4",
        departures="The paper does not say how many trees the forest has. Queries that all shadow classifiers answer "
        "alike tell nothing and are not made.",
        default=False,
        by_hand=NO_LABELS,
    )

    trees: int = 100
    seed: int = 0

    def fit(self, knowledge: UserKnowledge) -> Self:
        """Grow a forest for each user."""
        from sklearn.ensemble import RandomForestClassifier

        if any(user.asked is not None for user in knowledge.users):
            raise CannotMeasureError(NO_LABELS)
        self.users_ = knowledge.users
        self.forests_: list[Any] = []
        for number, user in enumerate(knowledge.users):
            answers, members = knowledge.of(number)
            if members.all() or not members.any():
                raise CannotMeasureError(f"{user.name} is in all shadow classifiers or in none: no forest can be grown")
            state = seed_for(self.seed, "forest", user.name) % 2**32
            forest = RandomForestClassifier(n_estimators=self.trees, random_state=state, n_jobs=1)
            self.forests_.append(forest.fit(answers.astype(np.float32), members))
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The share of trees that say a user's data were used, less one half."""
        scores = np.zeros(int(vectors.shape[0]))
        whose = users_of(vectors, len(self.users_))
        for number, (user, forest) in enumerate(zip(self.users_, self.forests_, strict=True)):
            rows = np.flatnonzero(whose == number)
            if len(rows):
                answers = answers_in(vectors, rows, user).astype(np.float32)
                scores[rows] = forest.predict_proba(answers)[:, -1] - 0.5
        return said_above_zero(scores)
