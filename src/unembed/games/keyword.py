"""The keyword game: does this word occur in the text behind the vector? (Pan VI)

Each keyword has a balanced test set: all targets that hold it, and as many that don't (Pan VI-C). The
adversary trains on its own texts, balanced by the word substitution trick (Pan VI-B): with query access
it has the substituted texts encoded; without, it has only the texts as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.corpora.substitution import contains_keyword, substitute
from unembed.corpora.words import build_vocabulary
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Deal, Detail, Example, GameFacts, IntArray, Material, Scores, SliceScore
from unembed.games.rows import stack_rows
from unembed.games.threat import Adversary, Capability
from unembed.metrics.classes import macro_recall
from unembed.metrics.estimate import wilson
from unembed.params import Parametrised
from unembed.seeds import generator

MIN_POSITIVES = 5


@dataclass(frozen=True)
class KeywordKnowledge:
    """Vectors with, for every keyword, the rows to train on and their labels."""

    vectors: Vectors
    rows: tuple[IntArray, ...]
    labels: tuple[NDArray[np.bool_], ...]
    keywords: tuple[str, ...]


@dataclass(frozen=True)
class KeywordTruth:
    """Which targets hold which keyword, and which targets each keyword is asked about."""

    present: NDArray[np.bool_]
    asked: NDArray[np.bool_]
    keywords: tuple[str, ...]
    groups: Sequence[object] | None


#: A guess: one score a target and keyword; above zero means "it is there".
KeywordGuess = NDArray[np.float64]


@dataclass(frozen=True)
class _Training:
    """What the adversary trains on, before anything is encoded."""

    texts: list[str]
    rows: tuple[IntArray, ...]
    labels: tuple[NDArray[np.bool_], ...]


class KeywordGame(Parametrised):
    """Deals training texts per keyword; judges yes/no answers on balanced test sets."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="keyword",
        question="Does a given word occur in the text behind a vector?",
        metric="accuracy",
        metric_meaning="share of right yes/no answers on test sets that are half yes, half no, averaged over "
        "keywords (guessing gives 50 %)",
        consequence="Somebody who looks for a word (a name, a place, an illness) can pick out the vectors "
        "whose texts hold it.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
    )

    def __init__(
        self,
        *,
        keywords: Sequence[str] = (),
        samples: int = 200,
        substitution: str = "double",
        asked: int = 500,
    ) -> None:
        self.keywords = keywords
        self.samples = samples
        self.substitution = substitution
        self.asked = asked

    @property
    def subject(self) -> str | None:
        """How many keywords are asked for; their names stand in the slices."""
        return f"{len(self.keywords)} keywords"

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """The substituted texts, where the adversary may query."""
        own = set(known.texts)
        return [t for t in self._training(known, adversary, seed).texts if t not in own]

    def _training(self, known: Corpus, adversary: Adversary, seed: int) -> _Training:
        """Training texts of every keyword; a text used for several stands once (nothing is encoded twice)."""
        if self.substitution not in ("double", "none"):
            raise UsageError(f"substitution is 'double' or 'none', not '{self.substitution}'")
        may_query = Capability.QUERIES in adversary.capabilities and self.substitution == "double"
        holds = contains_keyword(known.texts, self.keywords)
        vocabulary = build_vocabulary(known.texts, size=5000, min_count=1).words if may_query else ()
        texts: list[str] = []
        where: dict[str, int] = {}

        def row_of(text: str) -> int:
            if text not in where:
                where[text] = len(texts)
                texts.append(text)
            return where[text]

        rows, labels = [], []
        for column, keyword in enumerate(self.keywords):
            rng = generator(seed, "keyword", keyword)
            half = self.samples // 2
            positive = rng.permutation(np.flatnonzero(holds[:, column]))[:half]
            negative = rng.permutation(np.flatnonzero(~holds[:, column]))[: max(half, self.samples - len(positive))]
            chosen = [known.texts[i] for i in (*positive, *negative)]
            answer = [True] * len(positive) + [False] * len(negative)
            if not may_query:
                chosen, answer = _balanced(chosen, answer, len(positive))
            else:
                doubled = substitute(chosen, keyword, vocabulary, rng)
                chosen, answer = doubled.texts, [bool(a) for a in doubled.labels]
            rows.append(np.array([row_of(t) for t in chosen], dtype=np.int64))
            labels.append(np.array(answer, dtype=bool))
        return _Training(texts, tuple(rows), tuple(labels))

    def deal(self, material: Material) -> Deal[KeywordKnowledge, KeywordTruth]:
        """Training rows for the adversary; balanced test sets for the judge."""
        if not self.keywords:
            raise UsageError("the keyword game needs keywords: name some, or let the audit propose them")
        present = contains_keyword(material.target.texts, self.keywords)
        asked = np.zeros_like(present)
        for column, keyword in enumerate(self.keywords):
            rng = generator(material.seed, "asked", keyword)
            yes, no = np.flatnonzero(present[:, column]), np.flatnonzero(~present[:, column])
            count = min(len(yes), len(no), self.asked)
            if count < MIN_POSITIVES:
                raise CannotMeasureError(
                    f"keyword number {column + 1} occurs in {len(yes)} of {len(present)} target texts: at least "
                    f"{MIN_POSITIVES} with and {MIN_POSITIVES} without it are needed"
                )
            asked[rng.permutation(yes)[:count], column] = True
            asked[rng.permutation(no)[:count], column] = True
        training = self._training(material.known, material.adversary, material.seed)
        for column, labels in enumerate(training.labels):
            if not 2 <= labels.sum() <= len(labels) - 2:
                raise CannotMeasureError(
                    f"the adversary has {int(labels.sum())} of {len(labels)} texts with keyword number "
                    f"{column + 1}: it needs at least 2 with and 2 without"
                )
        own = {text: row for row, text in enumerate(material.known.texts)}
        queried = [t for t in training.texts if t not in own]
        encoded = material.encode(queried) if queried else None
        known_rows = np.array([own[t] for t in training.texts if t in own], dtype=np.int64)
        place = {t: i for i, t in enumerate([t for t in training.texts if t in own] + queried)}
        order = np.array([place[t] for t in training.texts], dtype=np.int64)
        parts = [material.known_vectors[known_rows]] + ([encoded] if encoded is not None else [])
        knowledge = KeywordKnowledge(stack_rows(parts)[order], training.rows, training.labels, tuple(self.keywords))
        truth = KeywordTruth(present, asked, tuple(self.keywords), material.groups)
        return Deal(knowledge, material.target_vectors, truth, pairs=len(known_rows), queries=len(queried), notes=())

    def judge(self, truth: KeywordTruth, guess: KeywordGuess, seed: int) -> Scores:
        """Accuracy per keyword, averaged; a slice per keyword."""
        right = (guess > 0) == truth.present
        parts = np.hstack([right & truth.asked, truth.asked]).astype(np.float64)

        def work_out() -> Detail:
            slices = []
            for column, keyword in enumerate(truth.keywords):
                asked = truth.asked[:, column]
                rate = wilson(int(right[asked, column].sum()), int(asked.sum()))
                slices.append(SliceScore("keyword", keyword, rate, floor=0.5))
            return Detail(slices=tuple(slices))

        return Scores(parts, macro_recall, truth.groups, work_out)

    def prior_guess(self, knowledge: KeywordKnowledge, n: int) -> KeywordGuess:
        """The majority answer of the training texts; on a balanced test set that is right half the time."""
        answer = [1.0 if labels.mean() > 0.5 else -1.0 for labels in knowledge.labels]
        return np.tile(np.array(answer), (n, 1))

    def rehearsal(self, knowledge: KeywordKnowledge, seed: int) -> tuple[Vectors, KeywordTruth]:
        """The training rows themselves."""
        n = int(knowledge.vectors.shape[0])
        present = np.zeros((n, len(knowledge.keywords)), dtype=bool)
        asked = np.zeros_like(present)
        for column, (rows, labels) in enumerate(zip(knowledge.rows, knowledge.labels, strict=True)):
            present[rows, column] = labels
            asked[rows, column] = True
        return knowledge.vectors, KeywordTruth(present, asked, knowledge.keywords, None)

    def examples(self, truth: KeywordTruth, guess: KeywordGuess, rows: Sequence[int]) -> list[Example]:
        """Keywords of the target, and those the adversary says are there."""
        return [
            Example(
                int(r),
                [k for k, p in zip(truth.keywords, truth.present[r], strict=True) if p],
                [k for k, s in zip(truth.keywords, guess[r], strict=True) if s > 0],
            )
            for r in rows
        ]


def _balanced(texts: list[str], labels: list[bool], positives: int) -> tuple[list[str], list[bool]]:
    """As many texts without the keyword as with it: without queries there is no substitution to balance them."""
    keep = max(2 * positives, 4)
    return texts[:keep], labels[:keep]
