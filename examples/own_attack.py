"""An attack of your own, in one file: the words of the nearest vectors whose texts are known.

Run: python examples/own_attack.py
The same on the command line: unembed attack examples/own_attack.py:NearestTexts --texts FILE
"""

from __future__ import annotations

import tempfile
from typing import ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix

from unembed.attacks.base import AttackFacts
from unembed.encoders.base import DenseVectors, Vectors
from unembed.games.inversion import InversionGuess, InversionKnowledge
from unembed.games.threat import Capability
from unembed.nn.features import Standardiser
from unembed.params import Parametrised
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec
from unembed.testing import check_attack


class NearestTexts(Parametrised):
    """Guesses the words that at least ``votes`` of the ``neighbours`` nearest known texts share."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="inversion/nearest",
        game="inversion",
        title="Words of the nearest known texts",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        departures="Of no paper: an example.",
    )

    def __init__(self, *, neighbours: int = 10, votes: int = 3, seed: int = 0) -> None:
        self.neighbours = neighbours
        self.votes = votes
        self.seed = seed

    def fit(self, knowledge: InversionKnowledge) -> Self:
        """Keep the pairs; the standardiser copes with dead and huge dimensions."""
        self.scaler_ = Standardiser().fit(knowledge.vectors)
        self.known_ = self._directions(knowledge.vectors)
        self.labels_ = knowledge.labels
        return self

    def run(self, vectors: Vectors) -> InversionGuess:
        """Rows of word counts among the neighbours, kept where enough of them agree."""
        similarity = self._directions(vectors) @ self.known_.T
        count = min(self.neighbours, len(self.known_))
        nearest = np.argpartition(-similarity, count - 1, axis=1)[:, :count]
        rows = np.repeat(np.arange(len(nearest)), count)
        choose = csr_matrix((np.ones(rows.size), (rows, nearest.ravel())), shape=similarity.shape)
        votes = csr_matrix(choose @ (self.labels_ != 0).astype(np.float64))
        votes.data[votes.data < self.votes] = 0
        votes.eliminate_zeros()
        return csr_matrix(votes / count)

    def _directions(self, vectors: Vectors) -> DenseVectors:
        rows = self.scaler_.transform(vectors)
        length = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
        return np.asarray(rows / length, dtype=np.float32)


def main() -> None:
    """Run the conformance suite, then play the attack beside a built-in one."""
    check_attack(NearestTexts)
    print("NearestTexts keeps the contract of an attack")
    with tempfile.TemporaryDirectory() as folder:
        spec = build_spec(
            {
                "data": {"texts": "generator:messages", "max_texts": 600, "group": "document"},
                "encoder": {"name": "lsa", "components": 100},
                "adversaries": ["insider"],
                "games": ["inversion"],
                "attacks": ["inversion/portfolio", f"{__file__}:NearestTexts"],
                "curve": [],
                "threads": 1,
                "run": {"folder": folder, "no_cache": True},
            }
        )
        run, _ = audit(spec)
    for finding in run.findings:
        name = finding.attack.rpartition("/")[2]
        print(f"{name:28} content F1 {finding.estimate.value:.2f}, {finding.excess.value:+.2f} over guessing")


if __name__ == "__main__":
    main()
