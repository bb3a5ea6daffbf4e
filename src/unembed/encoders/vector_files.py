"""Vectors from files: ``.npy`` ``.npz`` ``.safetensors`` ``.parquet`` ``.csv`` ``.tsv`` ``.jsonl``.

What can be memory-mapped is (``.npy`` and ``.safetensors``): a million vectors open at once and are read as
they are asked for. Values become float32 on reading, and every row read is checked to be finite.
"""

from __future__ import annotations

import csv
import json
import lzma
import math
import mmap
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.readers.fields import looks_numeric
from unembed.encoders.base import DenseVectors, first_unusable
from unembed.encoders.digests import file_digest
from unembed.errors import DataError, UnknownNameError, UsageError
from unembed.files import MAX_DOCUMENT, check_file, lines, opened, parsing, unpacked_limit

_SAFETENSORS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"} | {
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
}
_ROWS_AT_ONCE = 1024
_USUAL_NAMES = ("vectors", "vector", "embeddings", "embedding")


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Vectors as an array that converts and checks what is read of it, and reads no more than asked."""

    stored: NDArray[Any]
    path: Path
    #: The stored values are the upper halves of float32 numbers (bfloat16), which numpy has no type for.
    half_words: bool = False

    def __post_init__(self) -> None:
        _check_layout(self.stored.dtype, self.stored.shape, self.path)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and dimension."""
        return self.stored.shape[0], self.stored.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | list[int] | NDArray[np.intp]) -> DenseVectors:
        """The rows, as float32 [n, d]; NaN, infinity and numbers that are too large are errors that name the row."""
        raw = np.asarray(self.stored[rows])
        if self.half_words:
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            vectors = np.array(raw, dtype=np.float32, order="C")
        self._forget_pages()
        if (bad := first_unusable(vectors)) is not None:
            raise DataError(f"{self.path}, row {np.arange(len(self))[rows][bad[0]]}: {bad[1]}")
        return vectors

    def _forget_pages(self) -> None:
        """Let go of the pages of a memory map that were read: a pass over a file must not fill the memory."""
        mapped = getattr(self.stored, "_mmap", None)
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self[:].astype(dtype or np.float32, copy=False)

    def batches(self, size: int = 8192) -> Iterator[DenseVectors]:
        """All rows, a few at a time."""
        for start in range(0, len(self), size):
            yield self[start : start + size]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return file_digest(self.path)


def open_vectors(path: str | Path, *, column: str | None = None) -> VectorTable:
    """The vectors in a file; ``column`` names the array, tensor, column or key where there are several."""
    path = Path(path).expanduser()
    check_file(path, "file of vectors")
    ending = path.suffix.lower()
    if ending not in _READERS:
        raise UnknownNameError("ending of a file of vectors", ending or path.name, _READERS)
    if column is not None and ending in (".npy", ".csv", ".tsv"):
        raise UsageError(f"{path} has no named columns of vectors: leave 'column' out")
    return _READERS[ending](path, column)


def _check_layout(kind: np.dtype[Any], shape: tuple[int, ...], path: Path) -> None:
    if kind.hasobject:
        raise DataError(f"{path} holds pickled Python objects, which are never loaded: save plain numbers")
    if kind.kind not in "fiu":
        raise DataError(f"{path} holds {kind} values: expected real numbers")
    if len(shape) != 2:
        raise DataError(f"{path} holds an array of shape {shape}: expected (rows, dimension)")
    if 0 in shape:
        raise DataError(f"{path} holds no vectors: its shape is {shape}")


def _npy(path: Path, column: str | None) -> VectorTable:
    with opened(path) as stream:
        layout = _numpy_header(stream, path.stat().st_size, path)
        return VectorTable(np.memmap(path, mode="r", offset=stream.tell(), **layout), path)


def _npz(path: Path, column: str | None) -> VectorTable:
    """One array of an archive, unpacked only if the size that its member declares is within the limit."""
    try:
        with parsing(_damaged(path)), zipfile.ZipFile(path) as archive:
            members = {name.removesuffix(".npy"): archive.getinfo(name) for name in archive.namelist()}
            member = members[_pick(members, column, path, "array")]
            _check_expanded(member.file_size, path)
            with archive.open(member) as stream:
                layout = _numpy_header(stream, member.file_size, path)
                return VectorTable(np.ndarray(buffer=stream.read(), **layout), path)
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError, OSError):
        raise DataError(_damaged(path)) from None


def _numpy_header(stream: IO[bytes], size: int, path: Path) -> dict[str, Any]:
    """Type, shape and order of the array whose values come next in a stream of ``size`` bytes."""
    with parsing(_damaged(path)):
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, kind = read(stream)
    _check_layout(kind, shape, path)
    if min(shape) < 0 or math.prod(shape) * kind.itemsize > size - stream.tell():
        raise DataError(_damaged(path))
    return {"dtype": kind, "shape": shape, "order": "F" if fortran else "C"}


def _safetensors(path: Path, column: str | None) -> VectorTable:
    size = path.stat().st_size - 8
    with opened(path) as stream, parsing(_damaged(path)):
        length = int.from_bytes(stream.read(8), "little")
        if length > min(size, MAX_DOCUMENT):
            raise DataError(_damaged(path))
        entries = {k: v for k, v in json.loads(stream.read(length)).items() if k != "__metadata__"}
        entry = entries[_pick(entries, column, path, "tensor")]
        name, shape, (start, end) = str(entry["dtype"]), tuple(entry["shape"]), entry["data_offsets"]
        if name not in _SAFETENSORS:
            raise DataError(f"{path} holds {name} values: expected real numbers")
        kind = np.dtype(_SAFETENSORS[name])
        whole = all(type(number) is int and number >= 0 for number in (*shape, start, end))
        if not whole or end > size - length or end - start != math.prod(shape) * kind.itemsize:
            raise DataError(_damaged(path))
        _check_layout(kind, shape, path)
        stored: NDArray[Any] = np.memmap(path, kind, "r", 8 + length + start, shape)
    return VectorTable(stored, path, half_words=name == "BF16")


def _check_expanded(size: int, path: Path) -> None:
    """Refuse a packed file that expands to ``size`` bytes, if that is far more than vectors can."""
    limit = unpacked_limit(path.stat().st_size)
    if size > limit:
        raise DataError(f"{path} expands to more than {limit >> 20} MiB: not unpacked; save it as .npy")


def _damaged(path: Path) -> str:
    return f"{path} is not a complete {path.suffix.lower()} file (cut short or damaged)"


def _parquet(path: Path, column: str | None) -> VectorTable:
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        with parsing(_damaged(path)), parquet.ParquetFile(path) as file:
            schema = file.schema_arrow
            lists = [f.name for f in schema if is_list_of_numbers(f.type)]
            if column is not None and column in schema.names and column not in lists:
                kind = schema.field(column).type
                raise DataError(f"{path}, column '{column}' holds {kind}: expected lists of numbers")
            name = _pick(lists, column, path, "list column")
            values = _parquet_column(file, name, path)
    except (arrow.ArrowException, OSError):
        raise DataError(_damaged(path)) from None
    if values.null_count:
        row = values.is_null().to_pylist().index(True)
        raise DataError(f"{path}, column '{name}', row {row}: no vector")
    chunk = values.combine_chunks()
    lengths = chunk.value_lengths().to_numpy(zero_copy_only=False)
    _same_lengths(lengths, path)
    flat = chunk.flatten()
    if flat.null_count:
        row = flat.is_null().to_pylist().index(True) // int(lengths[0])
        raise DataError(f"{path}, column '{name}', row {row}: a number is missing")
    width = int(lengths[0]) if len(lengths) else 0
    return VectorTable(flat.to_numpy(zero_copy_only=False).reshape(len(lengths), width), path)


def _parquet_column(file: Any, name: str, path: Path) -> Any:
    """A column of lists, read in batches; what the file declares and what comes out of it stay within the limit.

    Equal numbers take next to no room in a parquet file, so a few kilobytes may hold billions of them.
    """
    import pyarrow as arrow

    kind = file.schema_arrow.field(name).type
    groups = (file.metadata.row_group(i) for i in range(file.num_row_groups))
    chunks = (group.column(i) for group in groups for i in range(group.num_columns))
    numbers = sum(chunk.num_values for chunk in chunks if chunk.path_in_schema.startswith(f"{name}."))
    _check_expanded(numbers * kind.value_type.bit_width // 8, path)
    found, size = [], 0
    for batch in file.iter_batches(batch_size=_ROWS_AT_ONCE, columns=[name]):
        batch.validate(full=True)
        size += batch.nbytes
        _check_expanded(size, path)
        found.append(batch.column(name))
    return arrow.chunked_array(found, kind)


def _delimited(path: Path, column: str | None) -> VectorTable:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    table = csv.reader(lines(path, "utf-8-sig", keep_ends=True), delimiter=delimiter)
    rows: list[list[float]] = []
    may_be_header = True
    try:
        for cells in filter(None, table):
            if all(map(looks_numeric, cells)):
                rows.append([float(cell) for cell in cells])
            elif not may_be_header or any(map(looks_numeric, cells)):
                place = next(i for i, cell in enumerate(cells, 1) if not looks_numeric(cell))
                raise DataError(f"{path}, line {table.line_num}, column {place}: not a number")
            may_be_header = False
    except csv.Error:
        raise DataError(f"{path} is not a table of numbers") from None
    return _from_rows(rows, path)


def _jsonl(path: Path, column: str | None) -> VectorTable:
    rows: list[list[float]] = []
    for number, line in enumerate(lines(path, "utf-8-sig"), 1):
        if not line.strip():
            continue
        with parsing(f"{path}, line {number}: not valid JSON, or nested too deep"):
            found = json.loads(line)
        if isinstance(found, dict):
            lists = [k for k, v in found.items() if isinstance(v, list)]
            found = found[_pick(lists, column, path, f"key with a list in line {number}")]
        if not isinstance(found, list) or not all(type(x) in (int, float) for x in found):
            raise DataError(f"{path}, line {number}: expected a list of numbers")
        with parsing(f"{path}, line {number}: a number is too large for float32"):
            rows.append([float(x) for x in found])
    return _from_rows(rows, path)


_READERS: dict[str, Callable[[Path, str | None], VectorTable]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".parquet": _parquet,
    ".csv": _delimited,
    ".tsv": _delimited,
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
}


def _from_rows(rows: list[list[float]], path: Path) -> VectorTable:
    _same_lengths(np.array([len(r) for r in rows]), path)
    return VectorTable(np.array(rows, dtype=np.float64).reshape(len(rows), -1 if rows else 0), path)


def _same_lengths(lengths: NDArray[Any], path: Path) -> None:
    differing = np.flatnonzero(lengths != lengths[0]) if len(lengths) else lengths
    if len(differing):
        row = int(differing[0])
        raise DataError(f"{path}, row {row}: {lengths[row]} dimensions where row 0 has {lengths[0]}")


def _pick(names: Iterable[str], wanted: str | None, path: Path, kind: str) -> str:
    known = list(names)
    if wanted is not None:
        if wanted not in known:
            raise UnknownNameError(f"{kind} of {path}", wanted, known)
        return wanted
    if len(known) == 1:
        return known[0]
    usual = [n for n in known if n.lower() in _USUAL_NAMES]
    if len(usual) == 1:
        return usual[0]
    if not known:
        raise DataError(f"{path} has no {kind}")
    raise DataError(f"{path} has {len(known)} candidates for the vectors; say which with column=: {known[:8]}")


def is_list_of_numbers(kind: Any) -> bool:
    """Whether an Arrow type can hold a vector per row."""
    import pyarrow.types as types

    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(lists and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)))
