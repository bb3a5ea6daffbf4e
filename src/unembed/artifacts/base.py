"""The contract of a thing that is fitted or trained: what it is made of, how it is made, how it lies on the disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias, TypeVar

from unembed.encoders.blocks import text_hash
from unembed.errors import PluginError

T = TypeVar("T")
#: Plain data, as JSON knows it.
Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"


class Recipe(Protocol[T]):
    """How one thing is made. Two recipes with the same identity make things that behave the same."""

    @property
    def identity(self) -> Mapping[str, Json]:
        """Everything the thing is made of: names, options, versions; texts and files by their digest.

        It is written beside the thing, so it holds no text of a corpus.
        """
        ...

    def make(self, place: Path) -> T:
        """Make the thing.

        ``place`` is a folder for partial work. It is empty at first; after a kill it is given again as it was left, so
        a long training can go on. A file there may have been cut short by the kill unless it was renamed into place.
        """
        ...

    def save(self, made: T, place: Path) -> None:
        """Write the thing into an empty folder, without pickle."""
        ...

    def load(self, place: Path) -> T:
        """Read what ``save`` wrote; every byte was checked before."""
        ...


def plain_identity(recipe: Recipe[T]) -> Json:
    """The identity of a recipe as it comes back from a file."""
    try:
        plain: Json = json.loads(json.dumps(recipe.identity, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise PluginError(f"the identity of {type(recipe).__name__} is not plain JSON data") from error
    return plain


def texts_digest(texts: Sequence[str]) -> str:
    """What texts in their order are known by in an identity."""
    return hashlib.sha256(b"".join(map(text_hash, texts))).hexdigest()
