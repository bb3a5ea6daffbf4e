"""A labelled column of the user's: how well can its values still be told from the vectors?

The opposite of the game of attributes, with the same figures: there a value that can be told is a leak, here it is what
the vectors are kept for.
"""

from __future__ import annotations

from collections import defaultdict
from typing import ClassVar

import numpy as np

from unembed.attacks.attribute.classes import ClassReader
from unembed.attacks.learners.candidates import linear_classifiers
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.attribute import AttributeGame, AttributeTruth
from unembed.games.base import IntArray, Scores
from unembed.games.columns import absent, holds_quantities
from unembed.params import Parametrised
from unembed.seeds import seed_for
from unembed.utility.base import TaskFacts, UtilityMaterial


class Column(Parametrised):
    """Logistic regression learns the column from the vectors under test and answers for texts it has not seen.

    Every text is asked about once: the texts are cut into folds that keep groups together, and the other folds are
    learnt from, with a strength chosen on held-back labels. So a variant's classifier is learnt from that variant.

    The interval takes answers of different texts for independent. Answers for two texts that were learnt from for each
    other are not quite: near guessing the interval is too narrow, by a third in simulations with 300 texts. Where the
    column is told in three of four cases it holds.
    """

    facts: ClassVar[TaskFacts] = TaskFacts(
        name="column",
        title="A labelled column told from vectors",
        metric="balanced_accuracy",
        metric_meaning="share of texts whose value in the column is told right by logistic regression, averaged over "
        "the values so that a rare one counts as much as a common one",
        requires=frozenset({"columns"}),
        column_params=("column",),
    )

    column: str
    folds: int = 5

    def score(self, material: UtilityMaterial) -> Scores:
        """Balanced accuracy, one row per text with a value; accuracy and single values beside it."""
        seed = seed_for(material.seed, "column", self.column)
        rows, labels, classes = self._labelled(material)
        vectors = material.vectors[rows]
        groups = None if material.groups is None else [material.groups[i] for i in rows]
        guess = np.empty((len(rows), len(classes)))
        for fold in self._cut(labels, groups, seed % 2**32):
            rest = np.setdiff1d(np.arange(len(rows)), fold)
            reader = ClassReader(len(classes), seed)
            reader.fit(vectors[rest], labels[rest], list(linear_classifiers(len(classes))))
            # As ranks, because the judge counts classes of equal scores as wrong: here one of them is the answer.
            guess[fold] = -np.argsort(np.argsort(-reader.read(vectors[fold]), axis=1, kind="stable"), axis=1)
        return AttributeGame(column=self.column).judge(AttributeTruth(labels, classes, groups), guess, seed)

    def _labelled(self, material: UtilityMaterial) -> tuple[IntArray, IntArray, tuple[str, ...]]:
        """Rows with a value that every fold can hold, their labels, and the values."""
        if self.folds < 2:
            raise UsageError(f"'folds' of the utility task 'column' must be at least 2, not {self.folds}")
        values = material.corpus.column(self.column)
        if holds_quantities(values):
            raise CannotMeasureError(f"column '{self.column}' holds quantities: name one whose values are classes")
        held: defaultdict[str, set[object]] = defaultdict(set)
        for row, value in enumerate(values):
            if not absent(value):
                held[str(value)].add(row if material.groups is None else str(material.groups[row]))
        classes = tuple(sorted(value for value, units in held.items() if len(units) >= self.folds))
        if len(classes) < 2:
            unit = "texts" if material.groups is None else "groups of texts"
            raise CannotMeasureError(
                f"column '{self.column}' has {len(classes)} value(s) that at least {self.folds} {unit} hold; two are "
                "needed"
            )
        index = {value: i for i, value in enumerate(classes)}
        rows = np.array([i for i, v in enumerate(values) if not absent(v) and str(v) in index], dtype=np.int64)
        return rows, np.array([index[str(values[i])] for i in rows], dtype=np.int64), classes

    def _cut(self, labels: IntArray, groups: list[object] | None, seed: int) -> list[IntArray]:
        """The folds, each with about as many texts of every value."""
        from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

        make = StratifiedKFold if groups is None else StratifiedGroupKFold
        folds = make(self.folds, shuffle=True, random_state=seed)
        together = None if groups is None else [str(group) for group in groups]
        return [fold for _, fold in folds.split(labels, labels, together)]
