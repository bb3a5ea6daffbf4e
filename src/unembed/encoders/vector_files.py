"""Vectors from files: ``.npy`` ``.npz`` ``.safetensors`` ``.parquet`` ``.csv`` ``.tsv`` ``.jsonl``.

What can be memory-mapped is (``.npy`` and ``.safetensors``): a million vectors open at once and are read as
they are asked for. Values become float32 on reading, and every row read is checked to be finite.
"""

from __future__ import annotations

import csv
import json
import mmap
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import DenseVectors
from unembed.encoders.digests import file_digest
from unembed.errors import DataError, UnknownNameError, UsageError

_SAFETENSORS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4"} | {
    "I16": "<i2",
    "I8": "i1",
    "U8": "u1",
}
_PICKLED = "pickled Python objects, which are never loaded: save plain numbers"
_USUAL_NAMES = ("vectors", "vector", "embeddings", "embedding")


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Vectors as an array that converts and checks what is read of it, and reads no more than asked."""

    stored: NDArray[Any]
    path: Path
    #: The stored values are the upper halves of float32 numbers (bfloat16), which numpy has no type for.
    half_words: bool = False

    def __post_init__(self) -> None:
        if self.stored.dtype.kind not in "fiu":
            raise DataError(f"{self.path} holds {self.stored.dtype} values: expected real numbers")
        if self.stored.ndim != 2:
            raise DataError(f"{self.path} holds an array of shape {self.stored.shape}: expected (rows, dimension)")
        if 0 in self.stored.shape:
            raise DataError(f"{self.path} holds no vectors: its shape is {self.stored.shape}")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and dimension."""
        return self.stored.shape[0], self.stored.shape[1]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | list[int] | NDArray[np.intp]) -> DenseVectors:
        """The rows, as float32 [n, d]; NaN and infinity are errors that name the row."""
        raw = np.asarray(self.stored[rows])
        if self.half_words:
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        with np.errstate(over="ignore"):
            vectors = np.array(raw, dtype=np.float32, order="C")
        self._forget_pages()
        bad = ~np.isfinite(vectors).all(axis=1)
        if bad.any():
            row = int(np.arange(len(self))[rows][int(bad.argmax())])
            raise DataError(f"{self.path}, row {row}: NaN, infinity or a number too large for float32")
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
    if not path.is_file():
        raise DataError(f"no such file of vectors: {path}")
    ending = path.suffix.lower()
    if ending not in _READERS:
        raise UnknownNameError("ending of a file of vectors", ending or path.name, _READERS)
    if path.stat().st_size == 0:
        raise DataError(f"{path} is empty")
    if column is not None and ending in (".npy", ".csv", ".tsv"):
        raise UsageError(f"{path} has no named columns of vectors: leave 'column' out")
    return _READERS[ending](path, column)


def _npy(path: Path, column: str | None) -> VectorTable:
    with path.open("rb") as stream:
        is_numpy = stream.read(6) == b"\x93NUMPY"
    try:
        if not is_numpy:
            raise EOFError
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        if "object" in str(error).lower():
            raise DataError(f"{path} holds {_PICKLED}") from None
        raise DataError(f"{path} is no complete .npy file (cut short or damaged)") from None
    return VectorTable(stored, path)


def _npz(path: Path, column: str | None) -> VectorTable:
    try:
        with np.load(path, allow_pickle=False) as archive:
            return VectorTable(archive[_pick(archive.files, column, path, "array")], path)
    except (zipfile.BadZipFile, EOFError, OSError):
        raise DataError(f"{path} is no complete .npz file (cut short or damaged)") from None
    except ValueError:
        raise DataError(f"{path} holds {_PICKLED}") from None


def _safetensors(path: Path, column: str | None) -> VectorTable:
    damaged = DataError(f"{path} is no complete .safetensors file (cut short or damaged)")
    with path.open("rb") as stream:
        length = int.from_bytes(stream.read(8), "little")
        if length > path.stat().st_size - 8:
            raise damaged
        try:
            header = json.loads(stream.read(length))
            entries = {k: v for k, v in header.items() if k != "__metadata__"}
            entry = entries[_pick(list(entries), column, path, "tensor")]
            kind, shape, start = (
                str(entry["dtype"]),
                tuple(map(int, entry["shape"])),
                int(entry["data_offsets"][0]),
            )
        except (ValueError, KeyError, TypeError, AttributeError, IndexError):
            raise damaged from None
    if kind not in _SAFETENSORS:
        raise DataError(f"{path} holds {kind} values: expected real numbers")
    if 0 in shape:
        raise DataError(f"{path} holds no vectors: its shape is {shape}")
    try:
        stored: NDArray[Any] = np.memmap(path, _SAFETENSORS[kind], "r", 8 + length + start, shape)
    except (ValueError, OSError):
        raise damaged from None
    return VectorTable(stored, path, half_words=kind == "BF16")


def _parquet(path: Path, column: str | None) -> VectorTable:
    import pyarrow as arrow
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(path)
        lists = [f.name for f in schema if _is_list_of_numbers(f.type, arrow)]
        if column is not None and column in schema.names and column not in lists:
            raise DataError(f"{path}, column '{column}' holds {schema.field(column).type}: expected lists of numbers")
        name = _pick(lists, column, path, "list column")
        values = parquet.read_table(path, columns=[name])[name]
    except (arrow.ArrowException, OSError):
        raise DataError(f"{path} is no complete parquet file (cut short or damaged)") from None
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


def _delimited(path: Path, column: str | None) -> VectorTable:
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            lines = [(number, line) for number, line in enumerate(csv.reader(stream, delimiter=delimiter), 1) if line]
    except (UnicodeDecodeError, csv.Error):
        raise DataError(f"{path} is no table of numbers in UTF-8") from None
    if lines and not any(_is_number(cell) for cell in lines[0][1]):
        lines = lines[1:]
    rows = []
    for number, line in lines:
        if not all(_is_number(cell) for cell in line):
            place = next(i for i, cell in enumerate(line, 1) if not _is_number(cell))
            raise DataError(f"{path}, line {number}, column {place}: not a number")
        rows.append([float(cell) for cell in line])
    return _from_rows(rows, path)


def _jsonl(path: Path, column: str | None) -> VectorTable:
    rows: list[list[float]] = []
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except ValueError:
                raise DataError(f"{path}, line {number}: no valid JSON") from None
            if isinstance(found, dict):
                lists = [k for k, v in found.items() if isinstance(v, list)]
                found = found[_pick(lists, column, path, f"key with a list in line {number}")]
            if not isinstance(found, list) or not all(
                isinstance(x, int | float) and not isinstance(x, bool) for x in found
            ):
                raise DataError(f"{path}, line {number}: expected a list of numbers")
            rows.append(found)
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


def _is_list_of_numbers(kind: Any, arrow: Any) -> bool:
    types = arrow.types
    lists = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return bool(lists and (types.is_floating(kind.value_type) or types.is_integer(kind.value_type)))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True
