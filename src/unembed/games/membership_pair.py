"""The game of sentence pairs: did the model see these sentences one after the other when it was trained?

Song and Raghunathan 5.2 and 6.4. A trial is a run of ``pairs`` pairs of neighbours from one document: with one pair the
paper's context level, with many its aggregate level, a book or a person's messages. Where the collection has documents
(``--group``) neighbours are texts that follow each other in one of them; else they are sentences inside one text.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.paragraphs import split_sentences
from unembed.corpora.training import POSITION
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.games.base import Deal, IntArray, Material
from unembed.games.claims import Figures
from unembed.games.contexts import (
    ContextGame,
    ContextKnowledge,
    Contexts,
    ContextTrials,
    bags,
    dealt,
    documents_of,
    drawing,
    enough_for_tenths,
    knows,
    learnt_from,
    on_one_side,
    recognised,
    side_by_side,
    tenths_of,
)
from unembed.games.facts import GameFacts
from unembed.metrics.spread import FloatArray
from unembed.shadows.base import TokenCorpus


class MembershipPairGame(ContextGame):
    """Deals pairs of neighbouring sentences that the model learnt from and others, as their vectors."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="membership-pair",
        question="Were these sentences, one after the other, among the texts that the model was trained on?",
        metric="balanced_accuracy",
        metric_meaning="share of the pairs, or runs of pairs, of training texts that are recognised and share of "
        "others that are not taken for them, averaged over both (a coin gives 50 %)",
        consequence="Whoever has a document and may ask the model for the vectors of its sentences can tell better "
        "than by chance whether it was used for training.",
        tags=("OWASP LLM02:2025", "MITRE ATLAS AML.T0024.000"),
        needs_training=True,
        evidence=("auc",),
        counts_hits=False,
        gravest="moderate",
        section="training",
        default=False,
        learns_from="pairs, or runs of pairs, of sentences",
    )

    pairs: int = 1
    runs: int = 4000
    labelled: int = 4000

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        return recognised(found, "the neighbouring sentences that the model was trained on")

    def deal(self, material: Material) -> Deal[ContextKnowledge, ContextTrials]:
        """Runs of pairs from both sides, and the vectors of their sentences."""
        if self.pairs < 1:
            raise UsageError(f"pairs of the game 'membership-pair' must be at least 1, not {self.pairs}")
        whole = _Runs.of(material, self.pairs)
        alone = whole.some(whole.apart())
        among, unread = alone.frequency(), 0
        sides = []
        for most, whose in ((self.runs, "asked"), (self.labelled, "known")):
            side = alone.some((alone.texts < len(material.target)) == (whose == "asked"))
            taken = side.contexts(among).drawn(most, drawing(material, whose))
            rows, table = side.some(taken).answered(material, whose)
            there = knows(table)[rows]
            told = np.asarray((there[:, ::2] & there[:, 1::2]).any(axis=1))
            unread += int((~told).sum())
            # Some may be left without their counterpart of the other side.
            left = side.some(taken[told])
            again = left.contexts(among).drawn(most, drawing(material, whose))
            sides.append((left.contexts(among).some(again), side_by_side(table, rows[told][again]), left.some(again)))
        (targets, vectors, own), (pairs, known, held) = sides
        size = len(whole.corpus.vocabulary)
        grouped = material.groups is not None
        many = f"runs of {self.pairs} pairs" if self.pairs > 1 else "pairs"
        fewer = "ask for fewer pairs in a row (--set membership-pair.pairs=N), or " if self.pairs > 1 else ""
        return dealt(
            pairs,
            targets,
            known,
            vectors,
            parts=2 * self.pairs,
            words=(bags(held.words(), size), bags(own.words(), size)),
            queries=0 if grouped else len(np.unique(np.concatenate([own.rows.ravel(), held.rows.ravel()]))),
            units=many,
            way_out=f"; {fewer}take more texts (--max-texts, "
            f"--max-targets){'' if grouped else '; --group names the column of documents whose texts are neighbours'}",
            notes=(
                f"neighbours are {'texts of one document' if grouped else 'sentences of one text'}",
                f"of {len(whole.rows):,} {many} {len(whole.rows) - len(alone.rows):,} are left out because a pair of "
                f"them stands in texts of both kinds, and {unread:,} of those drawn because the model knows no word of "
                "a sentence in every pair",
            ),
        )


@dataclass(frozen=True)
class _Runs:
    """Runs of neighbouring sentences, one sentence more than pairs, and whether they were learnt from.

    ``rows`` are sentences of ``corpus``; ``homes`` names the text that each sentence stands in, those of the adversary
    behind the targets, and ``documents`` the document of each text.
    """

    sentences: list[str]
    corpus: TokenCorpus
    documents: IntArray
    homes: IntArray
    rows: IntArray
    inside: NDArray[np.bool_]

    @classmethod
    def of(cls, material: Material, pairs: int) -> _Runs:
        texts, documents = [*material.target.texts, *material.known.texts], documents_of(material)
        if material.groups is None:
            cut = [split_sentences(text) for text in texts]
            sentences = [sentence for text in cut for sentence in text]
            homes = np.repeat(np.arange(len(texts)), [len(text) for text in cut])
        else:
            homes = np.argsort(documents, kind="stable")
            sentences = [texts[int(home)] for home in homes]
        learnt = learnt_from(material, texts)[homes]
        # A run stays in one document, on one side where a document has texts on both, and passes over no text.
        apart = (np.diff(documents[homes]) != 0) | (np.diff(learnt) != 0)
        if material.groups is not None and all(POSITION in side.columns for side in (material.target, material.known)):
            stood = np.array([*material.target.column(POSITION), *material.known.column(POSITION)])
            apart |= np.diff(stood[homes]) > 1
        ends = np.flatnonzero(apart) + 1
        stretches = zip([0, *ends], [*ends, len(homes)], strict=True)
        begun = [np.arange(a, b - pairs, pairs) for a, b in stretches]
        starts = np.concatenate([np.zeros(0, dtype=np.int64), *begun])
        rows = starts[:, None] + np.arange(pairs + 1)
        return cls(sentences, TokenCorpus.of(sentences), documents, homes, rows, learnt[starts])

    def some(self, rows: NDArray[np.bool_] | IntArray) -> _Runs:
        return replace(self, rows=self.rows[rows], inside=self.inside[rows])

    @property
    def texts(self) -> IntArray:
        """The text in which each begins."""
        return np.asarray(self.homes[self.rows[:, 0]])

    def apart(self) -> NDArray[np.bool_]:
        """Which have no pair that stands in texts that were learnt from and in others too."""
        known: dict[str, int] = {}
        numbers = np.array([known.setdefault(sentence, len(known)) for sentence in self.sentences], dtype=np.int64)
        both = numbers[self.rows[:, :-1]] * len(numbers) + numbers[self.rows[:, 1:]]
        keys = np.unique(both.ravel(), return_inverse=True)[1].astype(np.int64)
        alone = on_one_side(keys, np.repeat(self.inside, both.shape[1]))
        return np.asarray(alone.reshape(both.shape).all(axis=1))

    def frequency(self) -> FloatArray:
        """How often the words of each run occur: the mean of the logarithm.

        A plain mean is that of the few words that are in every sentence, and tells no rare sentence from another.
        """
        counts = np.bincount(self.corpus.tokens, minlength=len(self.corpus.vocabulary))
        lengths = np.diff(self.corpus.starts)
        ends = np.concatenate([[0.0], np.cumsum(np.log(counts[self.corpus.tokens]))])[self.corpus.starts]
        total = np.diff(ends)[self.rows].sum(1)
        return np.asarray(total / np.maximum(lengths[self.rows].sum(1), 1))

    def contexts(self, among: FloatArray) -> Contexts:
        """What they are to the game: of how frequent words, -1 where there are too few to tell."""
        enough = enough_for_tenths(self.inside)
        tenths = tenths_of(self.frequency(), among) if enough else np.full(len(self.rows), -1)
        return Contexts(self.inside, tenths, self.texts, self.documents[self.texts])

    def words(self) -> list[IntArray]:
        """The words of each run."""
        return [np.concatenate([self.corpus.text(int(row)) for row in run]).astype(np.int64) for run in self.rows]

    def answered(self, material: Material, whose: str) -> tuple[IntArray, Vectors]:
        """A table of vectors, and for each run its rows: both sentences of the first pair, of the second, and so on."""
        ends = np.repeat(self.rows, 2, axis=1)[:, 1:-1]
        if material.groups is not None:
            if whose == "asked":
                return self.homes[ends], material.target_vectors
            return self.homes[ends] - len(material.target), material.known_vectors
        asked, numbers = np.unique(ends, return_inverse=True)
        encode = material.challenge if whose == "asked" else material.encode
        return numbers.reshape(ends.shape), encode([self.sentences[int(row)] for row in asked])
