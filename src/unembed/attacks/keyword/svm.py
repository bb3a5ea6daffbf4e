"""Linear support vector machine per keyword (Pan VI-B, white-box setting): strong with few samples."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.encoders.base import Vectors
from unembed.games.keyword import KeywordGuess, KeywordKnowledge
from unembed.games.threat import Capability
from unembed.nn.features import Standardiser
from unembed.params import Parametrised
from unembed.seeds import seed_for


class KeywordSVM(Parametrised):
    """One linear SVM a keyword on the adversary's texts after word substitution."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/svm",
        game="keyword",
        title="Keyword inference with linear support vector machines",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        paper="pan2020",
        section="VI-B, VI-C",
        departures="Inputs are standardised; the regularisation is not stated in the paper and set here to 0.01.",
    )

    def __init__(self, *, regularisation: float = 0.01, seed: int = 0) -> None:
        self.regularisation = regularisation
        self.seed = seed

    def fit(self, knowledge: KeywordKnowledge) -> Self:
        """Standardise once, then one problem a keyword."""
        from sklearn.svm import LinearSVC

        self.scaler_ = Standardiser().fit(knowledge.vectors)
        inputs = self.scaler_.transform(knowledge.vectors)
        self.machines_ = []
        for keyword, rows, labels in zip(knowledge.keywords, knowledge.rows, knowledge.labels, strict=True):
            state = seed_for(self.seed, keyword) % 2**31
            machine = LinearSVC(C=self.regularisation, random_state=state, dual="auto", max_iter=5000)
            self.machines_.append(machine.fit(inputs[rows], labels))
        return self

    def run(self, vectors: Vectors) -> KeywordGuess:
        """Signed distance to each keyword's boundary."""
        inputs = self.scaler_.transform(vectors)
        return np.stack([m.decision_function(inputs) for m in self.machines_], axis=1).astype(np.float64)
