"""Corpus: texts with ids and columns, in memory, immutable."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from unembed.errors import DataError, UnknownNameError


@dataclass(frozen=True)
class Corpus:
    """Texts, one id per text, and any number of columns of the same length."""

    texts: list[str]
    ids: list[str]
    columns: Mapping[str, list[Any]] = field(default_factory=dict)
    name: str = "corpus"

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.texts):
            raise DataError(f"{self.name}: {len(self.texts)} texts but {len(self.ids)} ids")
        for column, values in self.columns.items():
            if len(values) != len(self.texts):
                raise DataError(f"{self.name}: column '{column}' has {len(values)} values for {len(self.texts)} texts")

    @classmethod
    def of(cls, texts: Sequence[str], *, name: str = "corpus", **columns: Sequence[Any]) -> Corpus:
        """A corpus from plain lists; ids are row numbers."""
        return cls(list(texts), [str(i) for i in range(len(texts))], {k: list(v) for k, v in columns.items()}, name)

    def __len__(self) -> int:
        return len(self.texts)

    def column(self, name: str) -> list[Any]:
        """The values of one column; an unknown name is an error with suggestions."""
        if name not in self.columns:
            raise UnknownNameError("column", name, self.columns, hint=f"in {self.name}")
        return self.columns[name]

    def select(self, rows: Sequence[int] | np.ndarray[Any, Any]) -> Corpus:
        """The given rows, in the given order."""
        index = [int(r) for r in rows]
        return Corpus(
            [self.texts[i] for i in index],
            [self.ids[i] for i in index],
            {name: [values[i] for i in index] for name, values in self.columns.items()},
            self.name,
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of ids, texts and columns: the same data gives the same run."""
        digest = hashlib.sha256()
        for part in (self.ids, self.texts):
            _feed(digest, part)
        for name in sorted(self.columns):
            digest.update(name.encode() + b"\x00")
            _feed(digest, [repr(v) for v in self.columns[name]])
        return digest.hexdigest()


def _feed(digest: Any, strings: Sequence[str]) -> None:
    for string in strings:
        data = string.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
