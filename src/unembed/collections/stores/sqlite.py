"""SQLite: tables of sqlite-vec, and plain tables with vectors as blobs of float32 numbers or as JSON lists."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unembed.collections.stores.address import must_exist
from unembed.collections.stores.base import (
    Description,
    Options,
    Store,
    StoreFacts,
    asking,
    chosen_id,
    chosen_name,
    chosen_text,
    chosen_vectors,
    unpacked_bits,
)
from unembed.collections.stores.conditions import quoted_name, typed
from unembed.collections.stores.sql import SqlStore
from unembed.corpora.readers.fields import Field
from unembed.errors import DataError, MissingExtraError, UsageError

_VEC0 = re.compile(r"create\s+virtual\s+table.*\busing\s+vec0\b", re.IGNORECASE | re.DOTALL)
_VEC0_COLUMN = re.compile(r"(\w+)\s+(float|f32|int8|bit)\s*\[\s*(\d+)\s*\]([^,]*)", re.IGNORECASE)
_METRIC = re.compile(r"distance_metric\s*=\s*(\w+)", re.IGNORECASE)


class SqliteStore(SqlStore):
    """One table of an SQLite file, opened read-only."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "sqlite", "SQLite", "sqlite:notes.db/TABLE?text=body", "sqlite3", "sqlite-vec", client=("sqlite3",)
    )

    def __init__(self, connection: Any, place: str, name: str | None, options: Options, *, own: bool = False) -> None:
        self._connection, self._own = connection, own
        with asking(place, self.facts):
            made = dict(connection.execute("SELECT name, sql FROM sqlite_master WHERE type IN ('table', 'view')"))
            virtual = [table for table, sql in made.items() if _VEC0.match(sql or "")]
            inner = tuple(f"{table}_" for table in virtual)
            tables = [t for t in made if not t.startswith(("sqlite_", *inner))]
            super().__init__(chosen_name(tables, name, "table", place, self.facts.kind), options)
            self._sql = made[self._name] or ""
            self._is_vec0 = self._name in virtual
            if self._is_vec0:
                self._load()
            info = connection.execute(f"PRAGMA table_info({self._from})").fetchall()
        self._dimension: int | None = None
        self._dtype, self._metric = "float32", None
        names = [str(row[1]) for row in info]
        kinds = {str(row[1]): self._declared(str(row[1]), str(row[2])) for row in info}
        known = self._vec0_columns() if self._is_vec0 else self._blob_columns(names)
        self._vectors = chosen_vectors(list(known), options, self._name)
        self._dtype, self._dimension, self._metric = known[self._vectors]
        keys = [str(row[1]) for row in info if row[5]] or re.findall(r"(\w+)\s+\w+\s+primary\s+key", self._sql, re.I)
        self._id = chosen_id(names, options, keys[0] if len(keys) == 1 else None, self._name)
        self._whole = {name for name, kind in kinds.items() if "INT" in kind}
        self._fields = tuple(
            Field(name, _holds_text(kind), kind.lower() or "any")
            for name, kind in kinds.items()
            if name not in (self._id, *known) and not self._is_hidden(name)
        )
        self._conditions = typed(options.conditions, self._fields, self._name)

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """A table of a file."""
        import sqlite3

        path = must_exist(place, cls.facts)
        with path.open("rb") as file:
            if not file.read(15).startswith(b"SQLite format"):
                raise DataError(f"{path} is not an SQLite file")
        address = f"{Path(path).resolve().as_uri()}?mode=ro"
        with asking(str(path), cls.facts):
            connection = sqlite3.connect(address, uri=True, timeout=options.timeout)
        return cls(connection, str(path), name, options, own=True)

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A table of an ``sqlite3.Connection``."""
        return cls(client, "the connection", name, options)

    def describe(self) -> Description:
        """From the schema; the first vector tells the dimension where the schema doesn't."""
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=self._count(),
            dimension=self._dimension,
            metric=self._metric,
            dtype=self._dtype,
            vectors=self._vectors,
            id=self._id,
            text=chosen_text(self._fields, self._options, self._name),
            columns=self._fields,
        )

    def close(self) -> None:
        """Close a connection that was opened here."""
        if self._own:
            self._connection.close()

    def _fetch(self, query: str, values: Sequence[Any], size: int) -> Iterator[list[tuple[Any, ...]]]:
        cursor = self._connection.execute(query, list(values))
        while page := cursor.fetchmany(size):
            yield page

    @property
    def _id_sql(self) -> str:
        return quoted_name(self._id) if self._id else "rowid"

    def _among(self, ids: Sequence[str]) -> tuple[str, list[Any]]:
        whole = self._id is None or self._id in self._whole
        values = [int(i) if whole and re.fullmatch(r"-?\d+", i) else i for i in ids]
        return f"{self._id_sql} IN ({', '.join('?' * len(ids))})", values

    def _decoded(self, raw: Any) -> Any:
        if raw is None:
            return None
        if isinstance(raw, str):
            try:
                return np.asarray(json.loads(raw), dtype=np.float32)
            except (ValueError, TypeError):
                raise DataError(f"{self._name}, column '{self._vectors}': not a JSON list of numbers") from None
        if self._dtype == "bit":
            return unpacked_bits(raw, self._dimension or len(raw) * 8)
        if self._dtype == "int8":
            return np.frombuffer(raw, dtype=np.int8).astype(np.float32)
        if not isinstance(raw, bytes) or len(raw) % 4:
            raise DataError(f"{self._name}, column '{self._vectors}': not blobs of float32 numbers")
        return np.frombuffer(raw, dtype="<f4")

    def _vec0_columns(self) -> dict[str, tuple[str, int | None, str | None]]:
        found: dict[str, tuple[str, int | None, str | None]] = {}
        for name, kind, width, rest in _VEC0_COLUMN.findall(self._sql):
            metric = _METRIC.search(rest)
            dtype = {"int8": "int8", "bit": "bit"}.get(kind.lower(), "float32")
            found[name] = dtype, int(width), metric[1].lower() if metric else "l2"
        return found

    def _blob_columns(self, names: Sequence[str]) -> dict[str, tuple[str, int | None, str | None]]:
        """Columns whose first value looks like a vector."""
        found: dict[str, tuple[str, int | None, str | None]] = {}
        for name in names:
            quoted = quoted_name(name)
            query = f"SELECT {quoted} FROM {self._from} WHERE {quoted} IS NOT NULL LIMIT 1"  # noqa: S608 - quoted
            with asking(self._name, self.facts):
                first = self._connection.execute(query).fetchone()
            value = first[0] if first else None
            if isinstance(value, bytes) and len(value) % 4 == 0 and value:
                found[name] = "float32", len(value) // 4, None
            elif isinstance(value, str) and re.match(r"\s*\[\s*[-+\d.]", value):
                found[name] = "JSON", value.count(",") + 1, None
        return found

    def _declared(self, name: str, told: str) -> str:
        """The type of a column; a table of sqlite-vec says it in its definition alone."""
        found = re.search(rf"[(,]\s*\+?{re.escape(name)}\s+(\w+)", self._sql) if self._is_vec0 else None
        return (found[1] if found else told).upper()

    def _is_hidden(self, name: str) -> bool:
        """sqlite-vec adds columns to a query that are in no row."""
        return self._is_vec0 and name in ("distance", "k")

    def _load(self) -> None:
        """Make sure that sqlite-vec is there: in this connection already, or loaded from its package."""
        import sqlite3

        try:
            self._connection.execute("SELECT vec_version()")
            return
        except sqlite3.OperationalError:
            pass
        if not hasattr(self._connection, "enable_load_extension"):
            raise UsageError(
                f"{self._name} is a table of sqlite-vec, and this Python can't load extensions of SQLite: use one that "
                "can, or copy the table into a plain one with its vectors as blobs"
            )
        try:
            import sqlite_vec
        except ImportError:
            raise MissingExtraError(f"{self._name} is a table of sqlite-vec: reading it", "sqlite-vec") from None
        self._connection.enable_load_extension(True)
        sqlite_vec.load(self._connection)
        self._connection.enable_load_extension(False)


def _holds_text(declared: str) -> bool:
    kind = declared.upper()
    return any(word in kind for word in ("CHAR", "CLOB", "TEXT")) or kind == ""
