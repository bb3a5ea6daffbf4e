"""Parquet files and Arrow IPC files (what a Hugging Face ``save_to_disk`` folder holds), batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from unembed.corpora.readers.fields import Field, check_names
from unembed.corpora.readers.options import ReadOptions
from unembed.errors import DataError
from unembed.files import check_file, opened

_BATCH = 1024
_FILE_MAGIC = b"ARROW1"


def rows(path: Path, options: ReadOptions, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """One dict of Python values per row; only the wanted columns are decoded."""
    with _arrow(path):
        batches = _parquet_batches(path, columns) if options.format == "parquet" else _ipc_batches(path)
        for batch in batches:
            batch.validate(full=True)  # offsets that point elsewhere would end the process
            names = [n for n in batch.schema.names if columns is None or n in columns]
            for start in range(0, batch.num_rows, _BATCH):
                part = batch.slice(start, _BATCH)
                values = [part.column(name).to_pylist() for name in names]
                for row in range(part.num_rows):
                    yield {name: column[row] for name, column in zip(names, values, strict=True)}


def fields(path: Path, options: ReadOptions) -> list[Field]:
    """The columns of the file's schema."""
    with _arrow(path):
        if options.format == "parquet":
            import pyarrow.parquet as pq

            with pq.ParquetFile(path) as file:
                schema = file.schema_arrow
        else:
            with _ipc(path) as reader:
                schema = reader.schema
        check_names(schema.names, path.name)
        return [Field(field.name, is_text(field.type), str(field.type)[:40]) for field in schema]


def is_text(kind: Any) -> bool:
    """Whether an Arrow type holds strings."""
    import pyarrow.types as types

    if types.is_dictionary(kind):
        kind = kind.value_type
    return bool(types.is_string(kind) or types.is_large_string(kind) or str(kind) == "string_view")


@contextmanager
def _arrow(path: Path) -> Iterator[None]:
    import pyarrow as pa

    check_file(path)
    try:
        yield
    except (OSError, pa.ArrowException, ValueError, NotImplementedError, OverflowError) as error:
        raise DataError(f"{path.name} can't be read: damaged, cut short or not of that format") from error


def _parquet_batches(path: Path, columns: list[str] | None) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        wanted = None if columns is None else [n for n in file.schema_arrow.names if n in columns]
        yield from file.iter_batches(batch_size=_BATCH, columns=wanted)


def _ipc_batches(path: Path) -> Iterator[Any]:
    with _ipc(path) as reader:
        if hasattr(reader, "num_record_batches"):
            for number in range(reader.num_record_batches):
                yield reader.get_batch(number)
        else:
            yield from reader


@contextmanager
def _ipc(path: Path) -> Iterator[Any]:
    import pyarrow as pa

    with opened(path) as file:
        is_file = file.read(len(_FILE_MAGIC)) == _FILE_MAGIC
    with pa.memory_map(str(path)) as memory:
        yield pa.ipc.open_file(memory) if is_file else pa.ipc.open_stream(memory)
