"""Corò 3.1: was this canary planted? Its exposure, against what a canary that was not planted reaches by chance.

Of a text that a model never saw, every rank among the |R| texts of its format is as likely as any other, so that its
exposure log2 |R| − log2 rank passes t bits with a probability of 2^−t: a threshold of −log2 α has a false-alarm rate of
α, and nothing has to be learnt from shadow models.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_model import ModelKnowledge
from unembed.games.model_answers import POSSIBLE, RANK, Columns
from unembed.games.threat import Capability
from unembed.params import Parametrised

NO_CANARIES = (
    "could not measure: membership/canary-exposure reads what a language model makes of canaries, and an audit trains "
    "none; ask your own, as the how-to 'Canaries in your own language model' does"
)


class CanaryExposure(Parametrised):
    """Exposure against the one that chance reaches at a stated rate."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/canary-exposure",
        game="membership-model",
        title="The exposure of a canary in a language model",
        requires=frozenset({Capability.VECTORS}),
        cost="seconds",
        paper="coro2022",
        section="3.1.1, Definition 3.1.3",
        departures="The thesis measures exposure and decides nothing by it. Here a canary is taken for a planted one "
        "where chance reaches its exposure at the stated rate only.",
        default=False,
        of_game=(("answers", "canaries"),),
        by_hand=NO_CANARIES,
    )

    false_alarm: float = 0.05
    seed: int = 0

    def fit(self, knowledge: ModelKnowledge) -> Self:
        """The threshold follows from the rate."""
        if not 0 < self.false_alarm < 1:
            raise UsageError(
                f"false_alarm of 'membership/canary-exposure' lies between 0 and 1, not {self.false_alarm}"
            )
        self.columns_: Columns = knowledge.columns
        self.threshold_ = -float(np.log2(self.false_alarm))
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The exposure of each canary (Definition 3.1.3), and whether it passes the threshold."""
        exposure = self.columns_.read(vectors, POSSIBLE) - self.columns_.read(vectors, RANK)
        return InOrOutGuess(exposure, (exposure > self.threshold_).astype(np.float64))
