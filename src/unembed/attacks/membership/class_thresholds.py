"""Corò 3.3: a threshold for each class on how surely, or how rightly, a classifier answers.

For each class c the features of the texts that shadow models learnt from and of those they did not give τ_c; a text of
class c is taken for a member where its own feature reaches τ_c.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.features import Feature, feature_of
from unembed.attacks.membership.thresholds import best_threshold
from unembed.encoders.base import Vectors
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_model import ModelKnowledge
from unembed.games.model_answers import Columns
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised


class ClassThresholds(Parametrised):
    """One number per answer, one threshold per class."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/class-thresholds",
        game="membership-model",
        title="A threshold for each class on a classifier's confidence, rank or entropy",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        paper="coro2022",
        section="3.3",
        departures="A class without shadow texts of both kinds has the threshold of all classes together. Rank and "
        "modified entropy are low for members, where the printed rule takes high values for members: they are negated.",
        of_game=(("answers", "classifier"),),
    )

    feature: Feature = "confidence"
    seed: int = 0

    def fit(self, knowledge: ModelKnowledge) -> Self:
        """Learn the threshold of each class."""
        self.columns_: Columns = knowledge.columns
        values = feature_of(self.feature, self.columns_, knowledge.vectors)
        labels, members = self.columns_.labels(knowledge.vectors), knowledge.members
        self.thresholds_: FloatArray = np.full(self.columns_.classes, best_threshold(values, members))
        for label in range(self.columns_.classes):
            rows = labels == label
            if members[rows].any() and not members[rows].all():
                self.thresholds_[label] = best_threshold(values[rows], members[rows])
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """How far each feature lies above the threshold of its class."""
        values = feature_of(self.feature, self.columns_, vectors)
        above = values - self.thresholds_[self.columns_.labels(vectors)]
        return InOrOutGuess(above, (above >= 0).astype(np.float64))
