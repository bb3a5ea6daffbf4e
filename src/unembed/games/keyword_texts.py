"""What an adversary of the keyword games trains on: balanced texts per keyword, each encoded once (Pan VI-B, VI-C).

A text used for several keywords stands once, and texts without a keyword are shared where they can be, so that the
number of texts to encode grows with the positives alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.corpora.substitution import contains_keyword, noun_like, substitute, substitute_at
from unembed.corpora.words import at_even_steps, build_vocabulary, telling_words, words
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import IntArray, Material
from unembed.games.rows import some_rows, stack_rows
from unembed.games.threat import Adversary, Capability
from unembed.params import Parametrised
from unembed.seeds import generator

#: So many training texts with and without each keyword are needed.
FEWEST = 2
#: Puts the keyword in the place of any noun-like word.
NOUNS = "nouns"
#: Fewer texts with a word, or without it, and no balanced test set can be made.
MIN_POSITIVES = 5
CANDIDATES = 400


@dataclass(frozen=True)
class KeywordKnowledge:
    """Vectors with, for every keyword, the rows to train on and their labels.

    ``texts`` are the adversary's own, one per vector. ``unlabelled`` are all vectors of the store, which every
    adversary holds; which of them a keyword is judged on follows from the truth, so nobody is told. ``frequency`` is
    the share of the adversary's own texts that hold each keyword, before any substitution. ``origins`` number the text
    each vector's was made from: a text and its changed copies have one number. ``as_stored``: as in
    ``games.base.Knowledge``.
    """

    vectors: Vectors
    rows: tuple[IntArray, ...]
    labels: tuple[NDArray[np.bool_], ...]
    keywords: tuple[str, ...]
    unlabelled: Vectors | None = None
    texts: tuple[str, ...] = ()
    frequency: NDArray[np.float64] | None = None
    origins: IntArray | None = None
    as_stored: Vectors | None = None


def rows_of(knowledge: KeywordKnowledge, kept: IntArray) -> KeywordKnowledge:
    """The same adversary with some of its training rows, which must leave texts of both kinds for every keyword."""
    place = np.full(int(knowledge.vectors.shape[0]), -1, dtype=np.int64)
    place[kept] = np.arange(len(kept))
    chosen = [place[rows] >= 0 for rows in knowledge.rows]
    left = [labels[keep] for labels, keep in zip(knowledge.labels, chosen, strict=True)]
    if any(not labels.any() or labels.all() for labels in left):
        raise CannotMeasureError("too few texts are left to learn some keyword from")
    return replace(
        knowledge,
        vectors=knowledge.vectors[kept],
        rows=tuple(place[rows[keep]] for rows, keep in zip(knowledge.rows, chosen, strict=True)),
        labels=tuple(left),
        texts=tuple(knowledge.texts[i] for i in kept) if knowledge.texts else (),
        origins=some_rows(knowledge.origins, kept),
        as_stored=some_rows(knowledge.as_stored, kept),
    )


@dataclass(frozen=True)
class Training:
    """What the adversary trains on, before anything is encoded; ``origins``: the own text each was made from."""

    texts: list[str]
    origins: IntArray
    rows: tuple[IntArray, ...]
    labels: tuple[NDArray[np.bool_], ...]
    frequency: NDArray[np.float64]


@dataclass(frozen=True)
class Dealt:
    """The adversary's knowledge, how many of its own texts are in it, how many it had encoded, and what to note."""

    knowledge: KeywordKnowledge
    pairs: int
    queries: int
    notes: tuple[str, ...]


class _Pool:
    """Texts, each once, with the number of the adversary's text it was first made from."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.origins: list[int] = []
        self._where: dict[str, int] = {}

    def row(self, text: str, origin: int) -> int:
        if text not in self._where:
            self._where[text] = len(self.texts)
            self.texts.append(text)
            self.origins.append(int(origin))
        return self._where[text]


def training_texts(
    known: Corpus,
    keywords: Sequence[str],
    adversary: Adversary,
    seed: int,
    *,
    samples: int,
    substitution: str = "double",
    place: str | None = None,
    contrast: float = 0.5,
) -> Training:
    """Balanced texts of every keyword.

    ``substitution`` "double" changes a copy of each text (with query access), "none" takes texts as they are.
    ``place`` puts keywords where a given word, or any noun ("nouns"), stands, in texts that have one; there, the
    share ``contrast`` of the texts without a keyword holds another keyword, and the rest a random word.
    """
    if substitution not in ("double", "none"):
        raise UsageError(f"substitution is 'double' or 'none', not '{substitution}'")
    may_query = Capability.QUERIES in adversary.capabilities and substitution == "double"
    holds = contains_keyword(known.texts, keywords)
    pool = _Pool()
    if may_query and place is not None:
        rows, labels = _placed(known, keywords, holds, place, contrast, samples, seed, pool)
    else:
        rows, labels = _doubled(known, keywords, holds, may_query, samples, seed, pool)
    origins = np.array(pool.origins, dtype=np.int64)
    frequency = holds.mean(axis=0) if len(holds) else np.zeros(0)
    return Training(pool.texts, origins, tuple(rows), tuple(labels), frequency)


def _doubled(
    known: Corpus,
    keywords: Sequence[str],
    holds: NDArray[np.bool_],
    may_query: bool,
    samples: int,
    seed: int,
    pool: _Pool,
) -> tuple[list[IntArray], list[NDArray[np.bool_]]]:
    """Texts with and without the keyword, each with its changed copy where copies can be encoded."""
    vocabulary = build_vocabulary(known.texts, size=5000, min_count=1).words if may_query else ()
    rows, labels = [], []
    for column, keyword in enumerate(keywords):
        rng = generator(seed, "keyword", keyword)
        half = samples // 2
        positive = rng.permutation(np.flatnonzero(holds[:, column]))[:half]
        negative = rng.permutation(np.flatnonzero(~holds[:, column]))[: max(half, samples - len(positive))]
        source = np.concatenate([positive, negative])
        chosen = [known.texts[i] for i in source]
        answer = [True] * len(positive) + [False] * len(negative)
        if not may_query:
            # Without queries there is no substitution to balance the texts with the keyword and those without.
            keep = max(2 * len(positive), 4)
            chosen, answer, source = chosen[:keep], answer[:keep], source[:keep]
        else:
            doubled = substitute(chosen, keyword, vocabulary, rng)
            chosen, answer = doubled.texts, [bool(a) for a in doubled.labels]
            source = source[doubled.source_rows]
        here = [pool.row(text, int(row)) for text, row in zip(chosen, source, strict=True)]
        rows.append(np.array(here, dtype=np.int64))
        labels.append(np.array(answer, dtype=bool))
    return rows, labels


def _placed(
    known: Corpus,
    keywords: Sequence[str],
    holds: NDArray[np.bool_],
    place: str,
    contrast: float,
    samples: int,
    seed: int,
    pool: _Pool,
) -> tuple[list[IntArray], list[NDArray[np.bool_]]]:
    """A keyword, another one or a random word in the place of one word; each such text serves many keywords."""
    if not 0 <= contrast <= 1:
        raise UsageError(f"contrast is a share between 0 and 1, not {contrast}")
    places = noun_like(known.texts) if place == NOUNS else frozenset(words(place))
    if place != NOUNS and len(places) != 1:
        raise UsageError(f"place is one word or '{NOUNS}', not '{place}'")
    usable = [row for row, text in enumerate(known.texts) if places & set(words(text))]
    if len(usable) < 4:
        raise CannotMeasureError(
            f"{len(usable)} of the adversary's {len(known)} texts hold "
            + ("a noun" if place == NOUNS else f"the word '{place}'")
            + " whose place a keyword could take: name another place, or none"
        )
    asked = {word for keyword in keywords for word in words(keyword)}
    vocabulary = [w for w in build_vocabulary(known.texts, size=5000, min_count=1).words if w not in asked | places]
    if not vocabulary:
        raise CannotMeasureError("the adversary's texts hold no word besides the keywords and the place they take")
    order = generator(seed, "places").permutation(len(usable))[: samples // 2]
    chosen = np.array([usable[i] for i in np.sort(order)], dtype=np.int64)
    spare = generator(seed, "spare words")
    blank = [_at(known.texts[r], places, vocabulary[int(spare.integers(len(vocabulary)))], spare) for r in chosen]
    filled = [
        [_at(known.texts[r], places, keyword.strip(), rng) for r in chosen]
        for keyword, rng in ((k, generator(seed, "keyword", k)) for k in keywords)
    ]
    held = [contains_keyword(texts, keywords) for texts in filled]
    rows, labels = [], []
    for column, keyword in enumerate(keywords):
        rng = generator(seed, "contrast", keyword)
        # The keyword that stands in each text without this one; -1: a random word does.
        others = np.array([c for c in range(len(keywords)) if c != column] or [-1])
        other = np.where(rng.random(len(chosen)) < contrast, rng.choice(others, size=len(chosen)), -1)
        without = [
            (blank[i] if c < 0 else filled[c][i], chosen[i])
            for i, c in enumerate(other)
            if not (holds[chosen[i], column] if c < 0 else held[c][i, column])
        ]
        both = [*without, *zip(filled[column][: len(without)], chosen, strict=False)]
        rows.append(np.array([pool.row(text, int(row)) for text, row in both], dtype=np.int64))
        labels.append(np.arange(len(both)) >= len(without))
    return rows, labels


def _at(text: str, places: frozenset[str], word: str, rng: np.random.Generator) -> str:
    changed = substitute_at(text, places, word, rng)
    assert changed is not None, "only texts that hold a place are chosen"
    return changed


def check_training(training: Training) -> None:
    """Every keyword needs a few texts of each kind."""
    for column, labels in enumerate(training.labels):
        if not FEWEST <= labels.sum() <= len(labels) - FEWEST:
            raise CannotMeasureError(
                f"the adversary has {int(labels.sum())} of {len(labels)} texts with keyword number {column + 1}: it "
                f"needs at least {FEWEST} with and {FEWEST} without; give it more texts, or query access to put the "
                "keyword into them"
            )


def knowledge_of(material: Material, training: Training, keywords: Sequence[str]) -> Dealt:
    """The knowledge dealt, and what it took.

    It follows from the adversary's texts, their vectors and those of the store, and from nothing else.
    """
    own = {text: row for row, text in enumerate(material.known.texts)}
    queried = [t for t in training.texts if t not in own]
    held = [t for t in training.texts if t in own]
    place = {t: i for i, t in enumerate(held + queried)}
    order = np.array([place[t] for t in training.texts], dtype=np.int64)
    parts = [material.known_vectors[np.array([own[t] for t in held], dtype=np.int64)]]
    if queried:
        parts.append(material.encode(queried))
    vectors = stack_rows(parts)[order]
    telling = [_telling(vectors, rows, labels) for rows, labels in zip(training.rows, training.labels, strict=True)]
    knowledge = KeywordKnowledge(
        vectors,
        tuple(rows[kept] for rows, kept in zip(training.rows, telling, strict=True)),
        tuple(labels[kept] for labels, kept in zip(training.labels, telling, strict=True)),
        tuple(keywords),
        unlabelled=material.target_vectors,
        texts=tuple(training.texts),
        frequency=training.frequency,
        origins=training.origins,
    )
    silent = sum(int((~kept).sum()) for kept in telling)
    notes: tuple[str, ...] = ()
    if silent:
        notes = (
            f"{silent:,} of {sum(map(len, telling)):,} training texts were left out: their vectors are the same with "
            "the keyword and without it, as where an encoder cuts off the end of a long text",
        )
    return Dealt(knowledge, len(held), len(queried), notes)


def _telling(vectors: Vectors, rows: IntArray, labels: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have a vector that no row of the other answer has; all, where too few would be left to learn from."""
    seen = [_digest(vectors, int(row)) for row in rows]
    yes, no = ({d for d, label in zip(seen, labels, strict=True) if bool(label) is kind} for kind in (True, False))
    both = yes & no
    kept = np.array([d not in both for d in seen], dtype=bool)
    return kept if min(labels[kept].sum(), (~labels[kept]).sum()) >= FEWEST else np.ones(len(rows), dtype=bool)


def _digest(vectors: Vectors, row: int) -> bytes:
    """What two rows share only if they are the same."""
    if isinstance(vectors, np.ndarray):
        return np.ascontiguousarray(vectors[row]).tobytes()
    one = vectors[row]
    return bytes(one.indices.tobytes() + one.data.tobytes())


def propose_keywords(adversary: Corpus, target: Corpus, count: int) -> tuple[str, ...]:
    """Keywords for a collection that comes without a list, each frequent enough on both sides to be measured.

    They are taken at even steps over the frequency ranks, so that the question is not only about the most common words.
    """
    usable = [word for word in telling_words(adversary.texts, min_count=MIN_POSITIVES) if not word.isdigit()][
        :CANDIDATES
    ]
    if not usable:
        return ()
    yes = contains_keyword(target.texts, usable).sum(axis=0)
    enough = [w for w, y in zip(usable, yes, strict=True) if 2 * MIN_POSITIVES <= y <= len(target) - 2 * MIN_POSITIVES]
    return at_even_steps(enough, count)


class WordsGame(Parametrised):
    """What the games about words share: the words, how the training texts are made, and what is encoded for them."""

    keywords: Sequence[str] = ()
    samples: int = 120
    substitution: str = "double"
    place: str | None = None
    contrast: float = 0.5

    def listed(self, known: Corpus) -> Sequence[str]:
        """The words that are asked for."""
        return self.keywords

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """The substituted texts, where the adversary may query."""
        own = set(known.texts)
        return [t for t in self._training(known, self.listed(known), adversary, seed).texts if t not in own]

    def _training(self, known: Corpus, listed: Sequence[str], adversary: Adversary, seed: int) -> Training:
        settings = {name: getattr(self, name) for name in ("samples", "substitution", "place", "contrast")}
        return training_texts(known, listed, adversary, seed, **settings)

    def some_pairs(self, knowledge: KeywordKnowledge, kept: IntArray) -> KeywordKnowledge:
        """The same adversary with some of its pairs."""
        return rows_of(knowledge, kept)
