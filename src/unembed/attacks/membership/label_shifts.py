"""Ours: how far every word of a person moves a classifier's labels, read as one likelihood ratio.

Mahloujifar's Algorithm 3 asks about the few words whose distances tell most, and a forest reads each answer alone. But
a label says next to nothing of where a word lies, and the mean of many labels says much: how far a word moves the
labels of all documents is a number, known for each word of the person, and what their data do to it is learnt from
shadow classifiers (``attacks.membership.likelihood``). Effects are drawn to 0 by as much as their own variance calls
for.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.label_queries import NO_LABELS
from unembed.attacks.membership.likelihood import LEAST_VARIANCE, Effects, effects_of, noise_of, ratio_for
from unembed.attacks.membership.shadow_lasso import said_above_zero
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_user import UserKnowledge, answers_in, users_of
from unembed.games.threat import Capability
from unembed.params import Parametrised


class LabelShifts(Parametrised):
    """A likelihood ratio per user of how far words move the labels of shadow classifiers."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/label-shifts",
        game="membership-user",
        title="How far all of a person's words move a classifier's labels",
        requires=frozenset({Capability.QUERIES}),
        cost="seconds",
        default=False,
        by_hand=NO_LABELS,
    )

    ridge: float = 0.5
    seed: int = 0

    def fit(self, knowledge: UserKnowledge) -> Self:
        """Learn a ratio for each user."""
        if any(user.asked is not None for user in knowledge.users):
            raise CannotMeasureError(NO_LABELS)
        self.users_ = knowledge.users
        self.read_ = []
        for number in range(len(knowledge.users)):
            answers, members = knowledge.of(number)
            varied = np.flatnonzero(np.ptp(answers, axis=0) > 0)
            centre, scale = answers[:, varied].mean(axis=0), answers[:, varied].std(axis=0)
            moved = (answers[:, varied] - centre) / scale
            variance = max(float(np.mean(effects_of(moved, members) ** 2)) - noise_of(members), LEAST_VARIANCE)
            effects = Effects(np.zeros(len(varied)), np.full(len(varied), variance))
            self.read_.append((varied, centre, scale, ratio_for(moved, members, effects, self.ridge, self.seed)))
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The log of the likelihood ratio of each trial."""
        scores = np.zeros(int(vectors.shape[0]))
        whose = users_of(vectors, len(self.users_))
        for number, (varied, centre, scale, ratio) in enumerate(self.read_):
            rows = np.flatnonzero(whose == number)
            answers = answers_in(vectors, rows, self.users_[number])[:, varied]
            scores[rows] = ratio.of((answers - centre) / scale)
        return said_above_zero(scores)
