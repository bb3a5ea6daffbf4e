"""Parquet and Arrow files, and saved Hugging Face data sets, with a column of lists: texts and vectors side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

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
    chosen_text,
    chosen_vectors,
)
from unembed.collections.stores.conditions import holds, typed
from unembed.corpora.readers.options import ReadOptions
from unembed.corpora.readers.source import find_source
from unembed.errors import DataError


class ArrowFileStore(Store):
    """Rows of Arrow files by their numbers, and by the values of an id column where there is one."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "parquet", "a Parquet or Arrow file", "parquet:notes.parquet?vectors=embedding&text=body", "pyarrow"
    )

    def __init__(self, data: Any, name: str, options: Options) -> None:
        self._data, self._name, self._options = data, name, options

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """A file, or a folder of files of one kind."""
        split = f"#{options.split}" if options.split else ""
        source = find_source(f"{place}{split}", ReadOptions(format=None))
        if source.format not in ("parquet", "arrow"):
            raise DataError(f"{source.name} holds {source.format}: expected Parquet or Arrow files")
        with asking(source.name, cls.facts):
            return cls(_dataset(source.files, source.format), source.name, options)

    @property
    def _schema(self) -> Any:
        return self._data.schema

    @cached_property
    def _vectors(self) -> str:
        return chosen_vectors(vector_columns(self._schema), self._options, self._name)

    @cached_property
    def _id(self) -> str | None:
        return chosen_id(self._schema.names, self._options, None, self._name)

    @cached_property
    def _fields(self) -> Any:
        return fields_of_schema(self._schema, (self._vectors, self._id))

    @cached_property
    def _conditions(self) -> Any:
        return typed(self._options.conditions, self._fields, self._name)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        """Which row an id stands in; found in one pass over the ids alone."""
        found: dict[str, int] = {}
        row = 0
        for batch in self._batches([self._id or ""], PAGE):
            for one in ids_of(batch.column(self._id)):
                found[one] = row
                row += 1
        return found

    def describe(self) -> Description:
        """From the schema, and the first row where the schema doesn't say the dimension."""
        kind = self._schema.field(self._vectors).type
        with asking(self._name, self.facts):
            count = self._data.count_rows() if not self._conditions else sum(len(p) for p in self.scan(vectors=False))
            width = width_of(kind)
            if width is None and count:
                first = self._data.take([0], columns=[self._vectors]).column(0).to_pylist()[0]
                width = len(first) if first is not None else None
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=count,
            dimension=width,
            dtype=number_type(kind),
            vectors=self._vectors,
            id=self._id,
            text=chosen_text(self._fields, self._options, self._name),
            columns=self._fields,
        )

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All rows, read column by column."""
        conditions = self._conditions
        asked = [*columns, *(c.column for c in conditions)]
        named = [*asked, *([self._id] if self._id else []), *([self._vectors] if vectors else [])]
        # Without any column Arrow gives no rows to count.
        wanted = list(dict.fromkeys(named)) or [self._vectors]
        start = 0
        for part in self._batches(wanted, batch):
            ids = ids_of(part.column(self._id)) if self._id else [str(start + n) for n in range(part.num_rows)]
            start += part.num_rows
            if conditions:
                values = [part.column(c.column).to_pylist() for c in conditions]
                names = [c.column for c in conditions]
                keep = [
                    n
                    for n, v in enumerate(zip(*values, strict=True))
                    if holds(conditions, dict(zip(names, v, strict=True)))
                ]
                part, ids = part.take(_indices(keep)), [ids[n] for n in keep]
            if ids:
                yield rows_of(part, ids, columns, self._vectors if vectors else None, self._name)

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Rows by number; ids of a column are looked up first."""
        if self._id:
            numbers = [(i, self._row_of[i]) for i in ids if i in self._row_of]
        else:
            count = self._data.count_rows()
            numbers = [(i, int(i)) for i in ids if i.isdecimal() and int(i) < count]
        wanted = list(dict.fromkeys([*columns, *([self._vectors] if vectors or not columns else [])]))
        with asking(self._name, self.facts):
            part = self._data.take(_indices([n for _, n in numbers]), columns=wanted)
        return rows_of(part, [i for i, _ in numbers], columns, self._vectors if vectors else None, self._name)

    def _batches(self, columns: Sequence[str], size: int) -> Iterator[Any]:
        with asking(self._name, self.facts):
            for part in self._data.to_batches(columns=list(columns), batch_size=size):
                for start in range(0, part.num_rows, size):
                    yield part.slice(start, size)


class DatasetStore(ArrowFileStore):
    """A Hugging Face data set: saved to disk, or in memory as its own object."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "datasets",
        "a Hugging Face data set",
        "datasets:./saved?vectors=embedding&split=train",
        "pyarrow",
        client=("datasets",),
    )

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A ``datasets.Dataset``; of several splits one is named."""
        from unembed.errors import UsageError

        if isinstance(client, dict):
            split = name or options.split or next(iter(client))
            if split not in client or (len(client) > 1 and not (name or options.split)):
                raise UsageError(f"the data set has several splits: {', '.join(client)}; name one")
            client = client[split]
        if getattr(client, "_indices", None) is not None:
            client = client.flatten_indices()
        return cls(_Table(client.data.table), name or "data set", options)


class _Table:
    """An Arrow table, memory-mapped or not, with the few methods of a file data set that are used here."""

    def __init__(self, table: Any) -> None:
        self.table, self.schema = table, table.schema

    def count_rows(self) -> int:
        return int(self.table.num_rows)

    def take(self, rows: Any, columns: Sequence[str]) -> Any:
        return self.table.select(list(columns)).take(rows)

    def to_batches(self, columns: Sequence[str], batch_size: int) -> Iterator[Any]:
        yield from self.table.select(list(columns)).to_batches(max_chunksize=batch_size)


def _dataset(files: Sequence[Path], form: str) -> Any:
    import pyarrow as arrow
    import pyarrow.dataset as datasets

    if form == "parquet":
        return datasets.dataset([str(f) for f in files], format="parquet")
    tables = []
    for file in files:
        memory = arrow.memory_map(str(file))
        with file.open("rb") as stream:
            is_file = stream.read(6) == b"ARROW1"
        tables.append((arrow.ipc.open_file(memory) if is_file else arrow.ipc.open_stream(memory)).read_all())
    return _Table(arrow.concat_tables(tables))


def _indices(rows: Sequence[int]) -> Any:
    import pyarrow as arrow

    return arrow.array(rows, type=arrow.int64())
