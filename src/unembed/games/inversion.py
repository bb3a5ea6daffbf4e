"""The inversion game: which words stood in the text behind this vector? (Song 3, Corò 4.2)

The answer is a set of words. Words the adversary's vocabulary lacks count as missed: from the writer's
side they were not read back. The headline is F1 on content words, because function words can be guessed
without looking at a vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unembed.corpora.words import Vocabulary, build_vocabulary, stop_words, word_sets, words
from unembed.encoders.base import Vectors, WhiteBoxEncoder, is_white_box
from unembed.errors import CannotMeasureError
from unembed.games.asking import Audited, PlainGame, Question, Refused
from unembed.games.base import Deal, Detail, Example, Material, Queries, Said, Scores
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.inversion_scores import detail
from unembed.games.listed_names import listed_names
from unembed.games.planting import Kind, Planted, PlantedWords, planted_words, strength_for, write_codes
from unembed.games.rows import hold_back, some_rows
from unembed.games.threat import Capability
from unembed.games.unseen import read_texts, unread_words
from unembed.metrics import sets
from unembed.seeds import generator

#: With more of the targets' words outside its vocabulary, an adversary that reads nothing may only lack the words.
MOST_OUTSIDE = 0.4


@dataclass(frozen=True)
class InversionKnowledge:
    """Pairs: vectors with the words of their texts, over the adversary's own vocabulary.

    ``texts`` are the adversary's own. ``query`` has further texts encoded, where the adversary may; ``encoder``
    is the model itself, where the adversary has its weights. ``as_stored``: as in ``games.base.Knowledge``.
    """

    vectors: Vectors
    labels: csr_matrix
    vocabulary: Vocabulary
    texts: Sequence[str] = ()
    query: Queries | None = None
    encoder: WhiteBoxEncoder | None = None
    as_stored: Vectors | None = None


@dataclass(frozen=True)
class InversionTruth:
    """Words of each target: those in the adversary's vocabulary, and how many lie outside it.

    ``pieces`` are the targets' tokens over the encoder's own vocabulary, where the weights are known. ``classes``
    are the words' classes, where they are asked for; ``only`` the words that are scored, where not all are.
    ``seen`` is the same of the part of each target that the encoder reads, where some are cut.
    """

    labels: csr_matrix
    outside: NDArray[np.float64]
    vocabulary: Vocabulary
    groups: Sequence[object] | None
    pieces: csr_matrix | None = None
    classes: Sequence[str] | None = None
    only: frozenset[str] | None = None
    seen: InversionTruth | None = None

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """Which words of the vocabulary are scored."""
        if self.only is None:
            return np.ones(len(self.vocabulary), dtype=bool)
        return np.array([word in self.only for word in self.vocabulary.words], dtype=bool)

    @cached_property
    def content(self) -> NDArray[np.bool_]:
        """Which scored words are content words."""
        return self.vocabulary.content & self.scored


@dataclass(frozen=True)
class PieceGuess:
    """What an attack through the weights finds: word pieces of the encoder, and the words they make up."""

    words: csr_matrix
    pieces: csr_matrix

    def __getitem__(self, rows: Any) -> PieceGuess:
        """The guess for some of the targets."""
        return PieceGuess(self.words[rows], self.pieces[rows])


#: A guess: CSR ``[targets, vocabulary]``, a stored value is the confidence that the word is there.
InversionGuess: TypeAlias = "csr_matrix | PieceGuess"


class InversionGame(PlainGame):
    """Deals (vector, word set) pairs; judges recovered word sets."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="inversion",
        question="Which words stood in the text behind a vector?",
        metric="content_f1",
        metric_meaning="F1 of the recovered content words (words that carry meaning; 'the' and 'of' don't count)",
        consequence="Whoever holds the vectors can read back words of the texts. Treat the vectors as you "
        "treat the texts: same access rules, same retention, same place in a breach notice.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
        version=4,
        evidence=("content_precision", "content_recall", "weighted_f1"),
        exposed="texts_half_recovered",
        private_params=("names", "scored_words"),
        private_slices=("word", "name"),
        with_references=True,
        curve=True,
        set_by=(("names", "--names"),),
        section="words",
    )

    vocabulary_size: int = 20_000
    min_count: int = 2
    language: str = "en"
    max_targets: int | None = None
    classes: str | None = None
    names: Sequence[str] = ()
    scored_words: Sequence[str] | None = None

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question; names are looked up where words are classed by rules."""
        given = audited.given("inversion")
        if given.get("classes") == "rules":
            given = {"names": listed_names(audited), **given}
        yield Question(cls(**given))

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        figures = found.secondary
        if "content_recall" not in figures:
            return f"can read back words with a score of {found.estimate.value:.0%} (guessing: {found.floor.value:.0%})"
        blind = found.secondary_floors.get("content_precision")
        guessed = "" if blind is None else f"; guessing: {blind:.0%}"
        half = figures.get("texts_half_recovered")
        texts = f" and at least half of them of {half.value:.0%} of the texts" if half and half.value >= 0.01 else ""
        return (
            f"can read back {figures['content_recall'].value:.0%} of the meaningful words{texts} "
            f"({figures['content_precision'].value:.0%} of the words they name are right{guessed})"
        )

    def deal(self, material: Material) -> Deal[InversionKnowledge, InversionTruth]:
        """Vocabulary from the adversary's texts only; the target's words are looked up in it."""
        knowledge, door = knowledge_of(material, self.vocabulary_size, self.min_count, self.language)
        vocabulary, white_box = knowledge.vocabulary, knowledge.encoder
        rows = self._asked(material)
        texts = [material.target.texts[i] for i in rows]
        only = None if self.scored_words is None else frozenset(w for given in self.scored_words for w in words(given))
        truth = InversionTruth(
            word_sets(texts, vocabulary),
            _outside_counts(texts, vocabulary, self.language, only),
            vocabulary,
            None if material.groups is None else [material.groups[i] for i in rows],
            None if white_box is None else piece_sets(texts, white_box),
            self._classes(texts, vocabulary),
            only,
            self._seen(read_texts(material, rows), vocabulary, only),
        )
        if not truth.scored.any():
            raise CannotMeasureError("none of scored_words is in the adversary's vocabulary: nothing could be found")
        if not (truth.labels @ truth.content.astype(np.int64)).any():
            raise CannotMeasureError(
                f"none of the {len(texts)} targets holds a content word of the adversary's vocabulary: whatever the "
                "vectors give away, this adversary could not say it; give it text of a closer kind or language"
            )
        n = len(material.known)
        present = truth.labels.sum() + truth.outside.sum()
        missing = truth.outside.sum() / max(present, 1)
        outside = f"{missing:.1%} of the targets' words are outside the adversary's"
        notes = [f"{outside} vocabulary of {len(vocabulary.words):,} words and count as missed"]
        if truth.seen is not None:
            notes.append(unread_words(present, truth.seen.labels.sum() + truth.seen.outside.sum()))
        return Deal(
            knowledge,
            material.target_vectors[rows],
            truth,
            pairs=n,
            queries=0,
            notes=tuple(notes),
            rows=rows,
            door=door,
            doubt=f"the adversary's text is too unlike the targets' to tell: {outside} vocabulary"
            if missing > MOST_OUTSIDE
            else None,
        )

    def knowledge(self, material: Material) -> InversionKnowledge:
        """Pairs over the vocabulary of their texts."""
        return knowledge_of(material, self.vocabulary_size, self.min_count, self.language)[0]

    def said(self, knowledge: InversionKnowledge, guess: InversionGuess) -> Said:
        """The words of each text with the confidence in each, the surest first."""
        names, found = knowledge.vocabulary.words, words_of(guess)
        answers = []
        for row in range(found.shape[0]):
            one = found[row]
            order = np.argsort(-one.data, kind="stable")
            answers.append([(names[int(one.indices[i])], float(one.data[i])) for i in order])
        return Said(answers)

    def _asked(self, material: Material) -> NDArray[np.int64]:
        """All targets, or ``max_targets`` of them for attacks that work hours on each thousand."""
        n = len(material.target)
        if self.max_targets is None or self.max_targets >= n:
            return np.arange(n, dtype=np.int64)
        chosen = generator(material.seed, "asked").permutation(n)[: self.max_targets]
        return np.sort(chosen).astype(np.int64)

    def _seen(
        self, read: list[str] | None, vocabulary: Vocabulary, only: frozenset[str] | None
    ) -> InversionTruth | None:
        if read is None:
            return None
        outside = _outside_counts(read, vocabulary, self.language, only)
        return InversionTruth(word_sets(read, vocabulary), outside, vocabulary, groups=None, only=only)

    def _classes(self, texts: Sequence[str], vocabulary: Vocabulary) -> list[str] | None:
        if self.classes is None:
            return None
        from unembed.corpora.word_classes import word_classes

        return word_classes(texts, vocabulary.words, self.classes, names=self.names, language=self.language)

    def judge(self, truth: InversionTruth, guess: InversionGuess, seed: int) -> Scores:
        """Pooled content-word F1; beside it all that ``inversion_scores`` works out."""
        pieces = guess.pieces if isinstance(guess, PieceGuess) else None
        guess = words_of(guess)
        every = sets.set_counts(truth.labels, guess, columns=truth.scored)
        content = sets.set_counts(truth.labels, guess, columns=truth.content)
        inside = content.copy()
        every[:, sets.PRESENT] += truth.outside.sum(axis=1)
        content[:, sets.PRESENT] += truth.outside[:, 1]

        def work_out() -> Detail:
            return detail(truth, guess, pieces, every=every, content=content, inside=inside)

        return Scores(content, sets.f1, truth.groups, work_out)

    def prior_guess(self, knowledge: InversionKnowledge, n: int) -> InversionGuess:
        """The constant set of words with the best expected F1, content and function words chosen apart."""
        frequency = np.asarray(knowledge.labels.mean(axis=0)).ravel()
        chosen: list[int] = []
        for mask in (knowledge.vocabulary.content, ~knowledge.vocabulary.content):
            columns = np.flatnonzero(mask)
            ranked = columns[np.argsort(-frequency[columns], kind="stable")]
            count = sets.best_prefix(frequency[ranked], float(frequency[ranked].sum()))
            chosen += [int(c) for c in ranked[:count]]
        row = csr_matrix((1, len(frequency)), dtype=np.float32)
        if chosen:
            data = np.maximum(frequency[chosen], 1e-6).astype(np.float32)
            row = csr_matrix((data, (np.zeros(len(chosen), dtype=int), chosen)), shape=row.shape)
        pointers = np.arange(n + 1, dtype=np.int64) * row.nnz
        return csr_matrix((np.tile(row.data, n), np.tile(row.indices, n), pointers), shape=(n, row.shape[1]))

    def kinds(self, knowledge: InversionKnowledge) -> tuple[Kind, ...]:
        """Words along axes of the space, and along rotated directions."""
        return ("axis", "rotated")

    def room(self, knowledge: InversionKnowledge, truth: InversionTruth) -> float:
        """What an ideal reader of the planted words scores above the best constant guess."""
        return self._planted_words(knowledge, truth).gain(np.inf)

    def plant(
        self,
        knowledge: InversionKnowledge,
        vectors: Vectors,
        truth: InversionTruth,
        kind: Kind,
        size: float,
        rng: np.random.Generator,
    ) -> Planted[InversionKnowledge]:
        """Whether each of the most frequent content words is there, a direction for each of them."""
        words = self._planted_words(knowledge, truth)
        strength = strength_for(words.gain, size)
        told = (strength * words.known, strength * words.asked)
        known, asked = write_codes(knowledge.vectors, vectors, told, kind, rng)
        return Planted(replace(knowledge, vectors=known, query=None, encoder=None, as_stored=None), asked)

    def _planted_words(self, knowledge: InversionKnowledge, truth: InversionTruth) -> PlantedWords:
        floor = self.judge(truth, self.prior_guess(knowledge, truth.labels.shape[0]), 0).point
        present = float(truth.labels[:, truth.content].sum() + truth.outside[:, 1].sum())
        return planted_words(knowledge.labels, truth.labels, truth.content, knowledge.vectors, present, floor)

    def rehearsal(self, knowledge: InversionKnowledge, seed: int) -> tuple[InversionKnowledge, Vectors, InversionTruth]:
        """Some of the pairs held back, no more than targets are asked about; for attacks that no planting reaches."""
        held, rest = hold_back(int(knowledge.labels.shape[0]), seed, self.max_targets or 500)
        truth = InversionTruth(knowledge.labels[held], np.zeros((len(held), 2)), knowledge.vocabulary, groups=None)
        return pairs_of(knowledge, rest), knowledge.vectors[held], truth

    def some_pairs(self, knowledge: InversionKnowledge, kept: NDArray[np.int64]) -> InversionKnowledge:
        """The same adversary with some of its pairs."""
        return pairs_of(knowledge, kept)

    def examples(self, truth: InversionTruth, guess: InversionGuess, rows: Sequence[int]) -> list[Example]:
        """Content words of the target, and those guessed, most confident first."""
        names, content = truth.vocabulary.words, truth.vocabulary.content
        guess = words_of(guess)
        found = []
        for row in rows:
            true = [names[c] for c in truth.labels[row].indices if content[c]]
            said = guess[row]
            order = np.argsort(-said.data, kind="stable")
            found.append(Example(int(row), true, [names[c] for c in said.indices[order] if content[c]]))
        return found


def pairs_of(knowledge: InversionKnowledge, kept: NDArray[np.int64]) -> InversionKnowledge:
    """An adversary of the inversion family with some of its pairs."""
    texts = [knowledge.texts[i] for i in kept] if len(knowledge.texts) else ()
    return replace(
        knowledge,
        vectors=knowledge.vectors[kept],
        labels=knowledge.labels[kept],
        texts=texts,
        as_stored=some_rows(knowledge.as_stored, kept),
    )


def words_of(guess: InversionGuess) -> csr_matrix:
    """The words of a guess, however it was found."""
    return guess.words if isinstance(guess, PieceGuess) else guess


def piece_sets(texts: Sequence[str], encoder: WhiteBoxEncoder) -> csr_matrix:
    """CSR ``[texts, tokens of the encoder]``: 1 where the text holds the token."""
    found = [sorted(set(ids)) for ids in encoder.token_ids(texts)]
    ends = np.cumsum([0, *(len(ids) for ids in found)])
    columns = np.array([i for ids in found for i in ids], dtype=np.int64)
    shape = (len(texts), len(encoder.vocabulary))
    return csr_matrix((np.ones(len(columns), dtype=np.uint8), columns, ends), shape=shape)


def knowledge_of(
    material: Material, vocabulary_size: int, min_count: int, language: str
) -> tuple[InversionKnowledge, Queries | None]:
    """What an adversary of the inversion family is given: pairs over a vocabulary of its own texts."""
    vocabulary = build_vocabulary(material.known.texts, size=vocabulary_size, min_count=min_count, language=language)
    if not len(vocabulary.words):
        raise CannotMeasureError(
            f"the adversary's {len(material.known)} texts hold no word that occurs {min_count} times: "
            "give it more text or lower min_count"
        )
    known, asked = int(material.known_vectors.shape[1]), int(material.target_vectors.shape[1])
    if known != asked:
        raise CannotMeasureError(
            f"the vectors under attack have {asked} dimensions, those of the pairs {known}: they come from two encoders"
        )
    held = material.adversary.capabilities
    encoder = material.encoder if Capability.WEIGHTS in held else None
    door = Queries(material.encode) if Capability.QUERIES in held else None
    knowledge = InversionKnowledge(
        material.known_vectors,
        word_sets(material.known.texts, vocabulary),
        vocabulary,
        material.known.texts,
        door,
        cast(WhiteBoxEncoder, encoder) if is_white_box(encoder) else None,
    )
    return knowledge, door


def _outside_counts(
    texts: Sequence[str], vocabulary: Vocabulary, language: str, only: frozenset[str] | None
) -> NDArray[np.float64]:
    """Per text, how many distinct words the vocabulary lacks: ``[n, 2]`` function words, content words."""
    stops = stop_words(language)
    counts = np.zeros((len(texts), 2))
    for row, text in enumerate(texts):
        for word in set(words(text)):
            if word not in vocabulary.index and (only is None or word in only):
                counts[row, int(word not in stops)] += 1
    return counts
