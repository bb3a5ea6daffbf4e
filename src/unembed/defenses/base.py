"""The contract of a defense on vectors: ``fit`` and ``transform``, chainable like scikit-learn's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, runtime_checkable

from unembed.encoders.base import Vectors


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
    """A transform of vectors; random choices from ``seed``."""

    facts: ClassVar[DefenseFacts]
    seed: int

    def fit(self, vectors: Vectors) -> Self:
        """Learn what the transform needs (a scale, a subspace) from the owner's vectors."""
        ...

    def transform(self, vectors: Vectors) -> Vectors:
        """Defended vectors; the same number of rows."""
        ...


def check_defense_class(candidate: object) -> str | None:
    """What keeps an object from being a defense class, or None."""
    if not isinstance(candidate, type):
        return "it is not a class"
    if not isinstance(getattr(candidate, "facts", None), DefenseFacts):
        return "it has no DefenseFacts named 'facts'"
    wanted = ("fit", "transform", "get_params", "set_params")
    absent = [m for m in wanted if not callable(getattr(candidate, m, None))]
    return f"it lacks {', '.join(absent)}" if absent else None
