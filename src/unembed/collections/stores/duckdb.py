"""DuckDB: one table with a column of arrays or lists, opened read-only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from unembed.collections.stores.address import must_exist
from unembed.collections.stores.arrow import (
    fields_of_schema,
    ids_of,
    number_type,
    rows_of,
    vector_columns,
    width_of,
)
from unembed.collections.stores.base import (
    PAGE,
    Description,
    Options,
    Rows,
    Store,
    StoreFacts,
    asking,
    chosen_id,
    chosen_name,
    chosen_text,
    chosen_vectors,
    installed,
    joined,
)
from unembed.collections.stores.conditions import as_sql, quoted_name, typed

_ID = "unembed_id"


class DuckdbStore(Store):
    """A table, read as Arrow batches."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "duckdb", "DuckDB", "duckdb:notes.duckdb/TABLE?text=body", "duckdb", "duckdb", client=("duckdb", "_duckdb")
    )

    def __init__(self, connection: Any, place: str, name: str | None, options: Options, *, own: bool = False) -> None:
        self._connection, self._own, self._options = connection, own, options
        with asking(place, self.facts):
            found = connection.execute(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
            ).fetchall()
            self._name = chosen_name([str(row[0]) for row in found], name, "table", place, self.facts.kind)
            self._from = quoted_name(self._name)
            keys = connection.execute(
                "SELECT constraint_column_names FROM duckdb_constraints() WHERE table_name = ? AND "
                "constraint_type = 'PRIMARY KEY'",
                [self._name],
            ).fetchall()
            empty = f"SELECT * FROM {self._from} LIMIT 0"  # noqa: S608 - names are quoted
            schema = connection.cursor().sql(empty).to_arrow_table().schema
        self._vectors = chosen_vectors(vector_columns(schema), options, self._name)
        key = keys[0][0][0] if len(keys) == 1 and len(keys[0][0]) == 1 else None
        self._id = chosen_id(schema.names, options, key, self._name)
        self._kind = schema.field(self._vectors).type
        self._fields = fields_of_schema(schema, (self._vectors, self._id))
        self._conditions = typed(options.conditions, self._fields, self._name)

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """A table of a file."""
        duckdb = installed(cls.facts)
        path = must_exist(place, cls.facts)
        with asking(str(path), cls.facts):
            connection = duckdb.connect(str(path), read_only=True, config={"enable_external_access": "false"})
        return cls(connection, str(path), name, options, own=True)

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A table of a DuckDB connection."""
        return cls(client, "the connection", name, options)

    def describe(self) -> Description:
        """From the schema, and the first row for lists without a fixed length."""
        found, values = as_sql(self._conditions, quoted_name, "?")
        query = f"SELECT count(*) FROM {self._from}" + (f" WHERE {found}" if found else "")  # noqa: S608 - quoted
        with asking(self._name, self.facts):
            count = int(self._connection.cursor().execute(query, values).fetchone()[0])
        width = width_of(self._kind)
        if width is None and count:
            first = next(self.scan(batch=1)).vectors
            width = first.shape[1] if first is not None else None
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=count,
            dimension=width,
            dtype=number_type(self._kind),
            vectors=self._vectors,
            id=self._id,
            text=chosen_text(self._fields, self._options, self._name),
            columns=self._fields,
        )

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All rows in one query."""
        yield from self._pages(columns, vectors, *as_sql(self._conditions, quoted_name, "?"), batch)

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Rows by their ids in one query."""
        among = f"CAST({self._id_sql} AS VARCHAR) IN (SELECT unnest(?))"
        parts = list(self._pages(columns, vectors, among, [list(ids)], PAGE))
        return joined(parts, columns) if parts else Rows([], {name: [] for name in columns})

    def close(self) -> None:
        """Close a connection that was opened here."""
        if self._own:
            self._connection.close()

    @property
    def _id_sql(self) -> str:
        return quoted_name(self._id) if self._id else "rowid"

    def _pages(
        self, columns: Sequence[str], vectors: bool, condition: str, values: Sequence[Any], size: int
    ) -> Iterator[Rows]:
        asked = [f"{self._id_sql} AS {_ID}", *map(quoted_name, [*columns, *([self._vectors] if vectors else [])])]
        where = f" WHERE {condition}" if condition else ""
        query = f"SELECT {', '.join(asked)} FROM {self._from}{where}"  # noqa: S608 - names are quoted, values bound
        with asking(self._name, self.facts):
            for part in self._connection.cursor().sql(query, params=list(values)).to_arrow_reader(size):
                for start in range(0, part.num_rows, size):
                    page = part.slice(start, size)
                    wanted = self._vectors if vectors else None
                    yield rows_of(page, ids_of(page.column(_ID)), columns, wanted, self._name)
