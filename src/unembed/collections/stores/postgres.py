"""PostgreSQL with pgvector: one table, in read-only transactions, page by page through a cursor of the server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

import numpy as np

from unembed.collections.stores.base import (
    Description,
    Options,
    Store,
    StoreFacts,
    asking,
    chosen_id,
    chosen_text,
    chosen_vectors,
    installed,
    unpacked_bits,
)
from unembed.collections.stores.conditions import quoted_name, typed
from unembed.collections.stores.sql import SqlStore
from unembed.corpora.readers.fields import Field
from unembed.errors import CannotMeasureError, DataError, UnknownNameError, UsageError

_CONNECT_SECONDS = 10
_TEXTS = ("text", "varchar", "bpchar", "citext", "name")
_PLAIN = (*_TEXTS, "int2", "int4", "int8", "float4", "float8", "numeric", "bool", "date", "timestamp", "timestamptz")
#: Types of pgvector and others that hold vectors: how one is asked for, and how its numbers lie there.
_SENT = {
    "vector": ("vector_send({})", "float32"),
    "halfvec": ("halfvec_send({})", "float16"),
    "bit": ("bit_send({})", "bit"),
    "_float4": ("{}", "float32"),
    "_float8": ("{}", "float64"),
    "sparsevec": ("{}", "sparse"),
}


class PostgresStore(SqlStore):
    """A table with a column of vectors."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "pgvector",
        "PostgreSQL with pgvector",
        "postgresql://user@localhost:5432/DATABASE/TABLE?text=body",
        "psycopg",
        "pgvector",
        "PGPASSWORD",
        ("psycopg",),
    )
    mark: ClassVar[str] = "%s"

    def __init__(self, connection: Any, name: str | None, options: Options, *, own: bool = False) -> None:
        self._connection, self._own, self._cursors = connection, own, 0
        with asking("the database", self.facts):
            found = self._ask(
                "SELECT n.nspname, c.relname, n.nspname = ANY(current_schemas(false)) FROM pg_class c "
                "JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'v', 'm', 'p', 'f') "
                "AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%%'"
            )
        tables = {(table if near else f"{schema}.{table}"): (schema, table) for schema, table, near in found}
        tables |= {f"{schema}.{table}": (schema, table) for schema, table, _ in found}
        self._extension = bool(self._ask("SELECT 1 FROM pg_extension WHERE extname = 'vector'"))
        if name is None:
            shown = ", ".join(sorted(k for k in tables if "." not in k)[:20]) or "none"
            raise UsageError(f"the address ends with a table, …/DATABASE/TABLE; there are: {shown}")
        if name not in tables:
            raise UnknownNameError("table", name, tables, hint=self._lacking())
        super().__init__(name, options)
        self._from = ".".join(map(quoted_name, tables[name]))
        self._dimension: int | None = None
        self._find_columns()

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """A table behind ``postgresql://user@host:port/database/table``; the password comes from the environment."""
        psycopg = installed(cls.facts)
        parts = urlsplit(place)
        path = [unquote(p) for p in parts.path.split("/") if p]
        if not path or len(path) > 2:
            raise UsageError(f"the address names a database and a table: {cls.facts.example}")
        told = {"host": options.host or parts.hostname, "port": parts.port, "user": parts.username}
        waits = int(min(_CONNECT_SECONDS, max(2.0, options.timeout)))
        limit = f"-c statement_timeout={int(options.timeout * 1000)} -c default_transaction_read_only=on"
        with asking(f"the database at {told['host'] or 'this machine'}", cls.facts):
            connection = psycopg.connect(
                dbname=path[0],
                connect_timeout=waits,
                options=limit,
                **{key: value for key, value in told.items() if value is not None},
            )
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        try:
            return cls(connection, path[1] if len(path) == 2 else None, options, own=True)
        except BaseException:
            connection.close()
            raise

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A table of a ``psycopg.Connection``."""
        return cls(client, name, options)

    def describe(self) -> Description:
        """From the catalogue of the database; the first row where that doesn't say the dimension."""
        count, metric = self._count(), None
        if self._dimension is None and count:
            first = next(self.scan(batch=1))
            self._dimension = first.vectors.shape[1] if first.vectors is not None else None
        with asking(self._name, self.facts):
            used = self._ask(
                "SELECT o.opcname FROM pg_index i JOIN pg_opclass o ON o.oid = ANY(i.indclass) WHERE i.indrelid = "
                "%s::regclass AND o.opcname ~ '^(vector|halfvec|bit)_'",
                [self._from],
            )
        for (name,) in used:
            metric = str(name).removesuffix("_ops").partition("_")[2]
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=count,
            dimension=self._dimension,
            metric=metric,
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

    def _find_columns(self) -> None:
        with asking(self._name, self.facts):
            rows = self._ask(
                "SELECT a.attname, t.typname, a.atttypmod, format_type(a.atttypid, NULL) FROM pg_attribute a "
                "JOIN pg_type t ON t.oid = a.atttypid WHERE a.attrelid = %s::regclass AND a.attnum > 0 "
                "AND NOT a.attisdropped ORDER BY a.attnum",
                [self._from],
            )
            keys = self._ask(
                "SELECT a.attname FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid "
                "AND a.attnum = ANY(i.indkey) WHERE i.indrelid = %s::regclass AND i.indisprimary",
                [self._from],
            )
        kinds = {str(name): str(kind) for name, kind, _, _ in rows}
        known = [name for name, kind in kinds.items() if kind in _SENT]
        if not known:
            raise DataError(f"table {self._name} has no column of vectors{self._lacking(', because ')}")
        self._vectors = chosen_vectors(known, self._options, self._name)
        self._sent, self._dtype = _SENT[kinds[self._vectors]]
        if self._dtype == "sparse":
            raise CannotMeasureError(f"table {self._name}: column '{self._vectors}' holds sparse vectors; not measured")
        width = next(mod for name, _, mod, _ in rows if name == self._vectors)
        self._dimension = int(width) if width > 0 and not kinds[self._vectors].startswith("_") else None
        self._id = chosen_id(list(kinds), self._options, keys[0][0] if len(keys) == 1 else None, self._name)
        if self._id is None:
            raise UsageError(f"table {self._name} has no key of one column: say which one is unique with ?id=COLUMN")
        self._id_type = next(str(full) for name, _, _, full in rows if name == self._id)
        self._kinds = kinds
        self._fields = tuple(
            Field(name, kind in _TEXTS, kind) for name, kind in kinds.items() if name not in (self._id, self._vectors)
        )
        self._conditions = typed(self._options.conditions, self._fields, self._name)

    def _lacking(self, before: str = "") -> str:
        return "" if self._extension else f"{before}this database has no extension pgvector"

    def _ask(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with self._connection.transaction():
            found: list[tuple[Any, ...]] = self._connection.execute(query, list(values) or None).fetchall()
            return found

    def _fetch(self, query: str, values: Sequence[Any], size: int) -> Iterator[list[tuple[Any, ...]]]:
        self._cursors += 1
        with (
            self._connection.transaction(),
            self._connection.cursor(f"unembed_{os.getpid()}_{self._cursors}") as cursor,
        ):
            cursor.execute(query, list(values) or None, binary=True)
            while page := cursor.fetchmany(size):
                yield page

    @property
    def _id_sql(self) -> str:
        return f"{quoted_name(self._id or '')}::text"

    @property
    def _vector_sql(self) -> str:
        return self._sent.format(quoted_name(self._vectors))

    def _column_sql(self, name: str) -> str:
        return quoted_name(name) if self._kinds[name] in _PLAIN else f"{quoted_name(name)}::text"

    def _among(self, ids: Sequence[str]) -> tuple[str, list[Any]]:
        return f"{quoted_name(self._id or '')} = ANY(%s::text[]::{self._id_type}[])", [list(ids)]

    def _decoded(self, raw: Any) -> Any:
        if raw is None or isinstance(raw, list):
            return raw
        if self._dtype == "bit":
            return unpacked_bits(bytes(raw[4:]), int.from_bytes(raw[:4], "big"))
        return np.frombuffer(raw, dtype=">f4" if self._dtype == "float32" else ">f2", offset=4).astype(np.float32)
