"""Linear classifier on labelled vectors (Song 4, Alg. 3; 6.3)."""

from __future__ import annotations

from typing import ClassVar, Self

from unembed.attacks.attribute.classes import ClassReader
from unembed.attacks.base import AttackFacts
from unembed.attacks.learners.candidates import linear_classifiers
from unembed.encoders.base import Vectors
from unembed.games.attribute import AttributeGuess, AttributeKnowledge
from unembed.games.threat import Capability
from unembed.params import Parametrised


class AttributeLinear(Parametrised):
    """Softmax regression, solved to its optimum; strength and units chosen on held-back labels.

    The paper's 30 epochs of Adam depend on the rotation of the space: along the axes they stop far from the optimum
    that they reach when the same leak is rotated. The optimum is the same from both sides.
    """

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="attribute/linear",
        game="attribute",
        title="Attribute inference with a linear classifier",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        paper="song2020",
        section="4, Alg. 3; 6.3",
        departures="The paper's softmax regression, solved by L-BFGS instead of 30 epochs of Adam, with an L2 penalty "
        "whose strength is chosen on held-back labels; rare classes weigh as much as common ones.",
        version=2,
        default=False,
    )

    seed: int = 0

    def fit(self, knowledge: AttributeKnowledge) -> Self:
        """Choose strength and units, then solve on all labels."""
        reader = ClassReader(len(knowledge.classes), self.seed)
        self.reader_ = reader.fit(knowledge.vectors, knowledge.labels, list(linear_classifiers(len(knowledge.classes))))
        return self

    def run(self, vectors: Vectors) -> AttributeGuess:
        """Log-odds of the classes."""
        return self.reader_.read(vectors)
