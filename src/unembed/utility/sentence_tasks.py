"""Four tasks on sentences, told by logistic regression: MPQA, TREC, SUBJ and MSRP (Song 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.published import DATA_VARIABLE, data_file
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UnknownNameError
from unembed.games.base import Detail, IntArray, Scores
from unembed.metrics.classes import macro_recall
from unembed.metrics.estimate import mean
from unembed.nn.features import Standardiser
from unembed.params import Parametrised
from unembed.seeds import generator, seed_for
from unembed.utility.base import Encode, TaskFacts, UtilityMaterial
from unembed.utility.own_texts import Labelled, can_encode, check_texts, published

#: Strengths of the penalty that are tried on held-back rows, and their share.
STRENGTHS, HELD_BACK = (0.01, 0.1, 1.0, 10.0), 0.2
FOLDS = 10
FEWEST = 100


@dataclass(frozen=True)
class SentenceSet:
    """One of the four: its file, the columns with the texts, and whether a part to ask about comes with it."""

    file: str
    texts: tuple[str, ...]
    split: bool


SETS = {
    "mpqa": SentenceSet("utility_mpqa", ("text",), split=False),
    "trec": SentenceSet("utility_trec", ("text",), split=True),
    "subj": SentenceSet("utility_subj", ("text",), split=False),
    "msrp": SentenceSet("utility_msrp", ("text_a", "text_b"), split=True),
}


class SentenceTasks(Parametrised):
    """Is an opinion good or bad, what is asked for, is a sentence a judgement, do two sentences say the same?

    TREC and MSRP come with the part that is asked about; of MPQA and SUBJ every text is asked about once, in ten folds.
    Of two sentences the classifier gets |u - v| and u * v side by side. ``texts`` limits the texts, or pairs, of each
    set; of those that come in parts both are cut alike. Learning takes up to 200 steps of 4·n·d·k floating-point
    operations for n rows, d columns and k classes, once per fold and four times for the penalty.
    """

    facts: ClassVar[TaskFacts] = TaskFacts(
        name="sentence-tasks",
        title="MPQA, TREC, SUBJ and MSRP told from vectors",
        metric="mean_accuracy",
        metric_meaning="share of sentences, or pairs of them, whose label is told from the vector by logistic "
        "regression, averaged over four published tasks",
        requires=frozenset({"encoder"}),
        paper="song2020",
        section="7",
        departures="The paper names no features for pairs and no penalty; here the usual |u - v| and u * v, and a "
        "penalty chosen on a fifth of the rows that are learnt from, once for each set.",
    )

    texts: int = 1_000
    only: str | None = None

    def score(self, material: UtilityMaterial) -> Scores:
        """Mean accuracy, one row per text that is asked about; each of the four beside it."""
        check_texts("sentence-tasks", self.texts, FEWEST)
        encode, names = can_encode(material), self._names()
        missing = [file.name for file in self.files() if not file.is_file()]
        if len(missing) > 1:
            raise CannotMeasureError(
                f"data sets {', '.join(missing)} are not in {self.files()[0].parent}: name the folder that holds them "
                f"in {DATA_VARIABLE}"
            )
        right = [self._told(name, encode, material.seed) for name in names]
        which = np.repeat(np.eye(len(names)), [len(rows) for rows in right], axis=0)
        every = np.concatenate(right)
        return Scores(
            np.hstack([which * every[:, None], which]),
            macro_recall,
            None,
            lambda: Detail({f"{name}_accuracy": mean(rows) for name, rows in zip(names, right, strict=True)}),
        )

    def files(self) -> Sequence[Path]:
        """The files of the sets that are asked."""
        return [data_file(SETS[name].file) for name in self._names()]

    def _names(self) -> list[str]:
        if self.only is not None and self.only not in SETS:
            raise UnknownNameError("value of 'only' of the utility task 'sentence-tasks'", self.only, list(SETS))
        return list(SETS) if self.only is None else [self.only]

    def _told(self, name: str, encode: Encode, seed: int) -> NDArray[np.float64]:
        """Whether each text that is asked about is told right."""
        one = SETS[name]
        seed = seed_for(seed, "sentences", name)
        first, *second = one.texts
        corpus = published(one.file, first, [*second, "label", *(["split"] if one.split else [])])
        parts = [str(part) == "test" for part in corpus.column("split")] if one.split else None
        held = parted([str(label) for label in corpus.column("label")], parts, self.texts, seed, name)
        rows = held.rows
        texts = [corpus.texts[i] for i in rows]
        vectors = encode([*texts, *(str(corpus.column(column)[i]) for column in second for i in rows)])
        features = vectors if not second else of_pairs(vectors[: len(rows)], vectors[len(rows) :])
        return told_right(replace(held.labelled, texts=texts), features, seed)


@dataclass(frozen=True)
class Drawn:
    """Which rows of a set are taken, and how they are learnt from and asked about."""

    rows: IntArray
    labelled: Labelled


def parted(labels: Sequence[str], test: Sequence[bool] | None, texts: int, seed: int, name: str) -> Drawn:
    """At most ``texts`` rows, drawn alike from the parts of a set; ten folds where it has none."""
    from sklearn.model_selection import StratifiedKFold

    rng = generator(seed, "rows")
    share = min(1.0, texts / len(labels))
    asked = np.zeros(len(labels), dtype=bool) if test is None else np.asarray(test)
    rows = np.sort(
        np.concatenate(
            [
                rng.permutation(part)[: round(share * len(part))]
                for part in (np.flatnonzero(~asked), np.flatnonzero(asked))
            ]
        )
    ).astype(np.int64)
    classes, numbers = np.unique(np.asarray(labels)[rows], return_inverse=True)
    if test is None:
        if np.bincount(numbers).min() < FOLDS or len(classes) < 2:
            raise CannotMeasureError(f"{name} has too few texts of a class for {FOLDS} folds: raise 'texts'")
        cut = StratifiedKFold(FOLDS, shuffle=True, random_state=seed % 2**32).split(numbers, numbers)
        folds = tuple((np.asarray(rest), np.asarray(fold)) for rest, fold in cut)
    else:
        folds = ((np.flatnonzero(~asked[rows]), np.flatnonzero(asked[rows])),)
        if not len(folds[0][1]) or len(np.unique(numbers[folds[0][0]])) < 2:
            raise CannotMeasureError(f"{name} has no text to ask about, or a single class to learn: see column 'split'")
    return Drawn(rows, Labelled((), numbers.astype(np.int64), tuple(classes.tolist()), folds))


def of_pairs(first: Vectors, second: Vectors) -> Vectors:
    """How far two vectors differ in each dimension, and their products."""
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        u, v = first.astype(np.float32), second.astype(np.float32)
        return np.hstack([np.abs(u - v), u * v])
    from scipy.sparse import csr_matrix, hstack

    return csr_matrix(hstack([abs(csr_matrix(first) - csr_matrix(second)), csr_matrix(first).multiply(second)]))


def told_right(examples: Labelled, vectors: Any, seed: int) -> NDArray[np.float64]:
    """Whether logistic regression tells the label of each row that is asked about, in the order of the rows."""
    strength = _strength(vectors, examples.labels, examples.folds[0][0], seed)
    right = np.full(len(examples.labels), np.nan)
    for rest, asked in examples.folds:
        said = _said(vectors[rest], examples.labels[rest], vectors[asked], strength)
        right[asked] = said == examples.labels[asked]
    return np.asarray(right[~np.isnan(right)])


def _strength(vectors: Any, labels: IntArray, learnt: IntArray, seed: int) -> float:
    """The penalty that does best on held-back rows; the strongest of equals."""
    order = generator(seed, "held back").permutation(learnt)
    held, rest = np.split(order, [max(1, round(HELD_BACK * len(order)))])
    scores = [float(np.mean(_said(vectors[rest], labels[rest], vectors[held], c) == labels[held])) for c in STRENGTHS]
    return STRENGTHS[int(np.argmax(scores))]


def _said(learnt: Any, labels: IntArray, asked: Any, strength: float) -> IntArray:
    """What logistic regression says, of standardised rows."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    scaler = Standardiser().fit(learnt)
    if len(np.unique(labels)) < 2 or not scaler.width:
        return np.full(asked.shape[0], np.bincount(labels).argmax(), dtype=np.int64)
    model = LogisticRegression(C=strength, max_iter=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(scaler.transform(learnt), labels)
    return np.asarray(model.predict(scaler.transform(asked)), dtype=np.int64)
