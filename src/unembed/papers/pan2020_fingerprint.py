"""Pan et al. 2020, Appendix D and Figure 9: which encoder made these vectors?

The paper tells five models of one dimension apart with a perceptron, without an error: trained on 2,000 restaurant
reviews, tested on 1,000 medical sentences. Of its five models only BERT is available, so others are told apart: MiniLM,
its layers and poolings, bge, and shallow encoders brought to the same 384 dimensions, where they can be mistaken for
each other. Beside the paper's classifier stand signatures learnt from made-up text, which also say "none of those".
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from unembed.attacks.fingerprint import Signature, SignatureBook, identify, learn_from_encoder
from unembed.attacks.fingerprint.classifier import EncoderClassifier
from unembed.attacks.fingerprint.directions import directions
from unembed.games.fingerprint import FingerprintKnowledge
from unembed.metrics.estimate import mean
from unembed.papers.base import Conditions, Measured, by_size
from unembed.papers.datasets import read
from unembed.papers.encoders import Encoders, Recipe, missing_weights
from unembed.papers.library import facts_of
from unembed.papers.tables import Row, Table, refused
from unembed.papers.texts import sample
from unembed.seeds import generator, seed_for

DIMENSION = 384
SETS = (1, 10, 100)
PERCEPTRON, SIGNATURES = "perceptron (d-200-k)", "signatures from made-up text"


def _part(network: str, weights: str, **options: Any) -> Recipe:
    return Recipe(network, "minilm" if network == "MiniLM" else "transformer", options, weights)


_MINILM, _BGE = partial(_part, "MiniLM", "all-MiniLM-L6-v2"), partial(_part, "bge", "bge-small-en-v1.5")
#: Encoders of one dimension; the title is the network that they are a part of.
MAKERS: dict[str, Recipe] = {
    "minilm": _MINILM(),
    "minilm-first": _MINILM(pooling="first", normalise=False),
    **{f"minilm-layer{n}": _MINILM(layer=n, normalise=False) for n in range(6)},
    "bge": _BGE(pooling="first", normalise=True),
    "bge-mean": _BGE(pooling="mean", normalise=True),
    "tfidf": Recipe("tfidf", "tfidf", {"max_features": DIMENSION}),
    "hashing": Recipe("hashing", "hashing", {"features": DIMENSION}),
    "lsa-tfidf": Recipe("lsa-tfidf", "lsa", {"components": DIMENSION}),
    "lsa-hashing": Recipe("lsa-hashing", "lsa", {"components": DIMENSION, "base": "hashing"}),
    "word2vec": Recipe("word2vec", "word2vec", {"dimension": DIMENSION}),
    "fasttext": Recipe("fasttext", "fasttext", {"dimension": DIMENSION, "buckets": 50_000}),
    "glove": Recipe("glove", "glove", {"dimension": DIMENSION, "iterations": 15}),
    "doc2vec": Recipe("doc2vec", "doc2vec", {"dimension": DIMENSION, "sample": 1e-3}),
}


@dataclass(frozen=True)
class Scale:
    """The amounts of one size: training and test vectors per encoder, texts to fit shallow encoders on, sets drawn."""

    train: int
    test: int
    fit: int
    draws: int


SCALES = by_size(Scale(60, 120, 400, 5), Scale(300, 200, 5_000, 40), Scale(2_000, 1_000, 20_000, 200))


class Figure9(Table):
    """Whose vectors these are, told from one, ten and a hundred; and what is said of unknown encoders."""

    facts = facts_of("pan2020/figure9")
    known: ClassVar[tuple[str, ...]] = tuple(MAKERS)
    encoders = by_size(("tfidf", "hashing", "lsa-tfidf"), tuple(MAKERS), tuple(MAKERS))

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Both ways of telling on the same vectors."""
        missing = {k: reason for k in encoders if (reason := missing_weights(MAKERS[k], conditions))}
        chosen = tuple(k for k in encoders if k not in missing)
        study = Study(conditions, chosen)
        identity = {"makers": {k: vars(MAKERS[k]) for k in chosen}, "data": study.fingerprint}
        identity |= EncoderClassifier().get_params()
        rows = [
            Row(PERCEPTRON, identity, study.perceptron_rows),
            Row(SIGNATURES, identity, study.signature_rows),
            *(refused(key, reason) for key, reason in missing.items()),
        ]
        return rows, [f"{len(chosen)} encoders of {DIMENSION} dimensions: {', '.join(chosen)}"]


class Study:
    """The vectors of all encoders, and who is told apart by what."""

    def __init__(self, conditions: Conditions, chosen: tuple[str, ...]) -> None:
        self.conditions, self.chosen, self.scale = conditions, chosen, SCALES[conditions.size]
        seed = conditions.seed
        if conditions.size == "smoke":
            from unembed.corpora.generators.messages import generate_messages
            from unembed.corpora.generators.public_text import generate_public_text

            self.train = generate_messages(self.scale.train, seed=seed + 1)
            self.test = generate_public_text(self.scale.test, seed=seed + 1)
            self.fit = generate_messages(self.scale.fit, seed=seed + 2)
        else:
            reviews = read(conditions, "restaurant_sentences", "sentence")
            medical = read(conditions, "medical_sentences", "sentence")
            self.train = sample(reviews, self.scale.train, seed, "train")
            self.test = sample(medical, self.scale.test, seed, "test")
            self.fit = sample(read(conditions, "wikipedia_sentences", "sentence"), self.scale.fit, seed, "fit")

    @property
    def fingerprint(self) -> str:
        """One digest for all texts."""
        return "-".join(c.fingerprint[:12] for c in (self.train, self.test, self.fit))

    @cached_property
    def vectors(self) -> tuple[dict[str, Any], dict[str, Any], dict[str, Signature]]:
        """Of every encoder: training vectors, test vectors, and the signature learnt from made-up text."""
        encoders = Encoders(self.conditions, self.fit, recipes=MAKERS)
        train, test, learnt = {}, {}, {}
        for number, key in enumerate(self.chosen):
            if self.conditions.progress:
                self.conditions.progress("encoders", number, len(self.chosen))
            train[key], test[key] = (_dense(encoders.vectors(key, texts)) for texts in (self.train, self.test))
            learnt[key] = learn_from_encoder(key, encoders.cached(key))
        return train, test, learnt

    def perceptron_rows(self) -> list[Measured]:
        """The paper's classifier, and how well its hidden layer and the raw vectors cluster."""
        train, test, _ = self.vectors
        started = time.perf_counter()
        model = EncoderClassifier(device=self.conditions.device, seed=seed_for(self.conditions.seed, "perceptron"))
        model.fit(FingerprintKnowledge.of(train))
        said = {key: model.run(rows).scores for key, rows in test.items()}
        seconds = time.perf_counter() - started

        def names(key: str, rows: NDArray[np.int64]) -> str:
            return self.chosen[int(said[key][rows].sum(axis=0).argmax())]

        found = [
            self._share(PERCEPTRON, n, "accuracy", lambda k, r: names(k, r) == k, self.chosen, seconds) for n in SETS
        ]
        for title, points in (
            ("vectors as they are", {k: directions(v) for k, v in test.items()}),
            ("hidden layer", {k: model.hidden_layer(v) for k, v in test.items()}),
        ):
            same = _nearest_is_same(points)
            groups = [k for k, v in points.items() for _ in range(len(v))]
            found.append(Measured.of(f"clusters · {title}", "nearest of the same encoder", mean(same, groups=groups)))
        return found

    def signature_rows(self) -> list[Measured]:
        """Signatures: which encoder ranks first, which is named, and how often an unknown encoder is given a name."""
        _, _, learnt = self.vectors
        book = SignatureBook(tuple(learnt.values()))
        networks = {k: MAKERS[k].title for k in self.chosen}

        def told(key: str, rows: NDArray[np.int64], left_out: list[str]) -> tuple[str | None, str]:
            answer = identify(self.vectors[1][key][rows], book.without(left_out))
            return answer.name, answer.candidates[0].name if answer.candidates else ""

        def kin(key: str) -> list[str]:
            return [k for k in self.chosen if networks[k] == networks[key]]

        hits: dict[str, Callable[[str, NDArray[np.int64]], bool]] = {
            "accuracy": lambda key, rows: told(key, rows, [])[1] == key,
            "named rightly": lambda key, rows: told(key, rows, [])[0] == key,
            "named wrongly": lambda key, rows: told(key, rows, [])[0] not in (key, None),
            "unknown encoder named": lambda key, rows: told(key, rows, kin(key))[0] is not None,
            "unknown relative named": lambda key, rows: told(key, rows, [key])[0] is not None,
        }
        related = [k for k in self.chosen if len(kin(k)) > 1]
        found = []
        for n, (metric, hit) in ((n, item) for n in SETS for item in hits.items()):
            among = related if metric == "unknown relative named" else list(self.chosen)
            if among:
                found.append(self._share(SIGNATURES, n, metric, hit, among))
        return found

    def _share(
        self,
        title: str,
        n: int,
        metric: str,
        hit: Callable[[str, NDArray[np.int64]], bool],
        among: Sequence[str],
        seconds: float | None = None,
    ) -> Measured:
        """The share of random sets of ``n`` vectors with a hit; sets of one encoder are drawn together."""
        test = self.vectors[1]
        hits, groups = [], []
        for key in among:
            rng = generator(self.conditions.seed, "sets", key, n)
            alive = np.flatnonzero(np.abs(test[key]).sum(axis=1) > 0)
            for _ in range(self.scale.draws if n < 100 else max(1, self.scale.draws // 4)):
                hits.append(hit(key, rng.permutation(alive)[:n]))
                groups.append(key)
        return Measured.of(
            f"{title} · {n} vector{'s' if n > 1 else ''}",
            metric,
            mean(np.array(hits), groups=groups),
            floor=1 / len(self.chosen) if metric == "accuracy" else None,
            seconds=None if seconds is None else round(seconds, 2),
            series=f"{title}, {metric}",
            x=float(n),
        )


def _dense(vectors: Any) -> Any:
    return vectors.toarray() if issparse(vectors) else np.asarray(vectors)


def _nearest_is_same(points: dict[str, Any]) -> NDArray[np.bool_]:
    """Whether each point's nearest neighbour, of all points, is of the same encoder."""
    stacked = np.concatenate(list(points.values()))
    owner = np.repeat(np.arange(len(points)), [len(v) for v in points.values()])
    squares = (stacked**2).sum(axis=1)
    found = np.empty(len(stacked), dtype=bool)
    for start in range(0, len(stacked), 1024):
        rows = slice(start, min(start + 1024, len(stacked)))
        away = squares[rows, None] + squares - 2 * stacked[rows] @ stacked.T
        away[np.arange(away.shape[0]), np.arange(rows.start, rows.stop)] = np.inf
        found[rows] = owner[away.argmin(axis=1)] == owner[rows]
    return found
