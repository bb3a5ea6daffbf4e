"""Small worlds in which it is known what an attack must find."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.words import words
from unembed.encoders.base import DenseVectors, EncoderCard
from unembed.games import GAMES
from unembed.games.base import Lineup, Material
from unembed.games.threat import ADVERSARIES, Adversary, Capability

# fmt: off
TOY_WORDS = (
    "apple", "bridge", "candle", "dragon", "engine", "forest", "garden", "harbor", "island", "jungle",
    "kettle", "ladder", "mirror", "needle", "orange", "pencil", "quartz", "ribbon", "saddle", "temple",
    "urchin", "violin", "window", "yellow", "zipper", "anchor", "basket", "copper", "desert", "ember",
)
# fmt: on


class LeakyEncoder:
    """A mean of fixed random word vectors: everything can be read back, so every attack must succeed.

    Any word has a vector; those of ``TOY_WORDS`` are also rows of the word matrix, for attacks through the weights.
    With another ``salt`` it is another encoder.
    """

    def __init__(self, *, dimension: int = 48, salt: str = "") -> None:
        self.dimension = dimension
        self.salt = salt

    @property
    def card(self) -> EncoderCard:
        """Identified by dimension and salt: the word vectors follow from them and the words."""
        digest = f"leaky-{self.dimension}{self.salt}"
        return EncoderCard("leaky", "toy", digest=digest, dimension=self.dimension, normalised=False)

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """One fixed random vector per word, averaged."""
        return self.layer_output(texts, 0)

    @cached_property
    def vocabulary(self) -> list[str]:
        """The words that have a row in the word matrix."""
        return list(TOY_WORDS)

    @cached_property
    def word_matrix(self) -> DenseVectors:
        """One row per word of the vocabulary."""
        return np.stack([_word_vector(word, self.dimension, self.salt) for word in TOY_WORDS])

    def layer_output(self, texts: Sequence[str], layer: int) -> DenseVectors:
        """The mean of the word vectors: this encoder has no further layer."""
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            found = words(text)
            for word in found:
                rows[row] += _word_vector(word, self.dimension, self.salt)
            rows[row] /= max(len(found), 1)
        return rows

    def encode_soft(self, word_weights: Any, *, layer: int | None = None) -> Any:
        """Weights over the vocabulary ``[n, tokens, words]`` to vectors ``[n, d]``, differentiable (torch)."""
        import torch

        table = torch.from_numpy(self.word_matrix).to(word_weights)
        return (word_weights @ table).mean(dim=1)

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The rows of the words of each text that have one, in order."""
        index = {word: i for i, word in enumerate(self.vocabulary)}
        return [[index[word] for word in words(text) if word in index] for text in texts]


class SpoiledEncoder(LeakyEncoder):
    """The leaky encoder with a zero, a constant and a huge dimension: its last layer is the first one spoiled."""

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """The mean of the word vectors with three dimensions spoiled."""
        scale, shift = self._spoiling()
        return self.layer_output(texts, 0) * scale + shift

    def encode_soft(self, word_weights: Any, *, layer: int | None = None) -> Any:
        """What ``encode`` gives, for soft words; with ``layer`` what ``layer_output`` gives."""
        import torch

        clean = super().encode_soft(word_weights)
        if layer is not None:
            return clean
        scale, shift = (torch.from_numpy(part).to(clean) for part in self._spoiling())
        return clean * scale + shift

    def _spoiling(self) -> tuple[DenseVectors, DenseVectors]:
        scale, shift = np.ones(self.dimension, dtype=np.float32), np.zeros(self.dimension, dtype=np.float32)
        scale[:3] = 0.0, 0.0, 1e6
        shift[1] = 7.5
        return scale, shift


def _word_vector(word: str, dimension: int, salt: str) -> DenseVectors:
    seed = int.from_bytes(hashlib.sha256((word + salt).encode()).digest()[:8], "big")
    return np.random.default_rng(seed).standard_normal(dimension).astype(np.float32)


def toy_corpus(n: int, *, seed: int = 0) -> Corpus:
    """Made-up sentences of four words; the column ``side`` follows from the words, ``weight`` is a sum over them."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(len(TOY_WORDS), size=4, replace=False) for _ in range(n)]
    texts = [" ".join(TOY_WORDS[i] for i in row) for row in drawn]
    side = ["left" if (row < len(TOY_WORDS) // 2).sum() >= 2 else "right" for row in drawn]
    return Corpus.of(texts, name="toy", side=side, weight=[float(row.sum()) for row in drawn])


def toy_game(name: str) -> Any:
    """A game with parameters that fit the toy corpus."""
    make = GAMES.get(name)
    if name == "keyword":
        return make(keywords=("apple", "forest", "violin"), samples=200)
    if name == "attribute":
        return make(column="side", labels_per_class=None)
    if name == "number":
        return make(column="weight")
    if name == "pattern":
        options = ("|".join(TOY_WORDS[i : i + 6]) for i in range(0, 18, 6))
        fields = (f"{{field{i}:one({words})}}" for i, words in enumerate(options))
        return make(pattern=" ".join(fields), targets="planted", pairs=140, planted=70)
    return make()


def toy_adversary(requires: frozenset[Capability]) -> Adversary:
    """The insider, with the model's weights where an attack can't do without."""
    return ADVERSARIES["weights" if Capability.WEIGHTS in requires else "insider"]


def toy_material(
    *,
    adversary: Adversary | None = None,
    encoder: LeakyEncoder | None = None,
    known: int = 600,
    targets: int = 200,
    seed: int = 0,
) -> Material:
    """Both sides of a game on the toy corpus, encoded by the leaky encoder or a relative of it."""
    encoder = encoder or LeakyEncoder()
    adversary = adversary or ADVERSARIES["insider"]
    corpus = toy_corpus(known + targets, seed=seed)
    inside, target = corpus.select(range(known)), corpus.select(range(known, known + targets))
    return Material(
        target=target,
        known=inside,
        target_vectors=encoder.encode(target.texts),
        known_vectors=encoder.encode(inside.texts),
        encode=encoder.encode,
        adversary=adversary,
        seed=seed,
        encoder=encoder if Capability.WEIGHTS in adversary.capabilities else None,
        lineup=Lineup("leaky", {f"leaky {salt}": LeakyEncoder(salt=salt).encode for salt in ("pepper", "sugar")}),
    )


def behind_a_map(material: Material) -> Material:
    """The same vectors behind one secret rotation, as a game about such a map meets them."""
    dimension = int(material.target_vectors.shape[1])
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((dimension, dimension)))[0]
    plain_target, plain_known = (
        np.asarray(v, dtype=np.float32) for v in (material.target_vectors, material.known_vectors)
    )
    return replace(
        material,
        target_vectors=(plain_target @ turn).astype(np.float32),
        known_vectors=(plain_known @ turn).astype(np.float32),
        plain_target_vectors=plain_target,
        plain_known_vectors=plain_known,
    )
