"""Our strongest bag-of-words adversary: a committee with more pairs than it was given, which asks the encoder back.

Whoever may have texts encoded makes further pairs from the texts they hold: parts, gaps and splices of them
(``corpora.recombination``), one query each. That keeps wide networks from learning the pairs by heart. Several such
networks (eq. 8 of Song with hidden layers) are trained and their scores averaged. Then the guess for a target is
encoded again, with each likely word and without it (``rescoring``). An adversary who may not query gets the committee
on the pairs alone.

Cost: the networks as in ``word_classifier``; queries: ``recombined`` · pairs in training, and for each target, and each
pair the rescoring is learnt and checked on, one for every content word among its ``candidates``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from unembed.attacks.base import AttackFacts
from unembed.attacks.inversion.rescoring import Rescorer
from unembed.attacks.inversion.word_classifier import (
    LEAST_PROBABILITY,
    RUN_BATCH,
    WordClassifier,
    above,
    best_thresholds,
    sparse_confidences,
)
from unembed.attacks.validation import held_back, to_check_on
from unembed.corpora.recombination import recombine
from unembed.corpora.words import word_sets
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Queries
from unembed.games.inversion import InversionGuess, InversionKnowledge, pairs_of
from unembed.games.rows import stack_rows
from unembed.games.threat import Capability
from unembed.nn.trained import Trained
from unembed.params import learnt
from unembed.seeds import generator, seed_for

#: Words at least this likely can be candidates for rescoring.
LEAST_LIKELY = 1e-3


class Committee(Trained):
    """Networks trained on the adversary's pairs and on recombinations of its texts, averaged."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="inversion/committee",
        game="inversion",
        title="Committee, recombined texts, rescoring (ours)",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="minutes",
        departures="Ours. Uses query access where the adversary has it: recombined texts as further pairs, and the "
        "guess encoded again with each likely word and without it.",
        default=False,
    )

    members: int = 2
    hidden: int = -1
    depth: int = 2
    dropout: float = 0.5
    epochs: int = 12
    recombined: float = 1.5
    candidates: int = 40
    rescoring_pairs: int = 500
    learning_rate: float = 2e-3
    weight_decay: float = 0.1
    batch_size: int = 0

    networks_: tuple[WordClassifier, ...] = learnt()
    thresholds_: NDArray[np.float32] = learnt()

    def fit(self, knowledge: InversionKnowledge) -> Self:
        """Make further pairs where the encoder can be asked, train the members, choose the thresholds."""
        n = int(knowledge.labels.shape[0])
        if self.members < 1:
            raise UsageError("a committee has at least one member")
        if n < 8:
            raise CannotMeasureError(f"{n} pairs are too few to train on some and check on others")
        held, training = held_back(n, 0.1, self.seed)
        checking = replace(pairs_of(knowledge, held), vectors=to_check_on(knowledge)[held], as_stored=None)
        pairs = self._enlarged(pairs_of(knowledge, training))
        self.networks_ = tuple(self._network(pairs, checking, member) for member in range(self.members))
        self.device_, self.log_ = self.networks_[0].device_, self.networks_[0].log_
        self.rescorer_: Rescorer | None = None
        self.thresholds_, self.reached_ = best_thresholds(
            self._confidences(checking.vectors), checking.labels, knowledge.vocabulary.content
        )
        if knowledge.query is not None and self.candidates > 0:
            self._learn_to_rescore(checking, knowledge.query)
        return self

    def run(self, vectors: Vectors) -> InversionGuess:
        """Words whose averaged, and where possible rescored, probability reaches the threshold."""
        if self.rescorer_ is None:
            return above(self._confidences(vectors, float(self.thresholds_.min())), self.thresholds_)
        return above(self.rescorer_.apply(self._confidences(vectors, LEAST_LIKELY), vectors), self.thresholds_)

    def _learn_to_rescore(self, checking: InversionKnowledge, query: Queries) -> None:
        """On half of the pairs held back; the other half chooses the thresholds and says whether it helps at all."""
        count = min(self.rescoring_pairs, checking.labels.shape[0] // 2)
        if not count:
            return
        parts = pairs_of(checking, np.arange(count)), pairs_of(checking, np.arange(count, 2 * count))
        content = checking.vocabulary.content
        guesses = [self._confidences(part.vectors, LEAST_LIKELY) for part in parts]
        rescorer = Rescorer(checking.vocabulary, query, self.networks_[0].scaler_, candidates=self.candidates)
        rescorer.fit(guesses[0], self.thresholds_, parts[0].vectors, parts[0].labels)
        rescored = rescorer.apply(guesses[1], parts[1].vectors)
        thresholds, better = best_thresholds(rescored, parts[1].labels, content)
        _, before = best_thresholds(guesses[1], parts[1].labels, content)
        if better > before:
            self.rescorer_, self.thresholds_, self.reached_ = rescorer, thresholds, better

    def _enlarged(self, own: InversionKnowledge) -> InversionKnowledge:
        """The pairs and, where the encoder can be asked, ``recombined`` times as many made from their texts."""
        if own.query is None or not len(own.texts):
            return own
        made = recombine(own.texts, int(self.recombined * len(own.texts)), generator(self.seed, "recombined"))
        if not made:
            return own
        labels = csr_matrix(vstack([own.labels, word_sets(made, own.vocabulary)]))
        return replace(own, vectors=stack_rows([own.vectors, own.query(made)]), labels=labels)

    def _network(self, pairs: InversionKnowledge, checking: InversionKnowledge, member: int) -> WordClassifier:
        width, batch = self._size(pairs.labels.shape[0])
        network = WordClassifier(device=self.device, seed=seed_for(self.seed, "network", member))
        return network.train_on(
            pairs,
            scaling="each",
            width=width,
            depth=self.depth,
            dropout=self.dropout,
            checking=checking,
            epochs=self.epochs,
            min_steps=self.min_steps,
            batch_size=batch,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            schedule=True,
        )

    def _size(self, pairs: int) -> tuple[int, int]:
        """Hidden units and batch for so many pairs, unless they are given."""
        sizes = ((150_000, 4096, 2048), (40_000, 2048, 1024), (10_000, 1024, 256), (0, 0, 128))
        width, batch = next((w, b) for least, w, b in sizes if pairs >= least)
        return width if self.hidden < 0 else self.hidden, self.batch_size or batch

    def _confidences(self, vectors: Vectors, least: float = LEAST_PROBABILITY) -> csr_matrix:
        """Probabilities from the members' averaged logits."""
        import torch

        def part(start: int) -> Any:
            rows = vectors[start : start + RUN_BATCH]
            return torch.sigmoid(sum(network.scores_of(rows) for network in self.networks_) / self.members)

        return sparse_confidences(part, int(vectors.shape[0]), self.networks_[0].model_.straight.out_features, least)
