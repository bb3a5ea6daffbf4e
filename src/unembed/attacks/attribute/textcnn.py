"""Song's baseline without vectors: TextCNN on the raw text (6.3), a yardstick for what vectors add."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from unembed.attacks.base import AttackFacts
from unembed.games.attribute import AttributeGuess, AttributeKnowledge
from unembed.games.text_baseline import TextReader
from unembed.games.threat import Capability


class AttributeTextCNN(TextReader):
    """The classifier of texts, dealt the labelled texts and the targets' texts in place of vectors."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="attribute/textcnn",
        game="attribute",
        title="Yardstick: TextCNN that reads the texts themselves",
        requires=frozenset({Capability.TEXTS, Capability.LABELS}),
        cost="minutes",
        paper="song2020",
        section="6.3",
        departures="The paper names 128 filters and no more: widths of 3, 4 and 5 words, word vectors of 128 "
        "dimensions that start at random, dropout 0.5. Rare classes count as much as common ones.",
        default=False,
    )

    def fit(self, knowledge: AttributeKnowledge) -> Self:
        """Learn from the labelled texts."""
        texts: Any = knowledge.vectors
        return self.learn(list(texts), knowledge.labels, len(knowledge.classes))

    def run(self, texts: Any) -> AttributeGuess:
        """Log-probabilities of the classes."""
        return self.read(list(texts))
