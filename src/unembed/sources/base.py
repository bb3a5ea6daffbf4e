"""The contract of a source: vectors that already exist somewhere, only ever read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from unembed.encoders.base import DenseVectors


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """Some vectors of a source with the ids it knows them by, and their texts where it stores them."""

    ids: list[str]
    vectors: DenseVectors
    texts: list[str] | None = None


@runtime_checkable
class VectorSource(Protocol):
    """A read-only place with vectors: a file, a vector store."""

    @property
    def name(self) -> str:
        """What to call the source in a report; never holds a secret."""
        ...

    @property
    def count(self) -> int:
        """How many vectors there are."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers per vector."""
        ...

    def batches(self, size: int = 1024) -> Iterator[VectorBatch]:
        """All vectors once, in an order that stays the same while the source does."""
        ...
