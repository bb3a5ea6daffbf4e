"""The game of candidates: which of these texts made this vector?

Somebody has a list of texts and a vector that one of them made: a leaked index and the mails of last week, a
form letter and the names it may have gone to. Nothing is trained where the encoder can be asked; the candidates are
encoded and ranked.

Two kinds of lists are asked about. *Random* ones hold ``size`` targets: the targets are cut into blocks, and each
vector of a block is asked with all texts of the block. *Hard* ones hold ``variants`` texts that differ in one word,
number or name (:mod:`unembed.corpora.slots`); which of them lies in the store is drawn at random, so that sense and
grammar give nothing away. In both every text of a list is as likely as any other before the vector is seen: guessing is
right once in the list's length. The adversary is given all texts of all lists; which list belongs to a vector is known
to the judge alone.

The headline is the mean of the shares of random and of hard lists whose first text is the right one. Random lists alone
are too easy to tell encoders apart, hard ones alone say little of what an adversary with a list of mails can do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.corpora.slots import Slot, slot_lists
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, Question, Refused
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Scores, SliceScore
from unembed.games.claims import Figures
from unembed.games.facts import GameFacts
from unembed.games.rows import hold_back, stack_rows
from unembed.games.threat import Adversary, Capability
from unembed.metrics.estimate import Measure, estimates_of
from unembed.metrics.spread import FloatArray, Rates
from unembed.params import Parametrised
from unembed.seeds import generator

FEWEST = 20
RANDOM = "random"
#: What the texts of a hard list differ in.
DIFFERING = {"digits": "one number", "name": "one name", "word": "one word"}


@dataclass(frozen=True)
class CandidatesKnowledge:
    """All candidate texts in alphabetical order with their vectors (None: they can't be encoded), and known pairs."""

    vectors: Vectors
    texts: Sequence[str]
    candidates: tuple[str, ...]
    encoded: Vectors | None


@dataclass(frozen=True)
class CandidatesTruth:
    """For each vector the list it is asked with, the text that made it (both as places among the candidates)."""

    lists: tuple[IntArray, ...]
    made_by: IntArray
    kinds: tuple[str, ...]
    candidates: tuple[str, ...]
    groups: Sequence[object] | None = None


#: A guess: for each vector a score per candidate, the higher the likelier.
CandidatesGuess = NDArray[np.float32]


class CandidatesGame(Parametrised):
    """Deals vectors and candidate texts; judges how often the right one is ranked first in its list."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="candidates",
        question="Which of these candidate texts made this vector?",
        metric="first",
        metric_meaning="share of vectors whose text is ranked first of its list: the mean over lists of random texts "
        "and lists of texts that differ in one word, number or name",
        consequence="Whoever has a list of texts that a vector may stand for learns which one it is, down to a single "
        "name or number.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024.001"),
        gravest="moderate",
        default=False,
    )

    size: int = 100
    variants: int = 10
    asked: int = 1000
    hard: int = 200

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question; without the encoder no changed text can be stored, and only random lists are asked."""
        given = audited.given("candidates")
        if not audited.can_encode:
            given |= {"hard": 0}
        yield Question(cls(**given))

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        parts = []
        if (random := found.secondary.get("first_of_random_lists")) is not None:
            parts.append(f"picks the right one of a list of random texts for {random.value:.0%} of vectors")
        if (hard := found.secondary.get("first_of_hard_lists")) is not None:
            parts.append(f"of texts that differ in one word for {hard.value:.0%}")
        return f"{' and '.join(parts)} (guessing: {found.floor.value:.0%})"

    @property
    def subject(self) -> str | None:
        """There is only one question."""
        return None

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """None beforehand: the candidates are the challenger's texts."""
        return []

    def deal(self, material: Material) -> Deal[CandidatesKnowledge, CandidatesTruth]:
        """Known pairs and all candidates for the adversary; vectors of targets, and of one variant of some."""
        self._check()
        rows = _rows(len(material.target), self.asked, material.seed)
        texts = [material.target.texts[int(row)] for row in rows]
        if len(set(texts)) < FEWEST:
            raise CannotMeasureError(f"{len(set(texts))} different targets; lists of candidates need {FEWEST}")
        hard = self._hard_lists(texts, material.seed)
        pool = tuple(sorted({*texts, *(text for made in hard.values() for text in made[1])}))
        place = {text: i for i, text in enumerate(pool)}
        blocks = _blocks(texts, self.size)
        lists = [np.array([place[t] for t in dict.fromkeys(texts[a:b])], dtype=np.int64) for a, b in blocks]
        stored = [i for a, b in blocks for i in range(a, b)]
        of_block = [lists[number] for number, (a, b) in enumerate(blocks) for _ in range(a, b)]
        made = {text: _drawn(found[1], text, material.seed) for text, found in hard.items()}
        first_row = {text: int(row) for row, text in zip(rows[::-1], texts[::-1], strict=True)}
        vectors = material.target_vectors[rows[stored]]
        if made:
            vectors = stack_rows([vectors, material.challenge(list(made.values()))])
        queries = Capability.QUERIES in material.adversary.capabilities
        asked_rows = [int(rows[i]) for i in stored] + [first_row[text] for text in made]
        groups = None if material.groups is None else [material.groups[row] for row in asked_rows]
        truth = CandidatesTruth(
            (*of_block, *(np.array([place[t] for t in hard[text][1]], dtype=np.int64) for text in made)),
            np.array([*(place[texts[i]] for i in stored), *(place[text] for text in made.values())], dtype=np.int64),
            (*[RANDOM] * len(stored), *(DIFFERING[hard[text][0].kind] for text in made)),
            pool,
            groups,
        )
        sizes = sorted({len(found) for found in lists})
        notes = [f"{len(stored):,} vectors asked with lists of {' or '.join(map(str, sizes))} random texts"]
        if sizes[0] < self.size:
            notes.append(f"there are too few targets for lists of {self.size:,}")
        if made:
            notes.append(f"{len(made):,} vectors asked with lists of {self.variants} texts that differ in one word")
        return Deal(
            CandidatesKnowledge(
                material.known_vectors, material.known.texts, pool, material.encode(list(pool)) if queries else None
            ),
            vectors,
            truth,
            pairs=len(material.known),
            queries=len(pool) if queries else 0,
            notes=tuple(notes),
            rows=np.array([*asked_rows[: len(stored)], *[-1] * len(made)], dtype=np.int64),
        )

    def _check(self) -> None:
        if self.size < 2 or self.variants < 2:
            raise UsageError("size and variants of the game 'candidates' are at least 2")
        if self.asked < FEWEST or self.hard < 0:
            raise UsageError(f"asked of the game 'candidates' is at least {FEWEST}, hard at least 0")

    def _hard_lists(self, texts: Sequence[str], seed: int) -> dict[str, tuple[Slot, list[str]]]:
        """Lists of texts that differ in one word, for some targets; which ones follows from the texts alone."""
        salt = str(seed)
        found = slot_lists(sorted(set(texts)), self.variants, salt)
        chosen = sorted(found, key=lambda text: hashlib.sha256((salt + text).encode()).digest())[: self.hard]
        return {text: found[text] for text in sorted(chosen)}

    def judge(self, truth: CandidatesTruth, guess: CandidatesGuess, seed: int) -> Scores:
        """First of its list; the first five and the mean reciprocal rank beside it, each kind of list alone."""
        better, level = _ranks(truth, guess)
        first = _within(better, level, 1)
        random = np.array([kind == RANDOM for kind in truth.kinds])
        parts = np.stack([first * random, random, first * ~random, ~random], axis=1).astype(np.float64)

        def work_out() -> Detail:
            wanted = {}
            for name, own in (("random", random), ("hard", ~random)):
                if own.any():
                    for what, values in (
                        ("first", first),
                        ("among_first_five", _within(better, level, 5)),
                        ("reciprocal_rank", _reciprocal(better, level)),
                    ):
                        rows = np.stack([values * own, own], axis=1).astype(np.float64)
                        wanted[f"{what}_of_{name}_lists"] = Measure(rows, _one, int(own.sum()))
            slices = []
            for kind in dict.fromkeys(truth.kinds):
                own = np.array([k == kind for k in truth.kinds])
                rows = np.stack([first * own, own], axis=1).astype(np.float64)
                found = estimates_of({kind: Measure(rows, _one, int(own.sum()))}, groups=truth.groups)[kind]
                chance = np.mean([1 / len(truth.lists[i]) for i in np.flatnonzero(own)])
                slices.append(SliceScore("decoys", kind, found, float(chance)))
            return Detail(estimates_of(wanted, groups=truth.groups), tuple(slices))

        return Scores(parts, _halves, truth.groups, work_out)

    def prior_guess(self, knowledge: CandidatesKnowledge, n: int) -> CandidatesGuess:
        """All candidates alike."""
        return np.zeros((n, len(knowledge.candidates)), dtype=np.float32)

    def some_pairs(self, knowledge: CandidatesKnowledge, kept: IntArray) -> CandidatesKnowledge:
        """The same adversary with some of its pairs."""
        return replace(knowledge, vectors=knowledge.vectors[kept], texts=tuple(knowledge.texts[int(i)] for i in kept))

    def rehearsal(
        self, knowledge: CandidatesKnowledge, seed: int
    ) -> tuple[CandidatesKnowledge, Vectors, CandidatesTruth]:
        """A third of the adversary's own pairs held back: their texts are the candidates for their vectors."""
        held, rest = hold_back(len(knowledge.texts), seed)
        texts = [knowledge.texts[int(i)] for i in held]
        pool = tuple(sorted(set(texts)))
        place = {text: i for i, text in enumerate(pool)}
        first = {text: int(i) for i, text in zip(held[::-1], texts[::-1], strict=True)}
        encoded = None if knowledge.encoded is None else knowledge.vectors[np.array([first[text] for text in pool])]
        whole = np.arange(len(pool))
        truth = CandidatesTruth(
            (whole,) * len(texts), np.array([place[t] for t in texts], dtype=np.int64), (RANDOM,) * len(texts), pool
        )
        less = replace(self.some_pairs(knowledge, rest), candidates=pool, encoded=encoded)
        return less, knowledge.vectors[held], truth

    def examples(self, truth: CandidatesTruth, guess: CandidatesGuess, rows: Sequence[int]) -> list[Example]:
        """The text that made the vector, and the one ranked first of its list."""
        best = [int(truth.lists[r][int(np.argmax(guess[r][truth.lists[r]]))]) for r in rows]
        names = truth.candidates
        return [Example(int(r), [names[int(truth.made_by[r])]], [names[b]]) for r, b in zip(rows, best, strict=True)]


def _rows(n: int, most: int, seed: int) -> IntArray:
    return np.sort(generator(seed, "candidates", "asked").permutation(n)[:most]).astype(np.int64)


def _blocks(texts: Sequence[str], size: int) -> list[tuple[int, int]]:
    """Whole blocks of ``size`` texts; where there are fewer, one block of all. What is left over is not asked about."""
    if len(texts) < size:
        return [(0, len(texts))]
    return [(start, start + size) for start in range(0, len(texts) - size + 1, size)]


def _drawn(made: Sequence[str], text: str, seed: int) -> str:
    """Which text of a hard list lies in the store."""
    return made[int(generator(seed, "candidates", "stored", text).integers(len(made)))]


def _ranks(truth: CandidatesTruth, guess: CandidatesGuess) -> tuple[FloatArray, FloatArray]:
    """How many texts of its list score higher than the right one, and how many as high, the right one among them."""
    better, level = np.zeros(len(truth.lists)), np.ones(len(truth.lists))
    for row, listed in enumerate(truth.lists):
        scores, own = guess[row][listed], guess[row][truth.made_by[row]]
        better[row], level[row] = (scores > own).sum(), (scores == own).sum()
    return better, level


def _within(better: FloatArray, level: FloatArray, k: int) -> FloatArray:
    """The chance that the right text is among the first ``k`` when texts of one score are put in random order."""
    return np.asarray(np.clip(k - better, 0, level) / level)


def _reciprocal(better: FloatArray, level: FloatArray) -> FloatArray:
    """One over the rank of the right text, averaged over random orders of texts of one score."""
    return np.array([np.mean(1 / (b + 1 + np.arange(int(same)))) for b, same in zip(better, level, strict=True)])


def _shares(sums: FloatArray) -> tuple[FloatArray, FloatArray]:
    return sums[..., ::2], sums[..., 1::2]


#: The mean of the shares of random and of hard lists.
_halves = Rates(_shares)
_one = Rates(_shares)
