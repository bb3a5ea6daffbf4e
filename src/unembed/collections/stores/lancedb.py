"""LanceDB: one table, streamed as Arrow batches."""

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
    pages_of,
)
from unembed.collections.stores.conditions import as_literal_sql, literal, typed

_ROW = "_rowid"


class LancedbStore(Store):
    """A table of a LanceDB folder; rows without an id column are known by their row ids."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "lancedb", "LanceDB", "lancedb:./lance/TABLE?text=body", "lancedb", "lancedb", client=("lancedb",)
    )

    def __init__(self, table: Any, options: Options) -> None:
        self._table, self._options, self._name = table, options, str(table.name)
        with asking(self._name, self.facts):
            schema = table.schema
        self._vectors = chosen_vectors(vector_columns(schema), options, self._name)
        self._kind = schema.field(self._vectors).type
        self._id = chosen_id(schema.names, options, None, self._name)
        self._text_ids = self._id is not None and "string" in str(schema.field(self._id).type)
        self._fields = fields_of_schema(schema, (self._vectors, self._id))
        self._filter = as_literal_sql(typed(options.conditions, self._fields, self._name), _quoted)

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """A table of a folder."""
        lancedb = installed(cls.facts)
        where = place if "://" in place else str(must_exist(place, cls.facts))
        with asking(where, cls.facts):
            database = lancedb.connect(where)
            known = _table_names(database)
            return cls(database.open_table(chosen_name(known, name, "table", where, cls.facts.kind)), options)

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A table, or a table of a connection."""
        if hasattr(client, "open_table"):
            with asking("the connection", cls.facts):
                found = chosen_name(_table_names(client), name, "table", "the connection", cls.facts.kind)
                client = client.open_table(found)
        return cls(client, options)

    def describe(self) -> Description:
        """From the schema and the indexes."""
        with asking(self._name, self.facts):
            count = int(self._table.count_rows(self._filter or None))
            width = width_of(self._kind)
            if width is None and count:
                first = next(self.scan(batch=1)).vectors
                width = first.shape[1] if first is not None else None
            metric = None
            for index in self._table.list_indices():
                if self._vectors in index.columns:
                    stats = self._table.index_stats(index.name)
                    metric = getattr(stats, "distance_type", None)
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=count,
            dimension=width,
            metric=metric,
            dtype=number_type(self._kind),
            vectors=self._vectors,
            id=self._id,
            text=chosen_text(self._fields, self._options, self._name),
            columns=self._fields,
        )

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All rows, only the columns that are wanted."""
        with asking(self._name, self.facts):
            query = self._table.search(None).limit(max(1, self._table.count_rows()))
            if self._filter:
                query = query.where(self._filter)
            yield from self._pages(query, columns, vectors, batch)

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Rows by row id, or by the values of the id column."""
        parts: list[Rows] = []
        for some in pages_of(ids, 500):
            with asking(self._name, self.facts):
                if self._id is None:
                    query = self._table.take_row_ids([int(i) for i in some if i.isdecimal()])
                else:
                    among = ", ".join(literal(i) if self._text_ids else str(int(i)) for i in some)
                    query = self._table.search(None).limit(len(some) * 2).where(f"{_quoted(self._id)} IN ({among})")
                parts += self._pages(query, columns, vectors, PAGE)
        return joined(parts, columns) if parts else Rows([], {name: [] for name in columns})

    def _pages(self, query: Any, columns: Sequence[str], vectors: bool, size: int) -> Iterator[Rows]:
        named = [*columns, *([self._id] if self._id else []), *([self._vectors] if vectors else [])]
        query = query.select(list(dict.fromkeys(named)) or [self._vectors]).with_row_id(True)
        for part in query.to_batches(batch_size=size):
            if part.num_rows:
                ids = ids_of(part.column(self._id or _ROW))
                yield rows_of(part, ids, columns, self._vectors if vectors else None, self._name)


def _quoted(name: str) -> str:
    return f"`{name}`"


def _table_names(database: Any) -> list[str]:
    return [str(name) for name in database.list_tables(limit=10_000).tables]
