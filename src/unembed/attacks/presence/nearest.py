"""Ours: a text is in the index if the index comes nearer to it than to all but a few texts known to be outside.

Similarity is the cosine after each dimension was scaled to the same spread, so that one large dimension does not decide
alone; sparse vectors are compared as they are. The threshold follows from texts of the adversary's own that are not in
the index: at the stated rate a further one of their kind passes it. Public text lies farther from the index than
texts of its own kind do, so how near stored vectors come to each other is a second measure, and the stricter counts. A
vector that is the same but for rounding passes always.

Cost: one product of all candidates and outsiders with the index, in blocks.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import issparse

from unembed.attacks.base import AttackFacts
from unembed.collections.nearest import SAME, FloatArray, in_batches, nearest, threshold_for
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.presence import PresenceKnowledge
from unembed.games.rows import stack_rows
from unembed.games.threat import Capability
from unembed.nn.features import Standardiser
from unembed.params import Parametrised
from unembed.seeds import generator

#: More outsiders make the threshold no better.
MOST_OUTSIDERS = 5_000


class PresenceNearest(Parametrised):
    """The nearest vector of the index against a threshold of stated false alarms."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="presence/nearest",
        game="presence",
        title="Looking for a text in an index by its nearest vector",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES, Capability.PAIRS}),
        cost="seconds",
    )

    false_alarm: float = 0.01
    scaled: bool = True
    seed: int = 0

    def fit(self, knowledge: PresenceKnowledge) -> Self:
        """Learn the scale of the dimensions and the threshold."""
        outsiders = knowledge.vectors
        if int(outsiders.shape[0]) > MOST_OUTSIDERS:
            order = generator(self.seed, "outsiders").permutation(int(outsiders.shape[0]))
            outsiders = outsiders[np.sort(order[:MOST_OUTSIDERS])]
        self.scaler_: Standardiser | None = None
        if self.scaled and not issparse(knowledge.index):
            self.scaler_ = Standardiser().fit(stack_rows([knowledge.index, outsiders]))
        self.index_ = self._placed(knowledge.index)
        try:
            self.threshold_ = threshold_for(self._nearest(outsiders), self.false_alarm)
        except UsageError as error:
            raise CannotMeasureError(str(error)) from error
        order = generator(self.seed, "stored").permutation(int(self.index_.shape[0]))
        some, rest = np.split(order, [min(len(order) // 5, MOST_OUTSIDERS)])
        among = nearest(self.index_[np.sort(some)], in_batches(self.index_[np.sort(rest)])).similarity
        if len(among) >= 1 / self.false_alarm:
            self.threshold_ = max(self.threshold_, threshold_for(among, self.false_alarm))
        elif len(among):
            self.threshold_ = max(self.threshold_, min(float(among.max()), SAME))
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The similarity of the nearest vector, and whether it reaches the threshold."""
        scores = self._nearest(vectors)
        said = scores >= min(self.threshold_, SAME)
        return InOrOutGuess(scores, said.astype(np.float64))

    def _placed(self, vectors: Any) -> Any:
        return vectors if self.scaler_ is None else self.scaler_.transform(vectors)

    def _nearest(self, vectors: Any) -> FloatArray:
        return nearest(self._placed(vectors), in_batches(self.index_)).similarity
