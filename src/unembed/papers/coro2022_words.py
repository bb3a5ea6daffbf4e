"""What the experiments of Corò 2022 share: the vocabulary of content words, its deal, and the two languages.

Its metrics are means over texts of content words, plain and weighted by rarity (4.3.2, eq. 4.6 to 4.8): the inversion
game has them. A text without such a word does not count; where nothing was guessed precision is 0.

Words are content words of at least two characters among the 20,000 most frequent of the adversary's texts (4.3.1).
Targets' words outside that vocabulary do not count, and of the cross-domain adversary only words that the
in-domain adversary knows as well (5.2.1).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from unembed.corpora.corpus import Corpus
from unembed.corpora.words import Vocabulary, build_vocabulary, word_sets
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal
from unembed.games.inversion import InversionKnowledge, InversionTruth
from unembed.papers.base import Conditions, Size, by_size
from unembed.papers.encoders import Encoders
from unembed.papers.tables import AttackSpec
from unembed.papers.texts import CROSS, IN, Amounts, Texts

#: The six vectorisers of the thesis, E1 to E7, with the rows of its tables.
MODELS = {
    "tfidf": "Bag-of-words + tf-idf",
    "hashing": "Hashing",
    "lsa-tfidf": "Reduced bag-of-words",
    "lsa-hashing": "Reduced hashing",
    "doc2vec": "Doc2Vec",
    "minilm": "Sentence-BERT",
}
#: Encoders that take the place of the thesis's sentence encoder.
SENTENCE = ("minilm", "bge", "bert-mean")
DOMAINS = {IN: "in-domain", CROSS: "cross-domain"}
#: The thesis's metrics by the game's names.
PLAIN = {"content_precision_per_text": "precision", "content_recall_per_text": "recall", "content_f1_per_text": "F1"}
WEIGHTED = {
    "weighted_precision": "weighted precision",
    "weighted_recall": "weighted recall",
    "weighted_f1": "weighted F1",
}
#: Encoders that may be asked for.
ALL = tuple(dict.fromkeys((*MODELS, *SENTENCE)))
WORDS = 20_000
AMOUNTS = by_size(Amounts(300, 300, 50), Amounts(3_000, 3_000, 300), Amounts(None, 200_000, 10_000))


def row_name(key: str, domain: str, *more: str) -> str:
    """The name of a row: the thesis's name of the model, the encoder in its place where it differs, the domain."""
    shown = {"minilm": "MiniLM for Sentence-BERT", "bge": "bge-small", "bert-mean": "BERT-base, mean"}
    return " · ".join((shown.get(key, MODELS.get(key, key)), DOMAINS[domain], *more))


#: With fewer pairs than this, an epoch of batches of 1,024 has too few steps, and training would stop at once.
FEW = 20_000


def msp(size: Size, pairs: int | None = None, **params: Any) -> AttackSpec:
    """The thesis's attack (H 512, batch 64, up to 100 epochs with patience 10), shortened for the smaller sizes.

    ``pairs`` where they may be few.
    """
    shorter: Mapping[Size, dict[str, Any]] = by_size(
        {"epochs": 1, "min_steps": 10, "hidden": 32},
        {"epochs": 15, "patience": 4},
        {"epochs": 60, "batch_size": 1024, "learning_rate": 2e-3, "patience": 6},
    )
    chosen = shorter[size]
    if size == "full" and pairs is not None and pairs < FEW:
        chosen = {"epochs": 60, "batch_size": 128, "learning_rate": 1e-3, "min_steps": 5_000}
    return AttackSpec("MSP", "inversion/msp", {"form": "coro", **chosen, **params})


def training_note(size: Size) -> str:
    """How the attack's training differs from the thesis's 100 epochs of batches of 64 at 0.0004."""
    said = by_size(
        "one epoch of a network of 32 units",
        "up to 15 epochs, on too few pairs for the printed figures",
        "up to 60 epochs of batches of 1,024 at 0.002, stopped after 6 without gain (fewer than 20,000 pairs: "
        "batches of 128 at 0.001, stopped after 10)",
    )
    return f"training: {said[size]}, where the thesis has up to 100 epochs of batches of 64 at 0.0004"


def content_vocabulary(texts: Sequence[str], language: str, size: int = WORDS) -> Vocabulary:
    """The most frequent content words of some texts."""
    whole = build_vocabulary(texts, size=10**9, language=language)
    keep = np.flatnonzero(whole.content)[:size]
    if not len(keep):
        raise CannotMeasureError(f"{len(texts)} texts hold no content word that occurs twice: give more texts")
    chosen = tuple(whole.words[i] for i in keep)
    return Vocabulary(chosen, whole.counts[keep], whole.document_counts[keep], whole.texts, language)


class ContentDeals:
    """Deals of both adversaries; vocabularies are built and words are counted once."""

    def __init__(self, conditions: Conditions, texts: Texts) -> None:
        self.texts = texts
        self.encoders = Encoders(conditions, texts.fit, texts.language, texts.known[CROSS])
        self._vocabularies: dict[str, Vocabulary] = {}
        self._labels: dict[tuple[str, str], csr_matrix] = {}

    def identity(self, key: str) -> dict[str, Any]:
        """What tells rows of one encoder from those of another."""
        return {**self.encoders.identity(key), "data": self.texts.fingerprint}

    def vocabulary(self, domain: str) -> Vocabulary:
        """The content words of one adversary."""
        if domain not in self._vocabularies:
            self._vocabularies[domain] = content_vocabulary(self.texts.known[domain].texts, self.texts.language)
        return self._vocabularies[domain]

    def deal(self, key: str, domain: str, known: Corpus | None = None) -> Deal[InversionKnowledge, InversionTruth]:
        """The deal of one encoder and adversary; ``known`` instead of all its texts, over the same vocabulary."""
        held, target = self.texts.known[domain] if known is None else known, self.texts.target
        truth = self.truth(domain, target, target.column(self.texts.group))
        knowledge = self.knowledge(key, domain, held)
        return Deal(knowledge, self.encoders.vectors(key, target), truth, pairs=len(held), queries=0)

    def truth(self, domain: str, target: Corpus, groups: Sequence[object]) -> InversionTruth:
        """The words of the targets; of the other domain's adversary only those that both adversaries know count."""
        shared = None if domain == IN else frozenset(self.vocabulary(IN).words)
        outside = np.zeros((len(target), 2))
        return InversionTruth(self.labels(domain, target), outside, self.vocabulary(domain), groups, only=shared)

    def knowledge(self, key: str, domain: str, known: Corpus) -> InversionKnowledge:
        """Some texts of an adversary with their vectors and words."""
        vectors = self.encoders.vectors(key, known)
        return InversionKnowledge(vectors, self.labels(domain, known), self.vocabulary(domain), known.texts)

    def labels(self, domain: str, texts: Corpus) -> csr_matrix:
        """Which words of an adversary's vocabulary each text holds."""
        place = (domain, texts.fingerprint)
        if place not in self._labels:
            self._labels[place] = word_sets(texts.texts, self.vocabulary(domain))
        return self._labels[place]
