"""One small network for each part of a secret (Pan V-B2, V-C): divide and conquer.

Three-layer perceptrons with sigmoid units: 400 for a year, 25 for a month, 200 for a day, batch 128. The sub-attacks
share nothing but the order of the batches, so they are trained in one loop: their hidden layers are one product.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.attacks.pattern.reading import PartReader
from unembed.corpora.patterns.kinds import Date
from unembed.corpora.patterns.pattern import Pattern
from unembed.encoders.base import Vectors
from unembed.games.pattern import PatternGuess, PatternKnowledge, sizes_of
from unembed.games.pattern_ranking import best_wholes
from unembed.games.threat import Capability

#: Hidden units of the parts of a date, as printed.
PRINTED = {"year": 400, "month": 25, "day": 200}


class PatternFields(PartReader):
    """The paper's sub-attacks, one per part of the asked fields."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="pattern/fields",
        game="pattern",
        title="Pattern reconstruction, one network per part",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.FORMAT}),
        cost="seconds",
        paper="pan2020",
        section="V-B, V-C",
        departures="A fixed number of pairs instead of fresh ones in every batch of 100,000; inputs are standardised; "
        "the epoch with the smallest loss on held-back pairs stands. Parts other than year, month "
        "and day get four units per class, 25 to 400.",
    )

    hidden: int = 0
    epochs: int = 100
    patience: int = 10
    batch_size: int = 128
    min_steps: int = 2000

    def fit(self, knowledge: PatternKnowledge) -> Self:
        """Train the sub-attacks."""
        asked, pattern = knowledge.asked, knowledge.pattern
        hidden = [self.hidden or units_of(pattern, int(part)) for part in asked]
        classes = sizes_of(pattern, asked)

        def build(inputs: int) -> Any:
            from unembed.nn.modules import SeparatePerceptrons

            return SeparatePerceptrons(inputs, hidden, classes)

        return self.train_on(knowledge, asked, build, patience=self.patience, recorded=True)

    def run(self, vectors: Vectors) -> PatternGuess:
        """Probabilities of the parts; wholes by their product."""
        scores = list(self.probabilities(vectors).values())
        return PatternGuess(np.hstack(scores), best_wholes(scores))


def units_of(pattern: Pattern, part: int) -> int:
    """Hidden units of the network for a part: printed ones for parts of a date, four a class otherwise."""
    own = pattern.parts[part]
    kind = next(f.kind for f in pattern.fields if f.name == own.field)
    name = own.name.rpartition(".")[2]
    if isinstance(kind, Date) and name in PRINTED:
        return PRINTED[name]
    return int(np.clip(4 * len(own.labels), 25, 400))
