"""Encoders of the experiments by short name, where their weights are found, and vectors computed once.

A row whose encoder is not on this machine is reported as not measured, with the reason.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unembed.artifacts import Artifacts
from unembed.artifacts.encoders import ready_encoder
from unembed.corpora.corpus import Corpus
from unembed.encoders.base import Encoder, Vectors
from unembed.encoders.cache import CachedEncoder, EmbeddingCache, default_cache_folder
from unembed.errors import DataError, UnknownNameError
from unembed.games.base import Material
from unembed.games.threat import ADVERSARIES
from unembed.papers.base import Conditions
from unembed.papers.datasets import data_folder
from unembed.papers.packed_models import is_packed, unpack

MODELS_VARIABLE = "UNEMBED_MODELS"


@dataclass(frozen=True)
class Recipe:
    """How an encoder of an experiment is made: a registered name with options, and whose weights it needs.

    With ``from_other_domain``, an encoder is fitted on texts of the other domain alone in experiments that have two.
    """

    title: str
    name: str
    options: dict[str, Any] = field(default_factory=dict)
    weights: str | None = None
    takes_language: bool = False
    from_other_domain: bool = False


RECIPES: dict[str, Recipe] = {
    "bert-mean": Recipe("BERT-base, mean of the last layer", "transformer", {"pooling": "mean"}, "bert-base-uncased"),
    "bert-first": Recipe("BERT-base, first token", "transformer", {"pooling": "first"}, "bert-base-uncased"),
    "bge": Recipe("bge-small", "transformer", {"pooling": "first", "normalise": True}, "bge-small-en-v1.5"),
    "minilm": Recipe("MiniLM", "minilm", {}, "all-MiniLM-L6-v2"),
    "use-lite": Recipe("USE-lite", "use-lite", {}, "use-lite"),
    "word2vec": Recipe("mean of word2vec", "word2vec"),
    "glove": Recipe("mean of GloVe", "glove"),
    # The published 1e-5 suits the millions of texts of a whole Wikipedia; here it would leave next to no words.
    "doc2vec": Recipe("Doc2Vec", "doc2vec", {"sample": 1e-3}, from_other_domain=True),
    "tfidf": Recipe("bag of words, tf-idf", "tfidf", takes_language=True),
    "hashing": Recipe("hashing", "hashing", takes_language=True),
    "lsa-tfidf": Recipe("reduced bag of words", "lsa", {"base": "tfidf"}, takes_language=True),
    "lsa-hashing": Recipe("reduced hashing", "lsa", {"base": "hashing"}, takes_language=True),
}


def pick_encoders(asked: Sequence[str], usual: Sequence[str], known: Sequence[str]) -> tuple[str, ...]:
    """The encoders of a run: those asked for, else the usual ones; a name that is not known is an error."""
    for name in asked:
        if name not in known:
            raise UnknownNameError("encoder of this experiment", name, known)
    return tuple(asked) or tuple(usual)


class Encoders:
    """Makes encoders and vectors for one run of an experiment; keeps those of one encoder at a time.

    Encoders are fitted on ``fit``; those with ``from_other_domain`` on ``other_domain``, where it is given.
    """

    def __init__(
        self,
        conditions: Conditions,
        fit: Corpus,
        language: str = "en",
        other_domain: Corpus | None = None,
        recipes: Mapping[str, Recipe] = RECIPES,
    ) -> None:
        self.conditions, self.recipes = conditions, recipes
        self.fit = fit
        self.language = language
        self.other_domain = other_domain
        self._held: tuple[object, Encoder] | None = None
        self._vectors: dict[str, Vectors] = {}

    def encoder(self, key: str, layer: int | None = None) -> Encoder:
        """The encoder itself, ready to encode."""
        if self._held is None or self._held[0] != (key, layer):
            self._vectors = {}
            self._held = None  # free the old one before the new one is built
            self._held = ((key, layer), self._build(self.recipes[key], layer))
        return self._held[1]

    def vectors(self, key: str, corpus: Corpus, layer: int | None = None) -> Vectors:
        """The vectors of a corpus, from memory or from the cache if they are there."""
        cached = self.cached(key, layer)
        if corpus.fingerprint not in self._vectors:
            self._vectors[corpus.fingerprint] = cached.encode(corpus.texts)
        return self._vectors[corpus.fingerprint]

    def material(
        self,
        key: str,
        target: Corpus,
        known: Corpus,
        adversary: str,
        seed: int,
        *,
        groups: Sequence[object] | None = None,
        layer: int | None = None,
    ) -> Material:
        """What a game deals from: both sides' texts and vectors, and the encoder to answer queries."""
        return Material(
            target=target,
            known=known,
            target_vectors=self.vectors(key, target, layer),
            known_vectors=self.vectors(key, known, layer),
            encode=self.cached(key, layer).encode,
            adversary=ADVERSARIES[adversary],
            seed=seed,
            groups=groups,
            encoder=self.encoder(key, layer),
        )

    def cached(self, key: str, layer: int | None = None) -> Encoder:
        """The encoder behind the cache."""
        told, title = self.conditions.progress, f"encoding with {key}"
        progress = None if told is None else lambda done, of: told(title, done, of)
        return CachedEncoder(self.encoder(key, layer), EmbeddingCache(), progress=progress)

    def identity(self, key: str, layer: int | None = None) -> dict[str, Any]:
        """What tells this encoder from another, without fitting it."""
        recipe = self.recipes[key]
        options = {**recipe.options, **({} if layer is None else {"layer": layer})}
        elsewhere = {"fitted": "abroad"} if self._learns_from(recipe) is self.other_domain else {}
        return {
            "encoder": key,
            "options": options,
            "language": self.language if recipe.takes_language else None,
            **elsewhere,
        }

    def _build(self, recipe: Recipe, layer: int | None) -> Encoder:
        options = dict(recipe.options)
        if recipe.takes_language:
            options["language"] = self.language
        if recipe.weights is not None:
            options["device"] = self.conditions.device
            if reason := missing_weights(recipe, self.conditions):
                raise DataError(reason)
            if found := find_model(recipe.weights, self.conditions):
                options["model"] = str(found)
        if layer is not None:
            options |= {"layer": layer, "normalise": False}
        kept = Artifacts(default_cache_folder() / "fitted")  # which another machine may be given
        return ready_encoder(recipe.name, options, self._learns_from(recipe).texts, kept)

    def _learns_from(self, recipe: Recipe) -> Corpus:
        return self.other_domain if recipe.from_other_domain and self.other_domain is not None else self.fit


def missing_weights(recipe: Recipe, conditions: Conditions) -> str | None:
    """Why an encoder can't be made on this machine, or None; the weights of MiniLM come with a package."""
    if recipe.weights is None or recipe.name == "minilm" or find_model(recipe.weights, conditions) is not None:
        return None
    return (
        f"the weights of {recipe.weights} are not on this machine: name the folder that holds {recipe.weights} in "
        f"{MODELS_VARIABLE}"
    )


def find_model(name: str, conditions: Conditions) -> Path | None:
    """A model folder by name: under ``UNEMBED_MODELS``, or in ``models`` beside the data sets.

    Packed ones are expanded into the cache folder.
    """
    given = os.environ.get(MODELS_VARIABLE)
    folder = Path(given).expanduser() if given else data_folder(conditions).parent / "models"
    model = folder / name
    if not model.is_dir():
        return None
    return unpack(model, default_cache_folder() / "models") if is_packed(model) else model
