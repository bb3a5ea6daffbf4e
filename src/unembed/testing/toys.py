"""Small worlds in which it is known what an attack must find."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.words import words
from unembed.encoders.base import DenseVectors, EncoderCard
from unembed.games import GAMES
from unembed.games.base import Material
from unembed.games.threat import ADVERSARIES, Adversary

# fmt: off
TOY_WORDS = (
    "apple", "bridge", "candle", "dragon", "engine", "forest", "garden", "harbor", "island", "jungle",
    "kettle", "ladder", "mirror", "needle", "orange", "pencil", "quartz", "ribbon", "saddle", "temple",
    "urchin", "violin", "window", "yellow", "zipper", "anchor", "basket", "copper", "desert", "ember",
)
# fmt: on


class LeakyEncoder:
    """A mean of fixed random word vectors: everything can be read back, so every attack must succeed."""

    def __init__(self, *, dimension: int = 48) -> None:
        self.dimension = dimension

    @property
    def card(self) -> EncoderCard:
        """Identified by its dimension alone: the word vectors follow from the words."""
        return EncoderCard("leaky", "toy", digest=f"leaky-{self.dimension}", dimension=self.dimension, normalised=False)

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """One fixed random vector a word, averaged."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            found = words(text)
            for word in found:
                rows[row] += _word_vector(word, self.dimension)
            rows[row] /= max(len(found), 1)
        return rows


def _word_vector(word: str, dimension: int) -> DenseVectors:
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


def toy_corpus(n: int, *, seed: int = 0) -> Corpus:
    """Made-up sentences of four words; the column ``side`` follows from the first word."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(len(TOY_WORDS), size=4, replace=False) for _ in range(n)]
    texts = [" ".join(TOY_WORDS[i] for i in row) for row in drawn]
    side = ["left" if (row < len(TOY_WORDS) // 2).sum() >= 2 else "right" for row in drawn]
    return Corpus.of(texts, name="toy", side=side)


def toy_game(name: str) -> Any:
    """A game with parameters that fit the toy corpus."""
    make = GAMES.get(name)
    if name == "keyword":
        return make(keywords=("apple", "forest", "violin"), samples=200)
    if name == "attribute":
        return make(column="side", labels_per_class=None)
    return make()


def toy_material(
    *, adversary: Adversary | None = None, known: int = 600, targets: int = 200, seed: int = 0
) -> Material:
    """Both sides of a game on the toy corpus, encoded by the leaky encoder."""
    encoder = LeakyEncoder()
    corpus = toy_corpus(known + targets, seed=seed)
    inside, target = corpus.select(range(known)), corpus.select(range(known, known + targets))
    return Material(
        target=target,
        known=inside,
        target_vectors=encoder.encode(target.texts),
        known_vectors=encoder.encode(inside.texts),
        encode=encoder.encode,
        adversary=adversary or ADVERSARIES["insider"],
        seed=seed,
    )
