"""The inversion game: which words stood in the text behind this vector? (Song 3, Corò 4.2)

The answer is a set of words. Words the adversary's vocabulary lacks count as missed: from the writer's
side they were not read back. The headline is F1 on content words, because function words can be guessed
without looking at a vector.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unembed.corpora.corpus import Corpus
from unembed.corpora.words import Vocabulary, build_vocabulary, stop_words, word_sets, words
from unembed.encoders.base import Vectors, WhiteBoxEncoder
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, Detail, Example, GameFacts, Material, Queries, Scores, SliceScore
from unembed.games.threat import Adversary, Capability
from unembed.metrics import sets
from unembed.metrics.estimate import Estimate, bootstrap, mean
from unembed.params import Parametrised
from unembed.seeds import generator

FREQUENCY_BANDS = ((0, 100), (100, 1000), (1000, 5000), (5000, None))


@dataclass(frozen=True)
class InversionKnowledge:
    """Pairs: vectors with the words of their texts, over the adversary's own vocabulary.

    ``texts`` are the adversary's own. ``query`` has further texts encoded, where the adversary may; ``encoder``
    is the model itself, where the adversary has its weights.
    """

    vectors: Vectors
    labels: csr_matrix
    vocabulary: Vocabulary
    texts: Sequence[str] = ()
    query: Queries | None = None
    encoder: WhiteBoxEncoder | None = None


@dataclass(frozen=True)
class InversionTruth:
    """Words of each target: those in the adversary's vocabulary, and how many lie outside it.

    ``pieces`` are the targets' tokens over the encoder's own vocabulary, where the weights are known.
    """

    labels: csr_matrix
    outside: NDArray[np.float64]
    vocabulary: Vocabulary
    groups: Sequence[object] | None
    pieces: csr_matrix | None = None


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


class InversionGame(Parametrised):
    """Deals (vector, word set) pairs; judges recovered word sets."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="inversion",
        question="Which words stood in the text behind a vector?",
        metric="content_f1",
        metric_meaning="F1 of the recovered content words (words that carry meaning; 'the' and 'of' don't count)",
        consequence="Whoever holds the vectors can read back words of the texts. Treat the vectors as you "
        "treat the texts: same access rules, same retention, same place in a breach notice.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
    )

    def __init__(
        self,
        *,
        vocabulary_size: int = 20_000,
        min_count: int = 2,
        language: str = "en",
        max_targets: int | None = None,
    ) -> None:
        self.vocabulary_size = vocabulary_size
        self.min_count = min_count
        self.language = language
        self.max_targets = max_targets

    @property
    def subject(self) -> str | None:
        """Inversion asks for all words: there is no narrower subject."""
        return None

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """The adversary's own texts are all it has encoded."""
        return []

    def deal(self, material: Material) -> Deal[InversionKnowledge, InversionTruth]:
        """Vocabulary from the adversary's texts only; the target's words are looked up in it."""
        vocabulary = build_vocabulary(
            material.known.texts, size=self.vocabulary_size, min_count=self.min_count, language=self.language
        )
        if not len(vocabulary.words):
            raise CannotMeasureError(
                f"the adversary's {len(material.known)} texts hold no word that occurs {self.min_count} times: "
                "give it more text or lower min_count"
            )
        rows = self._asked(material)
        texts = [material.target.texts[i] for i in rows]
        held = material.adversary.capabilities
        encoder = material.encoder if Capability.WEIGHTS in held else None
        white_box = encoder if isinstance(encoder, WhiteBoxEncoder) else None
        truth = InversionTruth(
            word_sets(texts, vocabulary),
            _outside_counts(texts, vocabulary, self.language),
            vocabulary,
            None if material.groups is None else [material.groups[i] for i in rows],
            None if white_box is None else piece_sets(texts, white_box),
        )
        door = Queries(material.encode) if Capability.QUERIES in held else None
        knowledge = InversionKnowledge(
            material.known_vectors,
            word_sets(material.known.texts, vocabulary),
            vocabulary,
            material.known.texts,
            door,
            white_box,
        )
        n = len(material.known)
        present = truth.labels.sum() + truth.outside.sum()
        outside = f"{truth.outside.sum() / max(present, 1):.1%} of the targets' words are outside the adversary's"
        return Deal(
            knowledge,
            material.target_vectors[rows],
            truth,
            pairs=n,
            queries=0,
            notes=(f"{outside} vocabulary of {len(vocabulary.words):,} words and count as missed",),
            rows=rows,
            door=door,
        )

    def _asked(self, material: Material) -> NDArray[np.int64]:
        """All targets, or ``max_targets`` of them for attacks that work hours on each thousand."""
        n = len(material.target)
        if self.max_targets is None or self.max_targets >= n:
            return np.arange(n, dtype=np.int64)
        chosen = generator(material.seed, "asked").permutation(n)[: self.max_targets]
        return np.sort(chosen).astype(np.int64)

    def judge(self, truth: InversionTruth, guess: InversionGuess, seed: int) -> Scores:
        """Pooled content-word F1; precision, recall, all words, per-text means and frequency bands beside it."""
        content_mask = truth.vocabulary.content
        pieces = guess.pieces if isinstance(guess, PieceGuess) else None
        guess = words_of(guess)
        every = sets.set_counts(truth.labels, guess)
        content = sets.set_counts(truth.labels, guess, columns=content_mask)
        inside = content.copy()
        every[:, sets.PRESENT] += truth.outside.sum(axis=1)
        content[:, sets.PRESENT] += truth.outside[:, 1]

        def work_out() -> Detail:
            rng = generator(seed, "inversion", "judge")

            def pooled(counts: NDArray[np.float64], statistic: Any) -> Estimate:
                return bootstrap(counts, statistic, rng=rng, groups=truth.groups)

            secondary = {
                "content_precision": pooled(content, sets.precision),
                "content_recall": pooled(content, sets.recall),
                "content_f1_in_vocabulary": pooled(inside, sets.f1),
                "content_f1_per_text": mean(sets.f1_per_text(content), rng=rng, groups=truth.groups),
                "f1": pooled(every, sets.f1),
                "precision": pooled(every, sets.precision),
                "recall": pooled(every, sets.recall),
                "f1_per_text": mean(sets.f1_per_text(every), rng=rng, groups=truth.groups),
            }
            if pieces is not None and truth.pieces is not None:
                counts = sets.set_counts(truth.pieces, pieces)
                for name, statistic in (("f1", sets.f1), ("precision", sets.precision), ("recall", sets.recall)):
                    secondary[f"piece_{name}"] = pooled(counts, statistic)
            bands = tuple(
                SliceScore("word frequency", name, pooled(counts, sets.f1))
                for name, counts in _by_frequency(truth, guess)
            )
            return Detail(secondary, bands)

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

    def rehearsal(self, knowledge: InversionKnowledge, seed: int) -> tuple[Vectors, InversionTruth]:
        """Up to 500 of the training pairs."""
        n = knowledge.labels.shape[0]
        rows = np.sort(generator(seed, "rehearsal").choice(n, size=min(n, 500), replace=False))
        truth = InversionTruth(knowledge.labels[rows], np.zeros((len(rows), 2)), knowledge.vocabulary, groups=None)
        return knowledge.vectors[rows], truth

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


def _by_frequency(truth: InversionTruth, guess: csr_matrix) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Counts of the content words in each band of frequency ranks that holds enough of them."""
    size = len(truth.vocabulary.words)
    for low, high in FREQUENCY_BANDS:
        band = np.zeros(size, dtype=bool)
        band[low:high] = True
        counts = sets.set_counts(truth.labels, guess, columns=band & truth.vocabulary.content)
        if counts[:, sets.PRESENT].sum() >= 20:
            yield f"ranks {low + 1:,}–{min(high or size, size):,}", counts


def _outside_counts(texts: Sequence[str], vocabulary: Vocabulary, language: str) -> NDArray[np.float64]:
    """Per text, how many distinct words the vocabulary lacks: ``[n, 2]`` function words, content words."""
    stops = stop_words(language)
    counts = np.zeros((len(texts), 2))
    for row, text in enumerate(texts):
        for word in set(words(text)):
            if word not in vocabulary.index:
                counts[row, int(word not in stops)] += 1
    return counts
