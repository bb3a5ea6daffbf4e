"""Rows from Arrow batches: what Parquet files, data sets, LanceDB and DuckDB hand out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.collections.stores.base import Rows, stacked
from unembed.corpora.readers.fields import Field
from unembed.encoders.base import DenseVectors
from unembed.encoders.vector_files import is_list_of_numbers


def rows_of(
    batch: Any, ids: Sequence[str], columns: Sequence[str], vectors: str | None, what: str, dimension: int | None = None
) -> Rows:
    """The wanted columns of a record batch or table whose ids are known."""
    held = {name: batch.column(name).to_pylist() for name in columns}
    if vectors is None:
        return Rows(list(ids), held)
    made, missing = vectors_of(batch.column(vectors), what, dimension)
    return Rows(list(ids), held, made, missing)


def ids_of(column: Any) -> list[str]:
    """The values of a column of ids as strings."""
    return [str(value) for value in column.to_pylist()]


def vectors_of(column: Any, what: str, dimension: int | None = None) -> tuple[DenseVectors, NDArray[np.bool_] | None]:
    """A list column as one array, without a Python object per number where no row is missing or of another length."""
    import pyarrow as arrow

    if isinstance(column, arrow.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, arrow.ChunkedArray):
            column = arrow.concat_arrays(column.chunks) if column.num_chunks else arrow.array([], column.type)
    if not len(column):
        return np.zeros((0, dimension or 0), dtype=np.float32), None
    kind = column.type
    if arrow.types.is_binary(kind) or arrow.types.is_large_binary(kind):
        return stacked([None if v is None else np.frombuffer(v, dtype="<f4") for v in column.to_pylist()], what)
    if not column.null_count:
        width = kind.list_size if arrow.types.is_fixed_size_list(kind) else _one_width(column)
        flat = column.flatten()
        if width and not flat.null_count and len(flat) == width * len(column):
            numbers = flat.to_numpy(zero_copy_only=False)
            return np.array(numbers, dtype=np.float32).reshape(len(column), width), None
    return stacked([None if v is None else _row(v) for v in column.to_pylist()], what)


def vector_columns(schema: Any) -> list[str]:
    """The columns of a schema that can hold vectors."""
    return [field.name for field in schema if is_list_of_numbers(field.type)]


def number_type(kind: Any) -> str:
    """How the numbers of a list column lie there."""
    return {"halffloat": "float16", "float": "float32", "double": "float64"}.get(
        str(kind.value_type), str(kind.value_type)
    )


def width_of(kind: Any) -> int | None:
    """The dimension, where the type of the column says it."""
    return int(kind.list_size) if hasattr(kind, "list_size") and kind.list_size > 0 else None


def fields_of_schema(schema: Any, but: Sequence[str | None]) -> tuple[Field, ...]:
    """The columns beside ids and vectors."""
    from unembed.corpora.readers.arrow import is_text

    return tuple(Field(f.name, is_text(f.type), str(f.type)[:40]) for f in schema if f.name not in but)


def _row(values: Sequence[Any]) -> NDArray[np.float32]:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float32)


def _one_width(column: Any) -> int:
    lengths = column.value_lengths().to_numpy(zero_copy_only=False)
    return int(lengths[0]) if (lengths == lengths[0]).all() else 0
