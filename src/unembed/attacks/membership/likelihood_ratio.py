"""Ours, in the manner of Carlini et al. 2022 (LiRA): is this answer to this text more usual for members or for others?

Some texts are answered well by every model and some badly by all: what tells is how a text's answer differs from those
of models of which it is known whether they learnt from it. φ = log p[c] − log Σ_{i≠c} p[i] is about normal for either
kind. For each text the mean of φ over the shadow models that did not learn from it comes from asking them;
the mean over those that did likewise where there are some, else from a line through the adversary's own texts, which
says how far learning lifts a text that stands so high. The score is

    log N(φ; μ_in, σ_in) − log N(φ; μ_out, σ_out) .
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.features import log_odds
from unembed.attacks.membership.thresholds import best_threshold
from unembed.encoders.base import Vectors
from unembed.games.base import IntArray
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_model import ModelKnowledge
from unembed.games.model_answers import Columns
from unembed.games.rows import stack_rows
from unembed.games.threat import Capability
from unembed.metrics.spread import FloatArray
from unembed.params import Parametrised

#: φ beyond this says no more: a probability has no more digits there.
FARTHEST = 30.0
#: Models that must have learnt from a text before the mean of their answers is taken for its own.
FEWEST_MODELS = 2


@dataclass(frozen=True)
class Usual:
    """How φ is distributed around what is expected of a text: a line in μ_out, and the deviation from it."""

    slope: float
    offset: float
    deviation: float

    @classmethod
    def through(cls, expected: FloatArray, seen: FloatArray) -> Usual:
        """The line of least squares; level where nothing varies."""
        centre, spread = expected.mean(), expected.var()
        slope = float(((expected - centre) * (seen - seen.mean())).mean() / spread) if spread > 1e-12 else 0.0
        offset = float(seen.mean() - slope * centre)
        return cls(slope, offset, max(float((seen - slope * expected - offset).std()), 1e-3))

    def at(self, expected: FloatArray) -> FloatArray:
        """What is expected."""
        return self.slope * expected + self.offset


class LikelihoodRatio(Parametrised):
    """How much likelier an answer is from a model that learnt from the text than from one that did not."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/likelihood-ratio",
        game="membership-model",
        title="Likelihood ratio of a classifier's answer, each text against what other models answer to it",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        of_game=(("answers", "classifier"),),
    )

    seed: int = 0

    def fit(self, knowledge: ModelKnowledge) -> Self:
        """Gather what shadow models answer to each text, and how members and others lie around it."""
        self.columns_: Columns = knowledge.columns
        rows, members = knowledge.vectors, knowledge.members
        if knowledge.beside is not None:
            rows = stack_rows([rows, knowledge.beside])
            members = np.concatenate([members, np.zeros(int(knowledge.beside.shape[0]), dtype=bool)])
        values, texts = self._read(rows)
        self.outside_ = Means.of(texts[~members], values[~members])
        self.inside_ = Means.of(texts[members], values[members])
        self.usual_out_ = float(values[~members].mean())
        own = int(knowledge.vectors.shape[0])
        values, texts, members = values[:own], texts[:own], knowledge.members
        # What the other models answered to a text: its own answer must not be part of what is expected of it.
        rest, known = self.outside_.without(texts, values, ~members)
        expected = np.where(known, rest, self.usual_out_)
        self.others_ = Usual.through(expected[~members], values[~members])
        self.members_ = Usual.through(expected[members], values[members])
        apart, seen = self.inside_.without(texts[members], values[members], np.ones(int(members.sum()), dtype=bool))
        left = values[members][seen] - apart[seen]
        self.deviation_ = max(float(left.std()), 1e-3) if seen.any() else self.members_.deviation
        inside, seen = self.inside_.without(texts, values, members, FEWEST_MODELS)
        self.threshold_ = best_threshold(self._ratio(values, expected, inside, seen), members)
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The log of the ratio."""
        values, texts = self._read(vectors)
        mean, known = self.outside_.at(texts)
        expected = np.where(known, mean, self.usual_out_)
        scores = self._ratio(values, expected, *self.inside_.at(texts, FEWEST_MODELS))
        return InOrOutGuess(scores, (scores >= self.threshold_).astype(np.float64))

    def _ratio(
        self, values: FloatArray, expected: FloatArray, inside: FloatArray, seen: NDArray[np.bool_]
    ) -> FloatArray:
        """The score; ``inside`` is the mean over models that learnt from a text, where ``seen`` says there are some."""
        mean = np.where(seen, inside, self.members_.at(expected))
        deviation = np.where(seen, self.deviation_, self.members_.deviation)
        others = np.full(len(values), self.others_.deviation)
        return _log_normal(values, mean, deviation) - _log_normal(values, self.others_.at(expected), others)

    def _read(self, vectors: Vectors) -> tuple[FloatArray, IntArray]:
        """φ and the number of the text of each row."""
        values = log_odds(self.columns_.probabilities(vectors), self.columns_.labels(vectors))
        return np.clip(values, -FARTHEST, FARTHEST), self.columns_.numbers(vectors, "text")


@dataclass(frozen=True)
class Means:
    """The sum of some values for each text, and how many there are."""

    texts: IntArray
    sums: FloatArray
    counts: FloatArray

    @classmethod
    def of(cls, texts: IntArray, values: FloatArray) -> Means:
        """Of values by the number of their text."""
        found, places = np.unique(texts, return_inverse=True)
        sums = np.bincount(places, weights=values).astype(np.float64)
        return cls(found, sums, np.bincount(places).astype(np.float64))

    def at(self, texts: IntArray, fewest: int = 1) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The mean of each text, and whether it rests on as many values as are wanted."""
        return self.without(texts, np.zeros(len(texts)), np.zeros(len(texts), dtype=bool), fewest)

    def without(
        self, texts: IntArray, values: FloatArray, own: NDArray[np.bool_], fewest: int = 1
    ) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The same without a value of each row that is ``own``: one of those the mean is made of."""
        if not len(self.texts):
            return np.zeros(len(texts)), np.zeros(len(texts), dtype=bool)
        places = np.minimum(np.searchsorted(self.texts, texts), len(self.texts) - 1)
        there = self.texts[places] == texts
        counts = np.where(there, self.counts[places] - own, 0)
        sums = self.sums[places] - np.where(own, values, 0)
        return np.asarray(sums / np.maximum(counts, 1)), counts >= fewest


def _log_normal(values: FloatArray, means: FloatArray, deviations: FloatArray) -> FloatArray:
    return np.asarray(-np.log(deviations) - ((values - means) / deviations) ** 2 / 2)
