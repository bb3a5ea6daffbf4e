"""Linear support vector machine per keyword (Pan VI-B, white-box setting): strong with few samples."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.learners.folds import IntArray, folds
from unembed.encoders.base import Vectors
from unembed.games.keyword import KeywordGuess, KeywordKnowledge
from unembed.games.rows import some_rows
from unembed.games.threat import Capability
from unembed.nn.features import CHUNK, Scaling, Standardiser
from unembed.params import Parametrised
from unembed.seeds import seed_for

#: What is tried on held-back rows, the strongest regularisation first. A word that stands along one large dimension
#: is lost when every dimension is scaled to the same variance; where dimensions differ in size for other reasons it
#: is lost when they are not.
STRENGTHS = (1e-4, 1e-3, 1e-2)
SCALINGS: tuple[Scaling, ...] = ("each", "common")
#: Held-back rows are taken in so many parts, of at most so many rows per keyword.
PARTS, MOST_TRIED = 3, 400


class KeywordSVM(Parametrised):
    """One linear SVM per keyword on the adversary's texts after word substitution."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/svm",
        game="keyword",
        title="Keyword inference with linear support vector machines",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        paper="pan2020",
        section="VI-B, VI-C",
        departures="Inputs are standardised, per keyword; the regularisation, which the paper does not state, and "
        "whether each dimension is scaled or all alike are chosen on held-back rows.",
        version=3,
        default=False,
    )

    regularisation: float | None = None
    seed: int = 0

    def fit(self, knowledge: KeywordKnowledge) -> Self:
        """One problem per keyword, each on its own rows and in its own scale."""
        self.machines_: list[tuple[Standardiser, Any]] = []
        for keyword, rows, labels in zip(knowledge.keywords, knowledge.rows, knowledge.labels, strict=True):
            origins = some_rows(knowledge.origins, rows)
            state = seed_for(self.seed, keyword) % 2**31
            scalers = [Standardiser(scaling).fit(knowledge.vectors[rows]) for scaling in SCALINGS]
            inputs = [scaler.transform(knowledge.vectors[rows]) for scaler in scalers]
            strength, kind = self._chosen(inputs, labels, origins, state)
            self.machines_.append((scalers[kind], _machine(strength, state).fit(inputs[kind], labels)))
        return self

    def _chosen(
        self, inputs: list[NDArray[np.float32]], labels: NDArray[np.bool_], origins: IntArray | None, state: int
    ) -> tuple[float, int]:
        """The regularisation and the scaling that answer most held-back rows right; of equals the strongest."""
        strengths = STRENGTHS if self.regularisation is None else (self.regularisation,)
        parts = min(PARTS, int(labels.sum()), int((~labels).sum()))
        if parts < 2:
            return strengths[len(strengths) // 2], 0
        held = folds(labels, state, parts, origins, MOST_TRIED)
        tried = np.concatenate(held)
        splits = [(np.setdiff1d(tried, part), part) for part in held]

        def right(strength: float, kind: int) -> int:
            own = inputs[kind]
            machines = ((_machine(strength, state).fit(own[rest], labels[rest]), part) for rest, part in splits)
            return sum(int((machine.predict(own[part]) == labels[part]).sum()) for machine, part in machines)

        choices = [(strength, kind) for strength in strengths for kind in range(len(inputs))]
        return max(choices, key=lambda choice: right(*choice))

    def run(self, vectors: Vectors) -> KeywordGuess:
        """Signed distance to each keyword's boundary."""
        guess = np.empty((int(vectors.shape[0]), len(self.machines_)))
        for start in range(0, len(guess), CHUNK):
            part = slice(start, start + CHUNK)
            for column, (scaler, machine) in enumerate(self.machines_):
                guess[part, column] = machine.decision_function(scaler.transform(vectors[part]))
        return guess


def _machine(strength: float, state: int) -> Any:
    """The constant input that stands for the intercept is ten times as large as the others: it is hardly penalised."""
    from sklearn.svm import LinearSVC

    return LinearSVC(C=strength, intercept_scaling=10, random_state=state, dual="auto", max_iter=5000)
