"""The contract of a defense on vectors: ``fit`` on what the owner holds, ``transform`` whatever is stored.

What a defense draws at random depends on its key and on a record's id, never on the order of calls: the same record
gets the same noise whether it is stored alone, in a batch, today or tomorrow. Averaging over repeated calls then gains
nothing, and a store can be filled by several machines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.params import Params
from unembed.seeds import generator


@dataclass(frozen=True)
class DefenseFacts:
    """What every defense says of itself; ``version`` goes up when its output may change."""

    name: str
    title: str
    paper: str | None = None
    section: str | None = None
    departures: str | None = None
    version: int = 1


@runtime_checkable
class Defense(Protocol):
    """A transform of vectors. ``seed`` is its key: what it draws at random follows from it and from a record's id."""

    facts: ClassVar[DefenseFacts]
    seed: int

    def get_params(self, deep: bool = True) -> Params:
        """Parameters as in scikit-learn."""
        ...

    def fit(self, vectors: Vectors) -> Self:
        """Learn what the transform needs (a scale, a subspace) from all vectors the owner holds."""
        ...

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Defended vectors, one per row; ``ids`` are the records' ids in the same order."""
        ...


def noise(ids: Iterable[str], width: int, key: int) -> NDArray[np.float64]:
    """Standard normal numbers, ``width`` for each record, that follow from the key and its id alone."""
    drawn = [generator(key, "noise", record).standard_normal(width) for record in ids]
    return np.array(drawn, dtype=np.float64).reshape(-1, width)


def check_defense_class(candidate: object) -> str | None:
    """What keeps an object from being a defense class, or None."""
    if not isinstance(candidate, type):
        return "it is not a class"
    if not isinstance(getattr(candidate, "facts", None), DefenseFacts):
        return "it has no DefenseFacts named 'facts'"
    wanted = ("fit", "transform", "get_params", "set_params")
    absent = [m for m in wanted if not callable(getattr(candidate, m, None))]
    return f"it lacks {', '.join(absent)}" if absent else None
