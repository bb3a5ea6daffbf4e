"""Tasks with published texts of their own: what the encoder, with the owner's defense, is good for elsewhere.

Such a task reads a data set, has its texts encoded as the variant under test would hold them, learns the label from
some of the vectors and is asked about the others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.published import DATA_VARIABLE, data_file, read_data_set
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import IntArray, Scores
from unembed.nn.features import check_vectors
from unembed.params import Parametrised
from unembed.seeds import generator
from unembed.utility.base import Encode, TaskFacts, UtilityMaterial


@dataclass(frozen=True)
class Labelled:
    """Texts, one label each, and which rows are learnt from before which others are asked about."""

    texts: Sequence[str]
    labels: IntArray
    classes: tuple[str, ...]
    folds: tuple[tuple[IntArray, IntArray], ...]

    @property
    def learnt(self) -> list[str]:
        """Texts of the first fold that are learnt from."""
        return [self.texts[i] for i in self.folds[0][0]]


class OwnTexts(Parametrised):
    """What these tasks share."""

    facts: ClassVar[TaskFacts]

    @abstractmethod
    def examples(self, seed: int) -> Labelled:
        """The texts and labels that are scored."""

    @abstractmethod
    def judge(self, examples: Labelled, vectors: Vectors, seed: int) -> Scores:
        """How well the labels are told from the vectors of the texts."""

    @abstractmethod
    def files(self) -> Sequence[Path]:
        """The data sets it reads."""

    def score(self, material: UtilityMaterial) -> Scores:
        """One row per text that is asked about."""
        encode = can_encode(material)
        examples = self.examples(material.seed)
        return self.judge(examples, encode(examples.texts), material.seed)


def can_encode(material: UtilityMaterial) -> Encode:
    """The encoder with the owner's defense behind it; without one there is nothing to score."""
    if (challenge := material.challenge) is None:
        raise CannotMeasureError(
            "not applicable: the task has texts of its own, and the encoder can't be asked, only its stored vectors "
            "are there"
        )
    made = challenge

    def encode(texts: Sequence[str]) -> Vectors:
        vectors = made(texts)
        check_vectors(vectors)
        if vectors.shape[0] != len(texts):
            raise CannotMeasureError(f"there are {vectors.shape[0]} vectors for {len(texts)} texts")
        return vectors

    return encode


def published(name: str, column: str, columns: Sequence[str] = ()) -> Corpus:
    """A data set by name; a missing one is an error that names the file."""
    path = data_file(name)
    if not path.is_file():
        raise CannotMeasureError(
            f"data set {path.name} is not in {path.parent}: name the folder that holds it in {DATA_VARIABLE}"
        )
    return read_data_set(name, column, columns)


def check_texts(task: str, texts: int, least: int, name: str = "texts") -> None:
    """Refuse to score too few texts, or too few of something else."""
    if texts < least:
        raise UsageError(f"'{name}' of the utility task '{task}' must be at least {least}, not {texts}")


def first_of_each(keys: Sequence[str]) -> IntArray:
    """Rows whose key no earlier row has: texts that repeat would be learnt from and asked about."""
    seen: dict[str, int] = {}
    for row, key in enumerate(keys):
        seen.setdefault(key, row)
    return np.array(list(seen.values()), dtype=np.int64)


def balanced(
    values: Sequence[str | None], classes: int, texts: int, seed: int, what: str
) -> tuple[IntArray, list[str]]:
    """As many rows of each of the most frequent values, at most ``texts`` in all, and the values.

    No more of each than the rarest of them has.
    """
    held: dict[str, list[int]] = {}
    for row, value in enumerate(values):
        if value is not None:
            held.setdefault(value, []).append(row)
    chosen = sorted(held, key=lambda value: (-len(held[value]), value))[:classes]
    if len(chosen) < 2:
        raise CannotMeasureError(f"{what} has {len(chosen)} class(es) of texts; two are needed")
    each = min(texts // len(chosen), len(held[chosen[-1]]))
    rng = generator(seed, "balanced", what)
    rows = [int(held[value][i]) for value in sorted(chosen) for i in rng.permutation(len(held[value]))[:each]]
    return np.sort(np.array(rows, dtype=np.int64)), sorted(chosen)


def labelled(texts: Sequence[str], values: Sequence[str], classes: Sequence[str], share: float, seed: int) -> Labelled:
    """A share of the texts of each class is asked about, the rest is learnt from."""
    index = {value: i for i, value in enumerate(classes)}
    labels = np.array([index[value] for value in values], dtype=np.int64)
    order = generator(seed, "parts").permutation(len(labels))
    asked = [own[: max(1, round(share * len(own)))] for c in range(len(classes)) for own in [order[labels[order] == c]]]
    test = np.sort(np.concatenate(asked))
    rest = np.setdiff1d(np.arange(len(labels)), test)
    return Labelled(list(texts), labels, tuple(classes), ((rest, test),))
