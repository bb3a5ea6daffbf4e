"""Ours: the best of several cheap and different classifiers, chosen on held-back texts (after Pan VI-B).

One kind of classifier serves all keywords: a keyword has some hundred training texts, too few to choose by alone.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.attribute.classes import ClassReader
from unembed.attacks.base import AttackFacts
from unembed.attacks.learners.candidates import Candidate, among, classifiers
from unembed.encoders.base import Vectors
from unembed.games.base import IntArray
from unembed.games.keyword import KeywordGuess, KeywordKnowledge
from unembed.games.rows import some_rows
from unembed.games.threat import Capability
from unembed.params import Parametrised
from unembed.seeds import generator, seed_for

#: Keywords on which the candidates compete, and as many for a quick choice.
TRIED, QUICK = 5, 2


class KeywordPortfolio(Parametrised):
    """Linear, screened and nearest neighbours; ``chosen_`` names the winner.

    ``quick`` lets them compete on two keywords instead of five; ``only`` names the one candidate that takes part.
    """

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/portfolio",
        game="keyword",
        title="Keyword inference with the best of several classifiers",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        paper="pan2020",
        section="VI-B, VI-C",
        version=2,
        departures="The paper trains a support vector machine per keyword. Here linear models, screened coordinates "
        "and their products, and nearest neighbours compete on held-back texts of five keywords.",
    )

    quick: bool = False
    only: str | None = None
    seed: int = 0

    def fit(self, knowledge: KeywordKnowledge) -> Self:
        """Choose one candidate by the mean of the keywords' held-back scores, then fit it for each keyword."""
        rows = int(np.median([len(own) for own in knowledge.rows]))
        width = int(knowledge.vectors.shape[1])
        tried = classifiers(rows, width, 2, seed_for(self.seed, "candidates") % 2**31)
        candidates = among(tried, quick=True, only=self.only)
        totals = dict.fromkeys((c.name for c in candidates), 0.0)
        columns = generator(self.seed, "tried").permutation(len(knowledge.keywords))[: QUICK if self.quick else TRIED]
        for column in columns if len(candidates) > 1 else ():
            scores = self._reader(knowledge, int(column), candidates).chosen_.scores
            totals = {name: total + scores[name] for name, total in totals.items()}
        winner = max(candidates, key=lambda c: totals[c.name])
        self.chosen_ = winner.name
        self.readers_ = [self._reader(knowledge, column, [winner]) for column in range(len(knowledge.keywords))]
        return self

    def _reader(self, knowledge: KeywordKnowledge, column: int, candidates: list[Candidate]) -> ClassReader:
        rows, labels = knowledge.rows[column], knowledge.labels[column]
        reader = ClassReader(2, seed_for(self.seed, knowledge.keywords[column]))
        answers: IntArray = labels.astype(np.int64)
        asked = some_rows(knowledge.as_stored, rows)
        return reader.fit(knowledge.vectors[rows], answers, candidates, asked, some_rows(knowledge.origins, rows))

    def run(self, vectors: Vectors) -> KeywordGuess:
        """Log-odds of each keyword."""
        said = [reader.read(vectors) for reader in self.readers_]
        return np.stack([odds[:, 1] - odds[:, 0] for odds in said], axis=1)
