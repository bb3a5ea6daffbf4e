"""The keyword game: does this word occur in the text behind the vector? (Pan VI)

The adversary trains on its own texts, balanced by the word substitution trick (Pan VI-B): with query access it has
the substituted texts encoded; without, it has only the texts as they are. It holds all vectors of the store and says
of each whether the word occurs.

The headline is judged on a balanced test set per keyword: all targets that hold it, and as many that don't (Pan
VI-C). Which targets these are follows from the truth, so the judge alone knows. Beside it stand the figures over the
whole store, at the share of texts that really hold the word (:mod:`unembed.games.keyword_scores`). Keywords that
stand in no target can be asked for as well (Pan Table III): then only false alarms are counted, and saying no is
always right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from scipy.stats import norm

from unembed.corpora.substitution import contains_keyword
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, Options, Question, Refused
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Said, Scores, SliceScore
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.keyword_scores import FIRST_N, HALF, PREVALENCE, store_scores
from unembed.games.keyword_texts import (
    MIN_POSITIVES,
    KeywordKnowledge,
    WordsGame,
    check_training,
    knowledge_of,
    propose_keywords,
)
from unembed.games.planting import Kind, Planted, write_codes
from unembed.games.unseen import unread_keywords
from unembed.metrics.classes import macro_recall
from unembed.metrics.estimate import estimate_of, wilson
from unembed.seeds import generator

__all__ = ["EpochGuess", "KeywordGame", "KeywordGuess", "KeywordKnowledge", "KeywordTruth"]


@dataclass(frozen=True)
class KeywordTruth:
    """Which targets hold which keyword, and on which targets each keyword is judged: ``asked``, the judge's alone."""

    present: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    keywords: tuple[str, ...]
    groups: Sequence[object] | None


@dataclass(frozen=True)
class EpochGuess:
    """The answers of a training that does not settle: yes or no after each epoch, and the last epoch's scores.

    ``decided`` is ``[epochs, targets, keywords]``. Judged by its mean over the epochs, which is what an adversary
    who stops anywhere can expect; the best epoch stands beside it (Pan VI-D).
    """

    scores: NDArray[np.float64]
    decided: NDArray[np.bool_]

    def __getitem__(self, rows: IntArray) -> EpochGuess:
        return EpochGuess(self.scores[rows], self.decided[:, rows])

    def __array__(self, dtype: object = None, copy: bool | None = None) -> NDArray[np.float64]:
        return np.array(self.scores, dtype=np.float64, copy=True)


#: A guess: one score per target and keyword, above zero means "it is there"; or answers epoch by epoch.
KeywordGuess = NDArray[np.float64]


class KeywordOptions(Options):
    """Which words the keyword game asks for; none: proposed from the collection."""

    quick: ClassVar[Mapping[str, object]] = {"samples": 60}
    flags: ClassVar[Mapping[str, str]] = {"words": "keyword"}

    words: list[str] = Field(default_factory=list)
    propose: int = Field(default=10, ge=1, le=200)
    samples: int = Field(default=120, ge=8)

    @property
    def named(self) -> tuple[str, ...]:
        """The words that the user named, each once."""
        return tuple(dict.fromkeys(w.strip().lower() for w in self.words if w.strip()))


class KeywordGame(WordsGame):
    """Deals training texts per keyword; judges yes/no answers on balanced test sets."""

    Options: ClassVar[type[Options]] = KeywordOptions
    facts: ClassVar[GameFacts] = GameFacts(
        name="keyword",
        question="Does a given word occur in the text behind a vector?",
        metric="accuracy",
        metric_meaning="share of right yes/no answers on test sets that are half yes, half no, averaged over "
        "keywords (a coin gives 50 %)",
        consequence="Somebody who looks for a word (a name, a place, an illness) can pick out the vectors "
        "whose texts hold it.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
        version=3,
        evidence=("average_precision",),
        private_params=("keywords",),
        private_slices=("keyword",),
        set_by=(("keywords", "--keyword"),),
        section="keywords",
    )

    asked: int = 500
    absent: bool = False

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question about all keywords: those named, else proposed ones."""
        options = audited.said("keyword", KeywordOptions)
        keywords = options.named or propose_keywords(audited.inside, audited.target, options.propose)
        if not keywords:
            yield Refused("keyword", "no word is frequent enough on both sides; name some (--keyword)")
            return
        settings = {"keywords": keywords, "samples": options.samples, **audited.given("keyword")}
        yield Question(cls(**settings), public=bool(options.named))

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        told = (
            f"can tell whether a given word occurs in a text with a balanced accuracy of {found.estimate.value:.0%} "
            f"(guessing: {found.floor.value:.0%})"
        )
        first, half = (found.secondary.get(name) for name in (FIRST_N, HALF))
        share = found.secondary.get(PREVALENCE)
        if first is None or half is None or share is None:
            return told
        return (
            f"{told}; {share.value:.1%} of all texts hold such a word, and of as many texts, the surest first, "
            f"{first.value:.0%} do; half of those with the word are found in {half.value:.0%} of all (guessing: 50%)"
        )

    @property
    def subject(self) -> str | None:
        """How many keywords are asked for; their names stand in the slices."""
        return f"{len(self.keywords)} keywords"

    def deal(self, material: Material) -> Deal[KeywordKnowledge, KeywordTruth]:
        """Training rows for the adversary; balanced test sets for the judge."""
        if not self.keywords:
            raise UsageError("the keyword game needs keywords: name some, or let the audit propose them")
        present = contains_keyword(material.target.texts, self.keywords)
        training = self._training(material.known, self.keywords, material.adversary, material.seed)
        asked = np.zeros_like(present)
        for column, keyword in enumerate(self.keywords):
            rng = generator(material.seed, "asked", keyword)
            yes, no = np.flatnonzero(present[:, column]), np.flatnonzero(~present[:, column])
            count = min(len(yes), len(no), self.asked)
            if count < MIN_POSITIVES and not (self.absent and len(yes) == 0):
                raise CannotMeasureError(_too_few(column, len(yes), len(present), training.frequency[column] > 0))
            asked[rng.permutation(yes)[:count], column] = True
            # Of a keyword that is nowhere, only false alarms can be counted: as many targets as two halves have.
            asked[rng.permutation(no)[: count or 2 * self.asked], column] = True
        check_training(training)
        dealt = knowledge_of(material, training, self.keywords)
        truth = KeywordTruth(present, asked, tuple(self.keywords), material.groups)
        notes = (*dealt.notes, *unread_keywords(material, self.keywords, present, asked))
        return Deal(dealt.knowledge, material.target_vectors, truth, dealt.pairs, dealt.queries, notes)

    def knowledge(self, material: Material) -> KeywordKnowledge:
        """Training rows of every keyword, with substituted texts where they can be encoded."""
        if not self.keywords:
            raise UsageError("which word is looked for? Give keyword=…")
        training = self._training(material.known, self.keywords, material.adversary, material.seed)
        check_training(training)
        return knowledge_of(material, training, self.keywords).knowledge

    def said(self, knowledge: KeywordKnowledge, guess: KeywordGuess | EpochGuess) -> Said:
        """Yes or no, for several keywords a row of them."""
        scores = np.asarray(guess)
        answers = scores > 0
        said = answers[:, 0] if len(knowledge.keywords) == 1 else answers
        return Said(said.tolist(), scores, knowledge.keywords)

    def judge(self, truth: KeywordTruth, guess: KeywordGuess | EpochGuess, seed: int) -> Scores:
        """Accuracy per keyword on its balanced test set, averaged, with a slice per keyword; and figures of the store.

        An answer that changes from epoch to epoch counts as its share of right ones; texts are ranked by the last.
        """
        if isinstance(guess, EpochGuess):
            each = [(decided == truth.present) & truth.asked for decided in guess.decided]
            said = guess.decided.mean(axis=0)
        else:
            each = []
            said = (guess > 0).astype(np.float64)
        right = np.where(truth.present, said, 1 - said) * truth.asked
        parts = np.hstack([right, truth.asked.astype(np.float64)])

        def work_out() -> Detail:
            slices = []
            for column, keyword in enumerate(truth.keywords):
                asked = truth.asked[:, column]
                rate = wilson(round(float(right[:, column].sum())), int(asked.sum()))
                floor = 0.5 if (truth.present[:, column] & asked).any() else 1.0
                slices.append(SliceScore("keyword", keyword, rate, floor=floor))
            secondary, of_the_store = store_scores(
                truth.keywords, truth.present, np.asarray(guess), said, truth.groups, seed
            )
            slices += of_the_store
            if not each:
                return Detail(secondary, tuple(slices))
            best = np.argmax([hits.sum(axis=0) for hits in each], axis=0)
            chosen = np.stack([each[epoch][:, column] for column, epoch in enumerate(best)], axis=1)
            found = np.hstack([chosen, truth.asked]).astype(np.float64)
            secondary["best_epoch_accuracy"] = estimate_of(found, macro_recall, groups=truth.groups)
            return Detail(secondary, tuple(slices))

        return Scores(parts, macro_recall, truth.groups, work_out)

    def prior_guess(self, knowledge: KeywordKnowledge, n: int) -> KeywordGuess:
        """The majority answer of the training texts; on a balanced test set that is right half the time."""
        answer = [1.0 if labels.mean() > 0.5 else -1.0 for labels in knowledge.labels]
        return np.tile(np.array(answer), (n, 1))

    def kinds(self, knowledge: KeywordKnowledge) -> tuple[Kind, ...]:
        """Words along axes of the space, and along rotated directions."""
        return ("axis", "rotated")

    def room(self, knowledge: KeywordKnowledge, truth: KeywordTruth) -> float:
        """From a coin flip to every answer right."""
        return 0.5

    def plant(
        self,
        knowledge: KeywordKnowledge,
        vectors: Vectors,
        truth: KeywordTruth,
        kind: Kind,
        size: float,
        rng: np.random.Generator,
    ) -> Planted[KeywordKnowledge]:
        """A direction per keyword, along which texts with and without it lie so far apart as the size wants."""
        strength = float(norm.ppf(0.5 + size))
        known = np.zeros((int(knowledge.vectors.shape[0]), len(knowledge.keywords)))
        for column, (rows, labels) in enumerate(zip(knowledge.rows, knowledge.labels, strict=True)):
            known[rows[labels], column] = 1
        told = (strength * (2 * known - 1), strength * (2 * truth.present.astype(np.float64) - 1))
        own, asked = write_codes(knowledge.vectors, vectors, told, kind, rng)
        # The vectors were shuffled: a text and its copies have no likeness left.
        planted = replace(knowledge, vectors=own, unlabelled=asked, texts=(), origins=None, as_stored=None)
        return Planted(planted, asked)

    def examples(self, truth: KeywordTruth, guess: KeywordGuess | EpochGuess, rows: Sequence[int]) -> list[Example]:
        """Keywords of the target, and those the adversary says are there."""
        scores = np.asarray(guess)
        return [
            Example(
                int(r),
                [k for k, p in zip(truth.keywords, truth.present[r], strict=True) if p],
                [k for k, s in zip(truth.keywords, scores[r], strict=True) if s > 0],
            )
            for r in rows
        ]


def _too_few(column: int, holding: int, targets: int, known: bool) -> str:
    """Why no balanced test set can be made, and what to do about it."""
    said = f"keyword number {column + 1} occurs in {holding} of {targets} target texts"
    if holding == 0 and not known:
        return f"{said} and in none of the adversary's: check its spelling, or leave it out"
    if holding == 0:
        return f"{said}: nothing to find; leave it out, or count false alarms alone (absent=True of the game)"
    if holding == targets:
        return f"{said}: no text lacks it, so there is nothing to tell apart; leave it out"
    return f"{said}: at least {MIN_POSITIVES} with and {MIN_POSITIVES} without it are needed"
