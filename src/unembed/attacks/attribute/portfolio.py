"""Ours: the best of several cheap and different classifiers, chosen on held-back labels (after Song 4, Alg. 3)."""

from __future__ import annotations

from typing import ClassVar, Self

from unembed.attacks.attribute.classes import ClassReader
from unembed.attacks.base import AttackFacts
from unembed.attacks.learners.candidates import among, classifiers
from unembed.encoders.base import Vectors
from unembed.games.attribute import AttributeGuess, AttributeKnowledge
from unembed.games.threat import Capability
from unembed.params import Parametrised
from unembed.seeds import seed_for


class AttributePortfolio(Parametrised):
    """Linear, screened, trees, neighbours and a small network; ``chosen_`` names the winner.

    ``quick`` leaves out trees and network, which take ten times as long as all others together; ``only`` names the one
    candidate that takes part.
    """

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="attribute/portfolio",
        game="attribute",
        title="Attribute inference with the best of several classifiers",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        paper="song2020",
        section="4, Alg. 3",
        departures="The paper trains a linear classifier. Here linear models, screened coordinates and their products, "
        "trees, nearest neighbours and a small network compete on held-back labels, and the winner learns from all.",
    )

    quick: bool = False
    only: str | None = None
    seed: int = 0

    def fit(self, knowledge: AttributeKnowledge) -> Self:
        """Choose among the candidates and fit the winner."""
        vectors, classes = knowledge.vectors, len(knowledge.classes)
        size, width = (int(side) for side in vectors.shape)
        tried = classifiers(size, width, classes, seed_for(self.seed, "candidates") % 2**31)
        candidates = among(tried, quick=self.quick, only=self.only)
        self.reader_ = ClassReader(classes, self.seed).fit(vectors, knowledge.labels, candidates, knowledge.as_stored)
        self.chosen_ = self.reader_.chosen_.candidate.name
        return self

    def run(self, vectors: Vectors) -> AttributeGuess:
        """Log-odds of the classes."""
        return self.reader_.read(vectors)
