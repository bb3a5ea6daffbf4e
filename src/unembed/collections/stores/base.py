"""The contract of a store: vectors with ids, texts and columns, read and never written.

A store says what lies in it (``describe``), streams all of it (``scan``) and gives rows by their ids (``rows``).
Whatever an audit needs beyond that, such as a sample or the join with texts from elsewhere, is made of these three in
``collecting``, once for all stores.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.collections.stores.conditions import Condition
from unembed.corpora.readers.fields import Field
from unembed.encoders.base import DenseVectors
from unembed.errors import DataError, MissingExtraError, UnembedError, UnknownNameError, UsageError

#: Rows in one page, unless somebody asks for another number.
PAGE = 4096
#: Said in the place of a column of ids: rows are known by their numbers.
ROW = "row"
#: How many rows tell which columns there are, where a store has no schema.
TELLING = 200


@dataclass(frozen=True)
class StoreFacts:
    """What a kind of store says of itself."""

    kind: str
    title: str
    example: str
    package: str | None = None
    """The package that reads it; None: unembed does."""
    extra: str | None = None
    secret: str | None = None
    """The environment variable that holds its password or key."""
    client: tuple[str, ...] = ()
    """Modules whose objects it accepts in the place of a URL, such as ``chromadb``."""


@dataclass(frozen=True)
class Options:
    """What a URL or a caller says beyond the place."""

    vectors: str | None = None
    text: str | None = None
    id: str | None = None
    conditions: tuple[Condition, ...] = ()
    timeout: float = 60.0
    missing: str = "refuse"
    """What to do about rows without a vector: ``refuse`` or ``skip``."""
    host: str | None = None
    split: str | None = None


@dataclass(frozen=True)
class Description:
    """What lies in a store; never holds a secret or a text."""

    kind: str
    name: str
    count: int
    """Rows that are read: under the conditions, where there are some."""
    dimension: int | None
    metric: str | None = None
    dtype: str = "float32"
    """How the numbers lie in the store; they are read as float32."""
    vectors: str | None = None
    id: str | None = None
    """The column of the ids; None: rows are known by their numbers."""
    text: str | None = None
    columns: tuple[Field, ...] = ()
    """Everything beside ids and vectors, the texts included."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rows:
    """Some rows of a store."""

    ids: list[str]
    columns: dict[str, list[Any]] = field(default_factory=dict)
    vectors: DenseVectors | None = None
    """One per row, if they were asked for; zeros where a row has none."""
    missing: NDArray[np.bool_] | None = None
    """Which rows have no vector; None: all have one."""

    def __len__(self) -> int:
        return len(self.ids)


class Store(ABC):
    """One collection or table, open for reading."""

    facts: ClassVar[StoreFacts]
    skips_missing: bool = False
    """Whether rows without a vector are left out instead of refused."""

    @classmethod
    @abstractmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """Open what lies at a place; ``name`` is the collection or table, None if the place was all that was said."""

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """What a client's own object holds."""
        raise UsageError(f"{cls.facts.title} is opened by its URL, such as {cls.facts.example}")

    @abstractmethod
    def describe(self) -> Description:
        """What lies there; reads no more than it must."""

    @abstractmethod
    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All rows under the conditions, a page at a time, in bounded memory; vectors only if they are wanted."""

    @abstractmethod
    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Rows by their ids, in any order; ids that are not there are left out."""

    def close(self) -> None:  # noqa: B027 - most stores have nothing to close
        """Let go of files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *ended: object) -> None:
        self.close()


def installed(facts: StoreFacts) -> Any:
    """The module of the package that reads a store; missing: the line to install it."""
    import importlib

    try:
        return importlib.import_module(facts.package or "")
    except ImportError:
        raise MissingExtraError(f"reading {facts.title}", facts.extra or "stores") from None


def stacked(vectors: Sequence[Any], what: str) -> tuple[DenseVectors, NDArray[np.bool_] | None]:
    """Vectors that came one by one, None among them, as one array, and which of them are missing."""
    there = [np.asarray(v, dtype=np.float32) for v in vectors if v is not None]
    lengths = {v.shape for v in there}
    if any(len(shape) != 1 for shape in lengths):
        raise DataError(f"{what}: a row holds several vectors; only one per row can be measured")
    if len(lengths) > 1:
        shown = " and ".join(str(n) for (n,) in sorted(lengths)[:3])
        raise DataError(f"{what} holds vectors of {shown} dimensions: leave one kind out with ?where=COLUMN=VALUE")
    if len(there) == len(vectors):
        width = next(iter(lengths), (0,))[0]
        return (np.stack(there) if there else np.zeros((0, width), dtype=np.float32)), None
    missing = np.array([v is None for v in vectors])
    made = np.zeros((len(vectors), next(iter(lengths), (0,))[0]), dtype=np.float32)
    if there:
        made[~missing] = there
    return made, missing


def unpacked_bits(packed: bytes | NDArray[np.uint8], dimension: int) -> NDArray[np.float32]:
    """A binary vector, eight dimensions a byte, as zeros and ones."""
    bits = np.unpackbits(np.frombuffer(packed, dtype=np.uint8) if isinstance(packed, bytes) else packed)
    return bits[:dimension].astype(np.float32)


def chosen(known: Sequence[str], wanted: str | None, what: str, where: str, option: str, usual: Sequence[str]) -> str:
    """The name that was asked for, or the only or usual one; otherwise an error that lists what there is."""
    if wanted is not None:
        if wanted not in known:
            raise UnknownNameError(what, wanted, known, hint=f"in {where}")
        return wanted
    if len(known) == 1:
        return known[0]
    if not known:
        raise DataError(f"{where} has no {what}")
    for name in usual:
        found = [one for one in known if one.lower() == name]
        if len(found) == 1:
            return found[0]
    raise UsageError(f"{where} has several {option}: {', '.join(sorted(known)[:20])}; say which one")


def chosen_vectors(known: Sequence[str], options: Options, where: str) -> str:
    """The column of vectors that was asked for, or the only or usual one."""
    usual = ("vector", "vectors", "embedding", "embeddings", "emb")
    return chosen(known, options.vectors, "column of vectors", where, "columns of vectors (?vectors=COLUMN)", usual)


def chosen_name(known: Sequence[str], wanted: str | None, what: str, place: str, kind: str) -> str:
    """The collection or table that was asked for, or the only one."""
    if not known:
        raise DataError(f"{place} holds no {what}")
    return chosen(known, wanted, what, place, f"{what}s ({kind}:{place}/{what.upper()})", ())


def chosen_id(known: Sequence[str], options: Options, key: str | None, where: str) -> str | None:
    """The column of ids: as asked, the key of the table, or one with a usual name; None: row numbers."""
    if options.id == ROW:
        return None
    if options.id is not None:
        return chosen(known, options.id, "column", where, "columns", ())
    if key is not None:
        return key
    return next((name for usual in ("id", "_id", "uuid") for name in known if name.lower() == usual), None)


def chosen_text(fields: Sequence[Field], options: Options, where: str) -> str | None:
    """The column of texts: as asked, or the obvious one; None if nothing looks like texts."""
    from unembed.corpora.readers.fields import choose_text_column, require_columns

    if options.text is not None:
        require_columns([options.text], fields, where)
        return options.text
    try:
        return choose_text_column(fields, where)
    except UnembedError:
        return None


def fields_of(samples: Sequence[dict[str, Any]]) -> tuple[Field, ...]:
    """The columns of rows without a schema, from some of them."""
    kinds: dict[str, set[str]] = {}
    for sample in samples:
        for name, value in sample.items():
            if value is not None:
                kinds.setdefault(name, set()).add(type(value).__name__)
    return tuple(Field(name, found == {"str"}, "/".join(sorted(found))) for name, found in sorted(kinds.items()))


_REFUSED = re.compile(
    r"unauthori[sz]ed|forbidden|authenticat|\b401\b|\b403\b|api.?key|permission ?denied|invalid token"
)
_HELD = re.compile(r"\block(ed|s)?\b|could not set lock|datadirlocked|already accessed|in use by another")
_SLOW = re.compile(r"time.?out|timed out|deadline|querycancell?ed")
_SILENT = re.compile(r"connect|refused|unavailable|unreachable|reset by peer|server closed|broken pipe|name or service")


@contextmanager
def asking(what: str, facts: StoreFacts) -> Iterator[None]:
    """Whatever a client raises becomes one line of ours: its own message may hold texts, filters or a key."""
    try:
        yield
    except (UnembedError, KeyboardInterrupt, GeneratorExit, SystemExit):
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        said = f"{type(error).__name__} {error}".lower()
        if _REFUSED.search(said) and facts.secret:
            line = f"{what} refuses the user, password or key: set the environment variable {facts.secret}"
        elif _HELD.search(said):
            line = f"{what} is held by another process: end that, or copy the store and read the copy"
        elif _SLOW.search(said):
            line = f"{what} did not answer in time: run the same command again, or allow more with ?timeout=SECONDS"
        elif _SILENT.search(said):
            line = f"{what} does not answer or broke off: see that it runs, then run the same command again"
        else:
            line = f"{what} can't be read: {facts.title} says {type(error).__name__}"
        raise DataError(line) from error


def pages_of(ids: Sequence[str], size: int) -> Iterator[list[str]]:
    """Ids, so many at a time."""
    for start in range(0, len(ids), size):
        yield list(ids[start : start + size])


def joined(parts: Sequence[Rows], columns: Sequence[str]) -> Rows:
    """Several pages as one."""
    if len(parts) == 1:
        return parts[0]
    ids = [i for part in parts for i in part.ids]
    held = {name: [v for part in parts for v in part.columns[name]] for name in columns}
    some = [part for part in parts if len(part) and part.vectors is not None]
    if not some:
        return Rows(ids, held)
    missing = None
    if any(part.missing is not None for part in some):
        gaps = [np.zeros(len(part), dtype=bool) if part.missing is None else part.missing for part in some]
        missing = np.concatenate(gaps)
    return Rows(ids, held, np.concatenate([part.vectors for part in some if part.vectors is not None]), missing)
