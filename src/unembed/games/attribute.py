"""The attribute game: which author, gender, topic … belongs to the text behind the vector? (Song 4, Alg. 3)

The adversary has labelled texts of the same classes; any column of the user's data can be the attribute. Columns of
quantities are cut into ranges here; ``games.number`` asks for the quantity itself.

A mean hides who is exposed, so every class has its own row, the most exposed first: the share of its texts that are
recognised, beside the share of all other texts that are taken for it. An attack that says one class of everything
recognises that class always and gives nothing away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UnknownNameError, UsageError
from unembed.games.asking import Audited, PlainGame, Question, Refused
from unembed.games.base import Deal, Detail, Example, IntArray, Material, Said, Scores, SliceScore
from unembed.games.claims import Figures
from unembed.games.columns import NUMERIC_BINS, as_labels, label_of, quantities
from unembed.games.facts import GameFacts
from unembed.games.planting import Kind, Planted, nearest_code_rate, strength_for, write_codes
from unembed.games.rows import hold_back, some_rows
from unembed.games.text_baseline import TextReader
from unembed.metrics.classes import macro_recall, recognised, top_k_hits
from unembed.metrics.estimate import Estimate, mean, wilson
from unembed.seeds import generator, seed_for

MIN_TARGETS = 5
#: Yardsticks that read the texts themselves; see ``games.text_baseline``.
BASELINES = ("none", "text-cnn")
NUMBERS = ("ranges", "classes")


@dataclass(frozen=True)
class AttributeKnowledge:
    """Labelled vectors; a label is an index into ``classes``. ``as_stored``: as in ``games.base.Knowledge``."""

    vectors: Vectors
    labels: IntArray
    classes: tuple[str, ...]
    as_stored: Vectors | None = None


@dataclass(frozen=True)
class AttributeTruth:
    """The class of every target; ``reading`` is what a reader of the texts says, where one was asked for."""

    labels: IntArray
    classes: tuple[str, ...]
    groups: Sequence[object] | None
    reading: AttributeGuess | None = None


#: A guess: one score per target and class.
AttributeGuess = NDArray[np.float64]


class AttributeGame(PlainGame):
    """Deals labelled vectors; judges a ranking of classes."""

    facts: ClassVar[GameFacts] = GameFacts(
        name="attribute",
        question="Which value of a sensitive attribute belongs to the text behind a vector?",
        metric="balanced_accuracy",
        metric_meaning="share of targets whose attribute is guessed right, averaged over the attribute's values "
        "so that a small group counts as much as a large one",
        consequence="Vectors without names still point to people: whoever knows the attribute for some texts "
        "can tell it for others.",
        tags=("OWASP LLM08:2025", "MITRE ATLAS AML.T0024"),
        version=5,
        plays_texts=True,
        evidence=("accuracy", "top5_accuracy"),
        private_slices=("class",),
        with_references=True,
        of_columns=True,
        set_by=(("column", "--attribute"),),
        section="classes",
    )

    column: str
    max_classes: int = 1000
    min_labels: int = 5
    labels_per_class: int | None = None
    numbers: Literal["ranges", "classes"] = "ranges"
    baseline: Literal["none", "text-cnn"] = "none"

    @classmethod
    def for_audit(cls, audited: Audited) -> Iterator[Question | Refused]:
        """One question per column to infer; quantities are left to the game of numbers, where it is played."""
        if not audited.columns:
            yield Refused("attribute", "no attribute column was named (--attribute COLUMN)")
        numbers = quantities(audited)
        for column in audited.columns:
            if column not in numbers:
                yield Question(cls(column=column, **audited.given("attribute")))

    @staticmethod
    def claim(found: Figures) -> str:
        """What the adversary can do, in words."""
        told = (
            f"can tell '{found.subject}' with a balanced accuracy of {found.estimate.value:.0%}, every value counted "
            f"alike (guessing: {found.floor.value:.0%})"
        )
        plain, always = found.secondary.get("accuracy"), found.secondary_floors.get("accuracy")
        if plain is None or always is None or abs(plain.value - found.estimate.value) < 0.01:
            return told
        return f"{told}, which is {plain.value:.0%} of all texts (always naming the most frequent value: {always:.0%})"

    @property
    def subject(self) -> str | None:
        """The column."""
        return self.column

    def deal(self, material: Material) -> Deal[AttributeKnowledge, AttributeTruth]:
        """The classes that both sides have often enough; others are left out and counted in the notes."""
        self._check()
        known_values, target_values, binned = as_labels(
            material.known.column(self.column), material.target.column(self.column), self.numbers == "ranges"
        )
        labelled = Counter(v for v in known_values if v is not None)
        asked = Counter(v for v in target_values if v is not None)
        # What the adversary tells apart follows from its own labels; that a value is rare among the targets is truth.
        usable = [c for c in labelled if labelled[c] >= self.min_labels]
        classes = tuple(sorted(sorted(usable, key=lambda c: (-labelled[c], c))[: self.max_classes]))
        judged = [c for c in classes if asked[c] >= MIN_TARGETS]
        if len(judged) < 2:
            raise CannotMeasureError(self._too_few(labelled, asked, len(judged)))
        index = {c: i for i, c in enumerate(classes)}
        rng = generator(material.seed, "attribute", self.column)
        known_rows = _labelled_rows(known_values, index, self.labels_per_class, rng)
        target_rows = np.array([i for i, v in enumerate(target_values) if v in set(judged)], dtype=np.int64)
        known_labels = np.array([index[str(known_values[i])] for i in known_rows], dtype=np.int64)
        notes = self._left_out(labelled, asked, target_values, len(target_rows), judged)
        if binned:
            notes.append(f"numeric column cut into {NUMERIC_BINS} ranges of equal size")
        groups = material.groups
        return Deal(
            AttributeKnowledge(material.known_vectors[known_rows], known_labels, classes),
            material.target_vectors[target_rows],
            AttributeTruth(
                np.array([index[str(target_values[i])] for i in target_rows], dtype=np.int64),
                classes,
                None if groups is None else [groups[i] for i in target_rows],
                self._reading(material, known_rows, known_labels, len(classes), target_rows),
            ),
            pairs=len(known_rows),
            queries=0,
            notes=tuple(notes),
            rows=target_rows,
        )

    def knowledge(self, material: Material) -> AttributeKnowledge:
        """Every labelled vector; here a number is a label like any other."""
        values = [label_of(v) for v in material.known.column(self.column)]
        classes = tuple(sorted({v for v in values if v is not None}))
        index = {c: i for i, c in enumerate(classes)}
        rows = np.array([i for i, v in enumerate(values) if v is not None], dtype=np.int64)
        labels = np.array([index[str(values[i])] for i in rows], dtype=np.int64)
        return AttributeKnowledge(material.known_vectors[rows], labels, classes)

    def said(self, knowledge: AttributeKnowledge, guess: AttributeGuess) -> Said:
        """The class with the highest score."""
        best = np.asarray(guess).argmax(axis=1)
        return Said([knowledge.classes[int(c)] for c in best], np.asarray(guess), knowledge.classes)

    def _check(self) -> None:
        for name, value, known in (("numbers", self.numbers, NUMBERS), ("baseline", self.baseline, BASELINES)):
            if value not in known:
                raise UnknownNameError(f"value of '{name}'", value, known)
        for name in ("max_classes", "min_labels", "labels_per_class"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"'{name}' of the game 'attribute' is at least 1, not {value}")

    def _reading(
        self, material: Material, known: IntArray, labels: IntArray, classes: int, targets: IntArray
    ) -> AttributeGuess | None:
        """What somebody says who reads the targets, taught by the adversary's labelled texts."""
        if self.baseline == "none":
            return None
        reader = TextReader(device="cpu", seed=seed_for(material.seed, "attribute", self.column, self.baseline))
        reader.learn([material.known.texts[i] for i in known], labels, classes)
        return reader.read([material.target.texts[i] for i in targets])

    def _too_few(self, labelled: Counter[str], asked: Counter[str], usable: int) -> str:
        """Why there is nothing to tell apart, and what would help."""
        values = labelled.keys() | asked.keys()
        if len(values) < 2:
            return f"column '{self.column}' has {len(values)} value(s): two are needed to tell one from another"
        single = sum(count == 1 for count in labelled.values())
        alone = f" ({single:,} have a single labelled text)" if single else ""
        return (
            f"column '{self.column}' has {usable} value(s) with at least {self.min_labels} labelled texts for the "
            f"adversary and {MIN_TARGETS} targets; two are needed. It has {len(values):,} values in all{alone}: give "
            "more texts of each, or fewer values"
        )

    def _left_out(
        self,
        labelled: Counter[str],
        asked: Counter[str],
        targets: Sequence[str | None],
        kept: int,
        classes: Sequence[str],
    ) -> list[str]:
        """Targets and values that are not asked about, by reason: none goes without a word."""
        if kept == len(targets) and len(classes) == len(labelled.keys() | asked.keys()):
            return []
        blank = sum(v is None for v in targets)
        notes = []
        if kept < len(targets):
            rest = len(targets) - kept - blank
            notes.append(
                f"{len(targets) - kept:,} of {len(targets):,} targets are not asked about: {blank:,} without a value, "
                f"{rest:,} with one that is left out"
            )
        values = labelled.keys() | asked.keys()
        few = [v for v in values if labelled[v] < self.min_labels]
        short = [v for v in values if labelled[v] >= self.min_labels and asked[v] < MIN_TARGETS]
        beyond = len(values) - len(few) - len(short) - len(classes)
        if few or short or beyond:
            single = sum(labelled[v] == 1 for v in few)
            notes.append(
                f"{len(values) - len(classes):,} of {len(values):,} values are left out: {len(few):,} with fewer than "
                f"{self.min_labels} labelled texts ({single:,} with a single one), {len(short):,} with fewer than "
                f"{MIN_TARGETS} targets, {beyond:,} beyond the {self.max_classes:,} most frequent"
            )
        return notes

    def judge(self, truth: AttributeTruth, guess: AttributeGuess, seed: int) -> Scores:
        """Balanced accuracy; plain, top-5, per class and the yardstick beside it."""
        parts = _class_parts(truth, guess)

        def work_out() -> Detail:
            slices = _by_class(truth, guess)
            exposed = sum(bool(s.clear) for s in slices)
            secondary = {**_shares(truth, guess), "classes_recognised": wilson(exposed, len(slices))}
            if truth.reading is not None:
                read = Scores(_class_parts(truth, truth.reading), macro_recall, truth.groups)
                here = Scores(parts, macro_recall, truth.groups)
                secondary["text_cnn_balanced_accuracy"] = read.estimate()
                secondary |= {f"text_cnn_{k}": e for k, e in _shares(truth, truth.reading).items()}
                secondary["more_than_text_cnn"] = here.excess_over(read)
            return Detail(secondary, slices)

        return Scores(parts, macro_recall, truth.groups, work_out)

    def prior_guess(self, knowledge: AttributeKnowledge, n: int) -> AttributeGuess:
        """The classes by their frequency among the labelled texts."""
        counts = np.bincount(knowledge.labels, minlength=len(knowledge.classes)).astype(np.float64)
        counts -= np.arange(len(counts)) * 1e-6
        return np.tile(counts, (n, 1))

    def kinds(self, knowledge: AttributeKnowledge) -> tuple[Kind, ...]:
        """Two classes can also differ in the distance from the centre alone."""
        return ("axis", "rotated", "distance") if len(knowledge.classes) == 2 else ("axis", "rotated")

    def room(self, knowledge: AttributeKnowledge, truth: AttributeTruth) -> float:
        """From guessing one of the classes to knowing all."""
        return 1 - 1 / len(knowledge.classes)

    def plant(
        self,
        knowledge: AttributeKnowledge,
        vectors: Vectors,
        truth: AttributeTruth,
        kind: Kind,
        size: float,
        rng: np.random.Generator,
    ) -> Planted[AttributeKnowledge]:
        """A code per class, so far apart that the nearest one is right with this excess over guessing."""
        codes = _class_codes(len(knowledge.classes), int(vectors.shape[1]), size)
        written = (codes[knowledge.labels], codes[truth.labels])
        known, asked = write_codes(knowledge.vectors, vectors, written, kind, rng)
        return Planted(replace(knowledge, vectors=known, as_stored=None), asked)

    def some_pairs(self, knowledge: AttributeKnowledge, kept: IntArray) -> AttributeKnowledge:
        """The same adversary with some of its pairs."""
        stored = some_rows(knowledge.as_stored, kept)
        return replace(knowledge, vectors=knowledge.vectors[kept], labels=knowledge.labels[kept], as_stored=stored)

    def rehearsal(self, knowledge: AttributeKnowledge, seed: int) -> tuple[AttributeKnowledge, Vectors, AttributeTruth]:
        """A third of the labelled vectors held back."""
        held, rest = hold_back(len(knowledge.labels), seed)
        truth = AttributeTruth(knowledge.labels[held], knowledge.classes, None)
        return self.some_pairs(knowledge, rest), knowledge.vectors[held], truth

    def examples(self, truth: AttributeTruth, guess: AttributeGuess, rows: Sequence[int]) -> list[Example]:
        """True and guessed class."""
        return [
            Example(int(r), [truth.classes[truth.labels[r]]], [truth.classes[int(guess[r].argmax())]]) for r in rows
        ]


@lru_cache(maxsize=64)
def _class_codes(classes: int, width: int, size: float) -> NDArray[np.float64]:
    """One code per class, in units of the noise; two classes stand on both sides of a point, more have an axis each."""
    if classes == 2:
        unit = np.array([[-1.0], [1.0]])
    else:
        axes = min(classes, max(2, width // 4))
        unit = np.random.default_rng(0).standard_normal((classes, axes)) / np.sqrt(axes)
        unit = np.eye(classes) if axes == classes else unit
    rng = np.random.default_rng(1)
    owners = np.tile(np.arange(classes), -(-8000 // classes))
    noise = rng.standard_normal((len(owners), unit.shape[1]))
    wanted = 1 / classes + size
    return unit * strength_for(lambda strength: nearest_code_rate(strength * unit, noise, owners), wanted)


def _class_parts(truth: AttributeTruth, guess: AttributeGuess) -> NDArray[np.float64]:
    """One row per target: right answers by class, then targets by class."""
    n = len(truth.labels)
    member = np.zeros((n, len(truth.classes)))
    member[np.arange(n), truth.labels] = 1
    return np.hstack([member * top_k_hits(guess, truth.labels, 1)[:, None], member])


def _shares(truth: AttributeTruth, guess: AttributeGuess) -> dict[str, Estimate]:
    """Share of targets whose class is named, and is among the first five where there are more."""
    found = {"accuracy": mean(top_k_hits(guess, truth.labels, 1), groups=truth.groups)}
    if len(truth.classes) > 5:
        found["top5_accuracy"] = mean(top_k_hits(guess, truth.labels, 5), groups=truth.groups)
    return found


def _by_class(truth: AttributeTruth, guess: AttributeGuess) -> tuple[SliceScore, ...]:
    """How often each class is recognised against how often others are taken for it; most exposed first."""
    asked, labels = np.unique(truth.labels, return_inverse=True)
    place = np.full(len(truth.classes), -1, dtype=np.int64)
    place[asked] = np.arange(len(asked))
    right, said = top_k_hits(guess, truth.labels, 1), place[guess.argmax(axis=1)]
    found = recognised(right, said, labels, classes=len(asked), groups=truth.groups)
    slices = [
        SliceScore("class", truth.classes[int(c)], one.recall, one.mistaken.value, clear=one.clear)
        for c, one in zip(asked, found, strict=True)
    ]
    return tuple(sorted(slices, key=lambda s: (s.floor or 0.0) - s.estimate.low))


def _labelled_rows(
    values: Sequence[str | None], index: dict[str, int], per_class: int | None, rng: np.random.Generator
) -> IntArray:
    """Rows with a usable label, at most ``per_class`` each (Song 6.3 gives the adversary 10 to 50)."""
    rows = np.array([i for i, v in enumerate(values) if v in index], dtype=np.int64)
    if per_class is None:
        return rows
    taken: Counter[str] = Counter()
    kept = []
    for i in rng.permutation(rows):
        value = str(values[i])
        if taken[value] < per_class:
            taken[value] += 1
            kept.append(int(i))
    return np.sort(np.array(kept, dtype=np.int64))
