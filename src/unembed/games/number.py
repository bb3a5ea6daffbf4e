"""The number game: how old is who wrote this, how much did they pay? (Song 4, Alg. 3, for quantities)

A column of quantities is not a column of classes: being a year off is nearly right. The adversary names a number for
every vector. The metric is the share of the mean absolute error that the vectors take away: 0 for the best that can
be done with one and the same number for all, 1 for every number exact. That one number is the median of the targets
themselves, which no adversary knows, so the prior floor, the median of the labelled texts, lies at or below 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.asking import Audited, PlainGame, Question, Refused
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Said, Scores, SliceScore
from unembed.games.claims import Figures
from unembed.games.columns import absent, as_number, quantities
from unembed.games.facts import GameFacts
from unembed.games.planting import Kind, Planted, strength_for, write_codes
from unembed.games.rows import some_rows
from unembed.metrics.estimate import FloatArray, Measure, estimates_of
from unembed.seeds import generator

MIN_NUMBERS = 20
QUARTERS = ("lowest quarter", "second quarter", "third quarter", "highest quarter")


@dataclass(frozen=True)
class NumberKnowledge:
    """Vectors with the number that belongs to each. ``as_stored``: as in ``games.base.Knowledge``."""

    vectors: Vectors
    numbers: FloatArray
    as_stored: Vectors | None = None


@dataclass(frozen=True)
class NumberTruth:
    """The number of every target."""

    numbers: FloatArray
    groups: Sequence[object] | None = None


#: A guess: one number per target.
NumberGuess = NDArray[np.float64]


class NumberGame(PlainGame):
    """Deals vectors with numbers; judges how near the guessed numbers are."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="number",
        question="Which number (age, income, date of birth) belongs to the text behind a vector?",
        metric="error_reduction",
        metric_meaning="share of the mean error of the best single guess for all that the vectors take away: 0 is "
        "guessing, 100% is every number exact",
        consequence="Whoever knows the number for some texts can tell for others how large it is.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024"),
        version=2,
        evidence=("r2", "correlation"),
        counts_hits=False,
        with_references=True,
        of_columns=True,
        set_by=(("column", "--attribute"),),
        section="numbers",
    )

    column: str
    max_labels: int | None = None

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question per column of quantities."""
        columns = quantities(audited)
        if not columns:
            yield Refused("number", "no attribute column holds quantities")
        for column in columns:
            yield Question(cls(column=column, **audited.given("number")))

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        less = f"{found.estimate.value:.0%} less error"
        return f"can guess '{found.subject}' with {less} than the best guess without vectors"

    @property
    def subject(self) -> str | None:
        """The column."""
        return self.column

    def deal(self, material: Material) -> Deal[NumberKnowledge, NumberTruth]:
        """Every text of either side that has a number; the others are counted in the notes."""
        if self.max_labels is not None and self.max_labels < 1:
            raise UsageError(f"'max_labels' of the game 'number' is at least 1, not {self.max_labels}")
        notes = [
            "the column is read as quantities; if its numbers are names (of users, of codes), say "
            "--set attribute.numbers=classes"
        ]
        known_rows, known = _numbered(material.known.column(self.column), "of the adversary's texts", notes)
        target_rows, target = _numbered(material.target.column(self.column), "targets", notes)
        if min(len(known), len(target)) < MIN_NUMBERS:
            raise CannotMeasureError(
                f"column '{self.column}' has a number for {len(known)} of the adversary's texts and {len(target)} "
                f"targets; {MIN_NUMBERS} of each are needed"
            )
        if len(np.unique(known)) < 2 or len(np.unique(target)) < 2:
            raise CannotMeasureError(f"column '{self.column}' has the same number everywhere: nothing to guess")
        if self.max_labels is not None and len(known) > self.max_labels:
            rng = generator(material.seed, "number", self.column)
            chosen = np.sort(rng.permutation(len(known))[: self.max_labels])
            known_rows, known = known_rows[chosen], known[chosen]
        groups = material.groups
        return Deal(
            NumberKnowledge(material.known_vectors[known_rows], known),
            material.target_vectors[target_rows],
            NumberTruth(target, None if groups is None else [groups[i] for i in target_rows]),
            pairs=len(known),
            queries=0,
            notes=tuple(notes),
            rows=target_rows,
        )

    def knowledge(self, material: Material) -> NumberKnowledge:
        """Every vector that has a number."""
        rows, numbers = _numbered(material.known.column(self.column), "texts", [])
        return NumberKnowledge(material.known_vectors[rows], numbers)

    def said(self, knowledge: NumberKnowledge, guess: NumberGuess) -> Said:
        """The numbers themselves."""
        return Said(np.asarray(guess).tolist())

    def judge(self, truth: NumberTruth, guess: NumberGuess, seed: int) -> Scores:
        """Error taken away; the error itself, explained variance and correlation beside it; each quarter alone."""
        numbers = truth.numbers
        middle = float(np.median(numbers))
        error, alike = np.abs(guess - numbers), np.abs(middle - numbers)

        def work_out() -> Detail:
            spread = (numbers - numbers.mean()) ** 2
            wanted = {
                "r2": Measure(np.stack([(guess - numbers) ** 2, spread], axis=1), taken_away),
                "correlation": Measure(_products(guess, numbers), _correlation),
                "mean_absolute_error": Measure.mean(error),
                "half_the_error_or_less": Measure.mean(error <= alike.mean() / 2),
            }
            secondary = estimates_of(wanted, groups=truth.groups)
            edges = np.quantile(numbers, [0.25, 0.5, 0.75])
            quarter = np.searchsorted(edges, numbers, side="left")
            slices = []
            for i, name in enumerate(QUARTERS):
                own = quarter == i
                if own.any():
                    parts = Measure(np.stack([error, alike], axis=1) * own[:, None], taken_away, int(own.sum()))
                    found = estimates_of({name: parts}, groups=truth.groups)[name]
                    slices.append(SliceScore("range", name, found))
            return Detail(secondary, tuple(slices))

        return Scores(np.stack([error, alike], axis=1), taken_away, truth.groups, work_out)

    def prior_guess(self, knowledge: NumberKnowledge, n: int) -> NumberGuess:
        """The median of the known numbers, for all: no other constant has a smaller error there."""
        return np.full(n, float(np.median(knowledge.numbers)))

    def kinds(self, knowledge: NumberKnowledge) -> tuple[Kind, ...]:
        """A number can stand along an axis, along any direction, or in the distance from the centre."""
        return ("axis", "rotated", "distance")

    def room(self, knowledge: NumberKnowledge, truth: NumberTruth) -> float:
        """From the best single number to every number exact."""
        return 1.0

    def plant(
        self,
        knowledge: NumberKnowledge,
        vectors: Vectors,
        truth: NumberTruth,
        kind: Kind,
        size: float,
        rng: np.random.Generator,
    ) -> Planted[NumberKnowledge]:
        """The rank of each number as a normal score, so strong that an ideal reader takes this much error away."""
        together = np.concatenate([knowledge.numbers, truth.numbers])
        scores = norm.ppf((rankdata(together) - 0.5) / len(together))
        strength = _number_strength(together, scores, size)
        told = strength * scores[:, None]
        first = len(knowledge.numbers)
        known, asked = write_codes(knowledge.vectors, vectors, (told[:first], told[first:]), kind, rng)
        return Planted(replace(knowledge, vectors=known, as_stored=None), asked)

    def some_pairs(self, knowledge: NumberKnowledge, kept: IntArray) -> NumberKnowledge:
        """The same adversary with some of its pairs."""
        stored = some_rows(knowledge.as_stored, kept)
        return replace(knowledge, vectors=knowledge.vectors[kept], numbers=knowledge.numbers[kept], as_stored=stored)

    def examples(self, truth: NumberTruth, guess: NumberGuess, rows: Sequence[int]) -> list[Example]:
        """True and guessed number."""
        return [Example(int(r), [f"{truth.numbers[r]:g}"], [f"{guess[r]:.4g}"]) for r in rows]


def _number_strength(numbers: FloatArray, scores: FloatArray, size: float) -> float:
    """How strongly the scores must be told for an ideal reader to take ``size`` of the error away."""
    rng = np.random.default_rng(0)
    some = rng.choice(len(numbers), size=min(len(numbers), 400), replace=False)
    order = some[np.argsort(numbers[some])]
    values, codes = numbers[order], scores[order]
    noise = rng.standard_normal(len(order))
    alike = float(np.abs(values - np.median(values)).mean()) or 1.0

    def limit(strength: float) -> float:
        apart = strength * codes[:, None] + noise[:, None] - strength * codes[None]
        weights = np.exp(-0.5 * apart**2)
        reached = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
        return 1 - float(np.abs(values[(reached >= 0.5).argmax(axis=1)] - values).mean()) / alike

    return strength_for(limit, size)


def taken_away(sums: FloatArray) -> FloatArray:
    """One minus the first column over the second, NaN where the second is zero."""
    left, whole = sums[..., 0], sums[..., 1]
    return np.asarray(1 - np.divide(left, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0))


def _products(guess: NumberGuess, numbers: FloatArray) -> FloatArray:
    """What a correlation is made of, one row per target, around the means so that large numbers lose no digits."""
    x, y = guess - guess.mean(), numbers - numbers.mean()
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1)


def _correlation(sums: FloatArray) -> FloatArray:
    n, x, y, xx, yy, xy = (sums[..., i] for i in range(6))
    shared, product = n * xy - x * y, (n * xx - x * x) * (n * yy - y * y)
    return np.asarray(np.divide(shared, np.sqrt(np.maximum(product, 0)), out=np.zeros_like(shared), where=product > 0))


def _numbered(values: Sequence[Any], whose: str, notes: list[str]) -> tuple[IntArray, FloatArray]:
    """Rows with a number and their numbers; what has none is put into the notes."""
    found = [as_number(v) for v in values]
    rows = np.array([i for i, n in enumerate(found) if n is not None], dtype=np.int64)
    blank = sum(absent(v) for v in values)
    if len(rows) < len(values):
        other = len(values) - len(rows) - blank
        notes.append(
            f"{len(values) - len(rows):,} of {len(values):,} {whose} are left out: {blank:,} without a value, "
            f"{other:,} with a value that is not a finite number"
        )
    return rows, np.array([n for n in found if n is not None], dtype=np.float64)
