"""Corò 3.2, after Carlini et al. 2021: which of some candidates did a language model learn by heart?

Candidates are ranked by how likely the model finds them, alone or beside what finds ordinary texts likely too:

    perplexity   − log-perplexity per token
    ratio        log-perplexity of a second model  /  log-perplexity
    zlib         bits when compressed              /  log-perplexity
    lower        log-perplexity of the lower-cased text  /  log-perplexity
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self, TypeAlias

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.thresholds import best_threshold
from unembed.encoders.base import Vectors
from unembed.errors import UnknownNameError
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_model import ModelKnowledge
from unembed.games.model_answers import LOG_PERPLEXITY, LOWER, SECOND, TOKENS, ZLIB, Columns
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised

Ranking: TypeAlias = Literal["perplexity", "ratio", "zlib", "lower"]
#: What each ranking holds the log-perplexity against.
AGAINST = {"perplexity": TOKENS, "ratio": SECOND, "zlib": ZLIB, "lower": LOWER}
#: A log-perplexity is not taken for less: a text of no bits at all has no ratio.
LEAST_BITS = 1e-3

NO_LANGUAGE_MODEL = (
    "could not measure: membership/extraction reads what language models make of texts, and an audit trains none; ask "
    "your own and deal it the answers with unembed.games.membership_model.dealt"
)


class Extraction(Parametrised):
    """One score per candidate, and the threshold that told best on the adversary's own model."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/extraction",
        game="membership-model",
        title="Candidates ranked by perplexity, alone or against a second model, zlib, or lower case",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        paper="coro2022",
        section="3.2",
        departures="Perplexity alone is counted per token, so that short texts don't lead. In the paper people look at "
        "the first of each ranking; here a threshold learnt from shadow models decides, and the curves need none.",
        default=False,
        of_game=(("answers", "texts"),),
        by_hand=NO_LANGUAGE_MODEL,
    )

    ranking: Ranking = "ratio"
    seed: int = 0

    def fit(self, knowledge: ModelKnowledge) -> Self:
        """The threshold on the adversary's own models."""
        if self.ranking not in AGAINST:
            raise UnknownNameError("ranking of 'membership/extraction'", self.ranking, AGAINST)
        self.columns_: Columns = knowledge.columns
        self.threshold_ = best_threshold(self._scores(knowledge.vectors), knowledge.members)
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The score of each candidate, and whether it reaches the threshold."""
        scores = self._scores(vectors)
        return InOrOutGuess(scores, (scores >= self.threshold_).astype(np.float64))

    def _scores(self, vectors: Vectors) -> FloatArray:
        bits = np.maximum(self.columns_.read(vectors, LOG_PERPLEXITY), LEAST_BITS)
        against = self.columns_.read(vectors, AGAINST[self.ranking])
        if self.ranking == "perplexity":
            return np.asarray(-bits / np.maximum(against, 1))
        return np.asarray(np.maximum(against, 0) / bits)
