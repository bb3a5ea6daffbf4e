"""The contract of trainers: texts as word numbers in, a table of word vectors out.

A shadow model is trained on some of the texts of a corpus, and hundreds of them are needed. So texts are cut into words
and numbered once, and a trainer is told which of them to read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.words import words
from unembed.errors import UsageError
from unembed.params import Params

Architecture: TypeAlias = Literal["skip-gram", "cbow"]
IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class TokenCorpus:
    """Texts as numbers of words: ``tokens[starts[i] : starts[i + 1]]`` are those of text ``i``."""

    vocabulary: tuple[str, ...]
    tokens: NDArray[np.int32]
    starts: IntArray

    @classmethod
    def of(cls, texts: Sequence[str]) -> TokenCorpus:
        """Cut texts into words; words are numbered in the order in which they first occur."""
        numbers: dict[str, int] = {}
        rows = [[numbers.setdefault(word, len(numbers)) for word in words(text)] for text in texts]
        lengths = np.array([len(row) for row in rows], dtype=np.int64)
        flat = np.fromiter((number for row in rows for number in row), dtype=np.int32, count=int(lengths.sum()))
        return cls(tuple(numbers), flat, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))

    def __len__(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def number_of(self) -> dict[str, int]:
        """The number of each word."""
        return {word: number for number, word in enumerate(self.vocabulary)}

    def text(self, row: int) -> NDArray[np.int32]:
        """The words of one text."""
        return self.tokens[self.starts[row] : self.starts[row + 1]]

    def some(self, rows: IntArray) -> tuple[NDArray[np.int32], IntArray]:
        """The words of some texts, in the order given, and where each text starts."""
        lengths = np.diff(self.starts)[rows]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return self.tokens[places], starts


@dataclass(frozen=True)
class WordTable:
    """A trained model as whoever may ask it sees it: a vector for each word that was frequent enough.

    ``numbers`` are those of the corpus' vocabulary, in rising order; a row of ``vectors`` belongs to each.
    """

    numbers: IntArray
    vectors: NDArray[np.float32]

    def rows_of(self, asked: IntArray) -> IntArray:
        """The row of each asked word; -1 where the model has none."""
        if not len(self.numbers):
            return np.full(len(asked), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.numbers, asked), len(self.numbers) - 1)
        return np.where(self.numbers[place] == asked, place, -1).astype(np.int64)


@dataclass(frozen=True)
class Settings:
    """Of a training. The defaults are those of Mahloujifar 3.2 where it names them, else those of word2vec itself."""

    architecture: Architecture = "skip-gram"
    dimension: int = 80
    window: int = 5
    negatives: int = 5
    passes: int = 20
    min_count: int = 20
    sample: float = 1e-3
    learning_rate: float = 0.025
    last_rate: float = 1e-4

    def __post_init__(self) -> None:
        if self.architecture not in ("skip-gram", "cbow"):
            raise UsageError(f"architecture is 'skip-gram' or 'cbow', not '{self.architecture}'")
        for name in ("dimension", "window", "negatives", "passes", "min_count"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} of a training must be at least 1, not {getattr(self, name)}")
        if not self.learning_rate > 0 or not 0 <= self.sample < 1:
            raise UsageError("learning_rate of a training must be above 0, and sample from 0 to below 1")


class Trainer(Protocol):
    """Trains one model after another. Equal texts, settings and seed give equal tables, bit for bit, on one machine."""

    @property
    def identity(self) -> Params:
        """Its name, version and settings: what a kept model is found by."""
        ...

    def train(self, corpus: TokenCorpus, rows: IntArray, seed: int) -> WordTable:
        """A model of the texts ``rows``, read in this order in every pass."""
        ...
