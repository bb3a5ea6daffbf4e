"""Documents of which a model learnt half, and contexts of both halves: what experiments on membership are made of.

| paper | published on | stand-in |
|---|---|---|
| Song 6.4, windows | 150,000 Wikipedia articles | ``wikipedia_sentences``, 38,505 articles |
| Song 6.4, pairs and books | BookCorpus, 14,000 books | ``books_by_author``, 301 novels |
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.corpora.training import TrainingSide
from unembed.encoders.base import DenseVectors, Encoder, Vectors, WhiteBoxEncoder
from unembed.games.base import Deal, Material
from unembed.games.contexts import ContextKnowledge, ContextTrials
from unembed.games.membership_pair import MembershipPairGame
from unembed.games.membership_window import MembershipWindowGame
from unembed.games.threat import ADVERSARIES
from unembed.papers.base import Conditions
from unembed.papers.datasets import read
from unembed.papers.encoders import Encoders
from unembed.papers.texts import sample_documents
from unembed.seeds import generator, seed_for

ContextDeal = Deal[ContextKnowledge, ContextTrials]
#: Ends the name of a table that is asked for words that it has no row for, too.
FOREIGN = "-foreign"


@dataclass(frozen=True)
class Halves:
    """Documents of which a model learnt half, and of either half the part that the adversary has with labels."""

    corpus: Corpus
    learnt: NDArray[np.bool_]
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, corpus: Corpus, labelled: float, seed: int) -> Halves:
        """Whole documents, drawn at random; the halves are the same whatever share of them is labelled."""
        homes = np.unique(corpus.column("document"), return_inverse=True)[1]
        order = generator(seed, "halves").permutation(int(homes.max()) + 1)
        place = order % 2, order // 2  # which half, and where in it
        return cls(corpus, (place[0] == 0)[homes], (place[1] < labelled * len(order) / 2)[homes])

    def fit(self) -> Corpus:
        """What the model learns from."""
        return self.corpus.select(np.flatnonzero(self.learnt))

    def material(self, vectors: Vectors, encode: Callable[[Sequence[str]], Vectors], seed: int) -> Material:
        """What a game deals from; ``vectors`` are those of the whole corpus."""
        asked, held = np.flatnonzero(~self.known), np.flatnonzero(self.known)
        target, known = self.corpus.select(asked), self.corpus.select(held)
        return Material(
            target=target,
            known=known,
            target_vectors=vectors[asked],
            known_vectors=vectors[held],
            encode=encode,
            adversary=ADVERSARIES["insider"],
            seed=seed,
            groups=target.column("document"),
            known_groups=known.column("document"),
            training=TrainingSide.of(self.fit().texts),
        )


class Study:
    """What one figure is measured on; holds the deal of one encoder and game at a time."""

    def __init__(self, conditions: Conditions, halves: Halves, factory: Encoders) -> None:
        self.conditions, self.halves, self.factory = conditions, halves, factory
        self._held: tuple[object, ContextDeal] | None = None

    def identity(self, key: str) -> dict[str, Any]:
        """What changes a row beside attack and game."""
        known = int(self.halves.known.sum())
        return {**self.factory.identity(key), "data": self.halves.corpus.fingerprint, "labelled texts": known}

    def windows(self, game: MembershipWindowGame, key: str) -> ContextDeal:
        """Windows for a table; of words with a vector of their own, unless it is to be asked for any."""
        encoder = self.factory.encoder(key)
        encode = encoder.encode if key.endswith(FOREIGN) else partial(of_vocabulary, encoder)
        nothing = np.zeros((len(self.halves.corpus), 0), dtype=np.float32)
        return self._dealt(game, key, nothing, encode)

    def pairs(self, game: MembershipPairGame, key: str) -> ContextDeal:
        """Pairs, or runs of pairs, for a sentence encoder."""
        vectors = self.factory.vectors(key, self.halves.corpus)
        return self._dealt(game, key, vectors, self.factory.encoder(key).encode)

    def notes(self, documents: str) -> tuple[str, ...]:
        """How many texts there are."""
        halves = self.halves
        homes = np.asarray(halves.corpus.column("document"))
        count, learnt, known = (len(set(homes[rows])) for rows in (slice(None), halves.learnt, halves.known))
        return (
            f"{len(homes):,} sentences of {count:,} {documents}; the models learnt from {learnt:,} of them",
            f"labels of {known:,} {documents} are known to the adversary, half of them learnt from",
        )

    def _dealt(
        self,
        game: MembershipWindowGame | MembershipPairGame,
        key: str,
        vectors: Vectors,
        encode: Callable[[Sequence[str]], Vectors],
    ) -> ContextDeal:
        place = (key, tuple(game.get_params().items()))
        if self._held is None or self._held[0] != place:
            self._held = None
            material = self.halves.material(vectors, encode, seed_for(self.conditions.seed, "deal"))
            self._held = (place, game.deal(material))
        return self._held[1]


def of_vocabulary(encoder: Encoder, words: Sequence[str]) -> DenseVectors:
    """Vectors of words; zeros for those that a table has no row for, also where it could make one up."""
    assert isinstance(encoder, WhiteBoxEncoder)
    known = set(encoder.vocabulary)
    vectors = np.array(encoder.encode(words), dtype=np.float32)
    vectors[[word not in known for word in words]] = 0
    return vectors


def articles(conditions: Conditions, count: int | None) -> Corpus:
    """Sentences of an encyclopedia with the column ``document``, in whole articles."""
    if conditions.size == "smoke":
        return _invented(conditions, 900, documents=900)
    whole = read(conditions, "wikipedia_sentences", "sentence", ["source", "article_id"])
    homes = [f"{source} {number}" for source, number in zip(*whole.columns.values(), strict=True)]
    corpus = Corpus(whole.texts, whole.ids, {"document": homes}, whole.name)
    return sample_documents(corpus, count, conditions.seed)


def books(conditions: Conditions, each: int | None) -> Corpus:
    """Sentences of novels in order with the column ``document``, the first ``each`` of every book."""
    if conditions.size == "smoke":
        return _invented(conditions, 9_000, documents=450)
    whole = read(conditions, "books_by_author", "sentence", ["author", "title"])
    homes = [f"{author}: {title}" for author, title in zip(*whole.columns.values(), strict=True)]
    seen: dict[str, int] = {}
    kept = []
    for row, home in enumerate(homes):
        seen[home] = seen.get(home, 0) + 1
        if each is None or seen[home] <= each:
            kept.append(row)
    return Corpus(whole.texts, whole.ids, {"document": homes}, whole.name).select(kept)


def _invented(conditions: Conditions, count: int, documents: int) -> Corpus:
    """Made-up messages, as many for each document: enough to show that an experiment runs."""
    from unembed.corpora.generators.messages import generate_messages

    made = generate_messages(count, authors=documents, seed=conditions.seed)
    homes = [f"invented {row % documents}" for row in range(count)]
    return Corpus(made.texts, made.ids, {"document": homes}, "invented messages")
