"""Corò 3.3: was a user's data learnt from? One classifier on aggregates of what a model answers to all their texts.

Mean, variance, smallest and largest of each feature over the texts of one user make a vector; a logistic regression
tells from it whether the user was in, learnt from shadow models. Every text gets what is said of its user.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.features import Feature, feature_of
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import IntArray
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_model import ModelKnowledge
from unembed.games.model_answers import USER, Columns
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised

FEATURES: tuple[Feature, ...] = ("confidence", "rank", "entropy")


class UserAggregates(Parametrised):
    """Logistic regression on mean, variance, smallest and largest of three features over a user's texts."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/user-aggregates",
        game="membership-model",
        title="A classifier of users by aggregates of what a classifier answers to their texts",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        paper="coro2022",
        section="3.3",
        departures="The thesis does not say which features are aggregated: here all three. Where writers are not "
        "known, every text is a user of its own.",
        default=False,
        of_game=(("answers", "classifier"),),
    )

    seed: int = 0

    def fit(self, knowledge: ModelKnowledge) -> Self:
        """Learn from the users of the shadow models, each counted once for every model."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.columns_: Columns = knowledge.columns
        rows, users = self._aggregated(knowledge.vectors, knowledge.models)
        members = np.bincount(users, weights=knowledge.members) > np.bincount(users) / 2
        if members.all() or not members.any():
            raise CannotMeasureError("the shadow models learnt from every user, or from none: nothing can be learnt")
        self.model_: Any = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(rows, members)
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The log-odds of each text's user."""
        rows, users = self._aggregated(vectors, np.zeros(int(vectors.shape[0]), dtype=np.int64))
        scores = np.asarray(self.model_.decision_function(rows), dtype=np.float64)[users]
        return InOrOutGuess(scores, (scores > 0).astype(np.float64))

    def _aggregated(self, vectors: Vectors, models: IntArray) -> tuple[FloatArray, IntArray]:
        """A row per user and model, and to which each text belongs."""
        pairs = np.stack([self.columns_.numbers(vectors, USER), models], axis=1)
        users = np.unique(pairs, axis=0, return_inverse=True)[1].ravel()
        order = np.argsort(users, kind="stable")
        starts = np.flatnonzero(np.diff(users[order], prepend=-1))
        count = np.diff(np.append(starts, len(order)))
        rows = []
        for name in FEATURES:
            values = feature_of(name, self.columns_, vectors)[order]
            mean = np.add.reduceat(values, starts) / count
            variance = np.add.reduceat(values**2, starts) / count - mean**2
            rows += [mean, np.maximum(variance, 0)]
            rows += [np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)]
        return np.stack(rows, axis=1), np.asarray(users, dtype=np.int64)
