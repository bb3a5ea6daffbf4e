"""Ours: the best of several cheap and different regressors, chosen on held-back numbers (after Song 4, Alg. 3)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.learners.candidates import Candidate, among, regressors
from unembed.attacks.learners.choice import FloatRows, Rows, choose
from unembed.encoders.base import Vectors
from unembed.games.base import IntArray
from unembed.games.number import NumberGuess, NumberKnowledge
from unembed.games.threat import Capability
from unembed.metrics.estimate import FloatArray
from unembed.params import Parametrised
from unembed.seeds import seed_for


class NumberPortfolio(Parametrised):
    """Ridge, screened, trees, neighbours and a small network; ``chosen_`` names the winner.

    Regressors learn the numbers' distance from their median, in units of their spread, and answer between the numbers
    they have seen. ``quick`` leaves out trees and network; ``only`` names the one candidate that takes part.
    """

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="number/portfolio",
        game="number",
        title="Inference of a quantity with the best of several regressors",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        paper="song2020",
        section="4, Alg. 3",
        departures="The paper infers classes with a linear classifier; here several regressors compete on held-back "
        "numbers, and the winner learns from all.",
    )

    quick: bool = False
    only: str | None = None
    seed: int = 0

    def fit(self, knowledge: NumberKnowledge) -> Self:
        """Choose by the mean absolute error on held-back numbers and fit the winner."""
        numbers = np.asarray(knowledge.numbers, dtype=np.float64)
        self.middle_ = float(np.median(numbers))
        self.unit_ = float(np.abs(numbers - self.middle_).mean()) or 1.0
        self.range_ = float(numbers.min()), float(numbers.max())
        scaled = np.clip((numbers - self.middle_) / self.unit_, -10, 10)
        self.rows_ = Rows().fit(knowledge.vectors)
        rows, stored = {raw: self.rows_.of(knowledge.vectors, raw) for raw in (False, True)}, knowledge.as_stored
        asked = None if stored is None else {raw: self.rows_.of(stored, raw) for raw in rows}
        tried = regressors(len(numbers), self.rows_.width, seed_for(self.seed, "candidates") % 2**31)
        candidates = among(tried, quick=self.quick, only=self.only)

        def score(answers: FloatArray, seen: IntArray) -> float:
            return -float(np.abs(answers - scaled[seen]).mean())

        self.selected_ = choose(candidates, rows, scaled, score, _answers, self.seed, asked)
        self.chosen_ = self.selected_.candidate.name
        return self

    def run(self, vectors: Vectors) -> NumberGuess:
        """One number per vector."""
        selected = self.selected_
        answers = _answers(selected.candidate, selected.model, self.rows_.of(vectors, selected.candidate.raw))
        return np.asarray(np.clip(answers * self.unit_ + self.middle_, *self.range_))


def _answers(candidate: Candidate, model: Any, rows: FloatRows) -> FloatArray:
    return np.asarray(model.predict(rows), dtype=np.float64)
