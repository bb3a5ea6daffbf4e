"""The contract of a collection: what is under audit, from files, arrays and stores alike.

A collection is read once and never written. It holds ids, texts and columns; vectors where some are stored; and says
whether further texts can be encoded, which decides who can attack it and how.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from unembed.corpora.corpus import Corpus
from unembed.encoders.base import DenseVectors, EncoderCard


@runtime_checkable
class Stored(Protocol):
    """Vectors that lie somewhere, found by the ids of their texts."""

    @property
    def card(self) -> EncoderCard:
        """What is known of the vectors and of what made them; never holds a secret."""
        ...

    def vectors_for(self, ids: Sequence[str]) -> DenseVectors:
        """The vectors of these texts, in this order."""
        ...


@dataclass(frozen=True)
class Collection:
    """Texts with ids and columns, and their vectors where they are stored.

    ``facts`` say how it was read, in a reader's words and numbers, never in words of the texts.
    """

    corpus: Corpus
    facts: Mapping[str, int | str | bool] = field(default_factory=dict)
    stored: Stored | None = None
    can_encode: bool = True
    """Whether an encoder for further texts is at hand: not where only stored vectors are."""


@dataclass(frozen=True)
class Wanted:
    """Which part of a collection an audit wants: where it lies, which columns, how many rows at most."""

    place: str
    column: str | None = None
    columns: tuple[str, ...] = ()
    id: str | None = None
    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    split: str | None = None
    max_rows: int | None = None
    vectors: str | None = None
    vectors_column: str | None = None
    seed: int = 0
    store: str | None = None
    """The address of a store that holds the vectors; ``place`` is then a file of texts beside it, or empty."""
    allow_remote: bool = False
    """Whether a store on another machine may be asked."""
    purpose: str = "sample"
    """What rows are drawn for: two collections from one place need not be the same rows."""


class Opener(Protocol):
    """Opens the collections of one kind of place."""

    def __call__(self, wanted: Wanted) -> Collection:
        """Read what is wanted; a sample is drawn evenly, and the same for the same seed."""
        ...


def collection_of(
    texts: Sequence[str],
    *,
    ids: Sequence[str] | None = None,
    stored: Stored | None = None,
    name: str = "collection",
    **columns: Sequence[object],
) -> Collection:
    """A collection from plain lists; without ids, texts are known by their row numbers."""
    named = [str(row) for row in range(len(texts))] if ids is None else list(ids)
    corpus = Corpus(list(texts), named, {key: list(values) for key, values in columns.items()}, name)
    return Collection(corpus, stored=stored, can_encode=stored is None)
