"""The attribute game: which author, gender, topic … belongs to the text behind the vector? (Song 4, Alg. 3)

The adversary has labelled texts of the same classes; any column of the user's data can be the attribute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, Detail, Example, GameFacts, IntArray, Material, Scores, SliceScore
from unembed.games.threat import Adversary
from unembed.metrics.classes import macro_recall, top_k_hits
from unembed.metrics.estimate import mean, wilson
from unembed.params import Parametrised
from unembed.seeds import generator

NUMERIC_BINS = 4
MIN_TARGETS = 5


@dataclass(frozen=True)
class AttributeKnowledge:
    """Labelled vectors; a label is an index into ``classes``."""

    vectors: Vectors
    labels: IntArray
    classes: tuple[str, ...]


@dataclass(frozen=True)
class AttributeTruth:
    """The class of every target."""

    labels: IntArray
    classes: tuple[str, ...]
    groups: Sequence[object] | None


#: A guess: one score a target and class.
AttributeGuess = NDArray[np.float64]


class AttributeGame(Parametrised):
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
    )

    def __init__(
        self, *, column: str, max_classes: int = 100, min_labels: int = 5, labels_per_class: int | None = 50
    ) -> None:
        self.column = column
        self.max_classes = max_classes
        self.min_labels = min_labels
        self.labels_per_class = labels_per_class

    @property
    def subject(self) -> str | None:
        """The column."""
        return self.column

    def queries(self, known: Corpus, adversary: Adversary, seed: int) -> list[str]:
        """Labels come with the adversary's own texts; nothing else is encoded."""
        return []

    def deal(self, material: Material) -> Deal[AttributeKnowledge, AttributeTruth]:
        """The most frequent classes that both sides have; others are left out and counted in the notes."""
        known_values, target_values, binned = _as_labels(
            material.known.column(self.column), material.target.column(self.column)
        )
        labelled = Counter(v for v in known_values if v is not None)
        asked = Counter(v for v in target_values if v is not None)
        usable = [c for c in labelled if labelled[c] >= self.min_labels and asked[c] >= MIN_TARGETS]
        classes = tuple(sorted(sorted(usable, key=lambda c: (-labelled[c], c))[: self.max_classes]))
        if len(classes) < 2:
            raise CannotMeasureError(
                f"column '{self.column}' has {len(classes)} value(s) with at least {self.min_labels} labelled texts "
                f"for the adversary and {MIN_TARGETS} targets; two are needed"
            )
        index = {c: i for i, c in enumerate(classes)}
        rng = generator(material.seed, "attribute", self.column)
        known_rows = _labelled_rows(known_values, index, self.labels_per_class, rng)
        target_rows = np.array([i for i, v in enumerate(target_values) if v in index], dtype=np.int64)
        notes = []
        dropped = len(target_values) - len(target_rows)
        if dropped:
            notes.append(
                f"{dropped:,} of {len(target_values):,} targets are not asked about: no label, or a value with fewer "
                f"than {self.min_labels} labelled texts or {MIN_TARGETS} targets, or beyond {self.max_classes} values"
            )
        if binned:
            notes.append(f"numeric column cut into {NUMERIC_BINS} ranges of equal size")
        groups = material.groups
        return Deal(
            AttributeKnowledge(
                material.known_vectors[known_rows],
                np.array([index[str(known_values[i])] for i in known_rows], dtype=np.int64),
                classes,
            ),
            material.target_vectors[target_rows],
            AttributeTruth(
                np.array([index[str(target_values[i])] for i in target_rows], dtype=np.int64),
                classes,
                None if groups is None else [groups[i] for i in target_rows],
            ),
            pairs=len(known_rows),
            queries=0,
            notes=tuple(notes),
            rows=target_rows,
        )

    def judge(self, truth: AttributeTruth, guess: AttributeGuess, seed: int) -> Scores:
        """Balanced accuracy; plain, top-5 and per class beside it."""
        n, count = len(truth.labels), len(truth.classes)
        right = top_k_hits(guess, truth.labels, 1)
        member = np.zeros((n, count))
        member[np.arange(n), truth.labels] = 1
        parts = np.hstack([member * right[:, None], member])

        def work_out() -> Detail:
            rng = generator(seed, "attribute", "judge")
            secondary = {"accuracy": mean(right, rng=rng, groups=truth.groups)}
            if count > 5:
                secondary["top5_accuracy"] = mean(top_k_hits(guess, truth.labels, 5), rng=rng, groups=truth.groups)
            slices = []
            for c, name in enumerate(truth.classes):
                own = truth.labels == c
                slices.append(SliceScore("class", name, wilson(int(right[own].sum()), int(own.sum())), 1 / count))
            return Detail(secondary, tuple(slices))

        return Scores(parts, macro_recall, truth.groups, work_out)

    def prior_guess(self, knowledge: AttributeKnowledge, n: int) -> AttributeGuess:
        """The classes by their frequency among the labelled texts."""
        counts = np.bincount(knowledge.labels, minlength=len(knowledge.classes)).astype(np.float64)
        counts -= np.arange(len(counts)) * 1e-6
        return np.tile(counts, (n, 1))

    def rehearsal(self, knowledge: AttributeKnowledge, seed: int) -> tuple[Vectors, AttributeTruth]:
        """The labelled vectors themselves."""
        return knowledge.vectors, AttributeTruth(knowledge.labels, knowledge.classes, None)

    def examples(self, truth: AttributeTruth, guess: AttributeGuess, rows: Sequence[int]) -> list[Example]:
        """True and guessed class."""
        return [
            Example(int(r), [truth.classes[truth.labels[r]]], [truth.classes[int(guess[r].argmax())]]) for r in rows
        ]


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


def _as_labels(known: Sequence[Any], target: Sequence[Any]) -> tuple[list[str | None], list[str | None], bool]:
    """Both sides' values as strings; a numeric column with many values is cut into ranges.

    The cuts come from the adversary's labels, which is what it knows.
    """
    numbers = [v for v in known if isinstance(v, (int, float)) and not isinstance(v, bool)]
    present = [v for v in known if not _absent(v)]
    if len(numbers) == len(present) and len(set(numbers)) > 20:
        edges = np.unique(np.quantile(np.array(numbers, dtype=float), np.linspace(0, 1, NUMERIC_BINS + 1)[1:-1]))
        names = [f"range {i + 1}" for i in range(len(edges) + 1)]

        def cut(value: Any) -> str | None:
            return None if _absent(value) else names[int(np.searchsorted(edges, float(value), side="right"))]

        return [cut(v) for v in known], [cut(v) for v in target], True
    return [_name(v) for v in known], [_name(v) for v in target], False


def _name(value: Any) -> str | None:
    return None if _absent(value) else str(value)


def _absent(value: Any) -> bool:
    return value is None or value == "" or (isinstance(value, float) and np.isnan(value))
