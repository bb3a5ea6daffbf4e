"""Semantic reassembly: which words of a list stand in the text, best first? (Pan VIII, Appendix E, Table V)

The adversary trains one keyword attack for all words of a vocabulary, ranks the words for every vector, and reads the
top of the list as what the text is about. The list is the user's, or proposed from the adversary's own texts.
Knowledge and guess are those of the keyword game, so its attacks play this one; all words are trained in one go, and a
text that serves several words is encoded once.

The headline is the share of a text's listed words that are among the first ``top``; a list that is the same for all
texts is the floor to beat.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.corpora.substitution import contains_keyword
from unembed.corpora.words import telling_words
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, Question, Refused
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Scores, SliceScore
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.keyword import EpochGuess, KeywordGuess, KeywordOptions
from unembed.games.keyword_texts import (
    KeywordKnowledge,
    WordsGame,
    check_training,
    knowledge_of,
    rows_of,
)
from unembed.games.rows import hold_back
from unembed.metrics.classes import macro_recall
from unembed.metrics.estimate import estimate_of, mean, ratio, wilson

#: Fewer texts with a word than this, and its slice is not shown.
FEWEST_SHOWN = 5
FEWEST_TARGETS = 5


@dataclass(frozen=True)
class ReassemblyTruth:
    """Which text holds which word of the list; texts that hold none are not judged."""

    present: NDArray[np.bool_]
    words: tuple[str, ...]
    groups: Sequence[object] | None

    @property
    def judged(self) -> IntArray:
        """The texts that hold at least one word."""
        return np.flatnonzero(self.present.any(axis=1))


class ReassemblyGame(WordsGame):
    """Deals training texts for a whole list of words; judges the ranking of the list for every vector."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="reassembly",
        question="Which words of a list does the text behind a vector hold, best first?",
        metric="recall_at_top",
        metric_meaning="share of the listed words of a text that are among the first ten the adversary names, of all "
        "texts that hold one",
        consequence="Whoever has a list of telling words can read off the vectors what each text is about, without "
        "ever seeing a text.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
        version=3,
        attacks_of="keyword",
        private_params=("keywords",),
        private_slices=("keyword",),
        default=False,
        set_by=(("keywords", "--keyword"),),
        section="word lists",
    )

    propose: int = 50
    top: int = 10
    samples: int = 100
    language: str = "en"

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """The keywords that were named, where they are more than fit into the top of the list; else a proposed list."""
        given = audited.given("reassembly")
        named = audited.said("keyword", KeywordOptions).named
        if len(named) > cls(**given).top:
            yield Question(cls(**{"keywords": named, **given}))
        else:
            yield Question(cls(**given))

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        return (
            f"can name {found.estimate.value:.0%} of the listed words of a text among their first guesses (the same "
            f"list for all: {found.floor.value:.0%})"
        )

    @property
    def subject(self) -> str | None:
        """How many words the list has; the words themselves stand in the slices."""
        return f"{len(self.keywords)} words" if self.keywords else f"{self.propose} proposed words"

    def listed(self, known: Corpus) -> tuple[str, ...]:
        """The user's words, each once; else the most frequent telling words of the adversary's texts."""
        if self.keywords:
            return tuple(dict.fromkeys(word.strip().lower() for word in self.keywords))
        return tuple(telling_words(known.texts, min_count=2, language=self.language)[: self.propose])

    def deal(self, material: Material) -> Deal[KeywordKnowledge, ReassemblyTruth]:
        """Training rows of every word, and all vectors: which texts hold a word is for the adversary to find out."""
        if self.top < 1:
            raise UsageError("top of the game 'reassembly' must be at least 1")
        listed = self.listed(material.known)
        if len(listed) <= self.top:
            raise CannotMeasureError(
                f"the list has {len(listed)} words and the first {self.top} count: give more words, or lower top"
            )
        present = contains_keyword(material.target.texts, listed)
        truth = ReassemblyTruth(present, listed, material.groups)
        if len(truth.judged) < FEWEST_TARGETS:
            raise CannotMeasureError(
                f"{len(truth.judged)} of {len(present)} target texts hold a word of the list: at least "
                f"{FEWEST_TARGETS} are needed; give words that occur in them"
            )
        training = self._training(material.known, listed, material.adversary, material.seed)
        check_training(training)
        dealt = knowledge_of(material, training, listed)
        note = f"{len(listed)} words; {len(truth.judged):,} of {len(present):,} targets hold one and are judged"
        return Deal(dealt.knowledge, material.target_vectors, truth, dealt.pairs, dealt.queries, (note, *dealt.notes))

    def ranking(self, guess: KeywordGuess | EpochGuess) -> IntArray:
        """The first ``top`` words of each vector, best first: ``[targets, top]``."""
        return np.argsort(-np.asarray(guess), axis=1, kind="stable")[:, : self.top]

    def judge(self, truth: ReassemblyTruth, guess: KeywordGuess | EpochGuess, seed: int) -> Scores:
        """Listed words of the text among the first ``top``, of as many as could be there."""
        judged = truth.judged
        present, groups = truth.present[judged], None
        if truth.groups is not None:
            groups = [truth.groups[int(r)] for r in judged]
        scores = np.asarray(guess)[judged]
        ranked = self.ranking(scores)
        hits = np.take_along_axis(present, ranked, axis=1)
        possible = np.minimum(present.sum(axis=1), self.top)
        parts = np.stack([hits.sum(axis=1), possible], axis=1).astype(np.float64)

        def work_out() -> Detail:
            counts = np.arange(1, self.top + 1)
            precision = np.cumsum(hits, axis=1) / counts
            average = (precision * hits).sum(axis=1) / np.maximum(possible, 1)
            right = (scores > 0) == present
            sides = [(right & kind).astype(np.float64) for kind in (present, ~present)]
            both = np.hstack([*sides, present, ~present]).astype(np.float64)
            secondary = {
                "first_word_right": mean(hits[:, 0], groups=groups),
                "precision_at_top": mean(hits.mean(axis=1), groups=groups),
                "average_precision": mean(average, groups=groups),
                "balanced_word_accuracy": estimate_of(both, macro_recall, groups=groups),
            }
            slices = []
            for column, word in enumerate(truth.words):
                there = present[:, column]
                if there.sum() >= FEWEST_SHOWN:
                    named = (ranked[there] == column).any(axis=1)
                    slices.append(SliceScore("keyword", word, wilson(int(named.sum()), int(there.sum()))))
            return Detail(secondary, tuple(slices))

        return Scores(parts, ratio, groups, work_out)

    def prior_guess(self, knowledge: KeywordKnowledge, n: int) -> KeywordGuess:
        """One list for all texts: the words by their frequency in the adversary's own."""
        share = np.zeros(len(knowledge.keywords)) if knowledge.frequency is None else knowledge.frequency
        return np.tile(share, (n, 1))

    def rehearsal(self, knowledge: KeywordKnowledge, seed: int) -> tuple[KeywordKnowledge, Vectors, ReassemblyTruth]:
        """A third of the training texts held back; those that hold a word of the list are asked about."""
        held, rest = hold_back(len(knowledge.texts), seed)
        present = contains_keyword([knowledge.texts[i] for i in held], knowledge.keywords)
        asked = held[present.any(axis=1)]
        truth = ReassemblyTruth(present[present.any(axis=1)], knowledge.keywords, None)
        return rows_of(knowledge, rest), knowledge.vectors[asked], truth

    def examples(self, truth: ReassemblyTruth, guess: KeywordGuess | EpochGuess, rows: Sequence[int]) -> list[Example]:
        """The listed words of the text, and the top of the adversary's list."""
        ranked = self.ranking(guess)
        return [
            Example(
                int(r),
                [w for w, there in zip(truth.words, truth.present[r], strict=True) if there],
                [truth.words[c] for c in ranked[r]],
            )
            for r in rows
        ]
