"""Rows of any supported file, streamed, and the corpus made of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from unembed import seeds
from unembed.corpora.corpus import Corpus
from unembed.corpora.readers import arrow, delimited, jsonl, text
from unembed.corpora.readers.fields import Field, called, choose_text_column, require_columns
from unembed.corpora.readers.options import MAX_CELL, ReadOptions
from unembed.corpora.readers.source import Source, find_source
from unembed.corpora.readers.stream import encoding_of
from unembed.errors import DataError, UsageError

_READERS: dict[str, ModuleType] = {
    "csv": delimited,
    "tsv": delimited,
    "jsonl": jsonl,
    "txt": text,
    "parquet": arrow,
    "arrow": arrow,
}


@dataclass(frozen=True)
class ReadReport:
    """What a reading met: counts and what was found out about the file."""

    name: str
    format: str
    files: int
    text_column: str
    encoding: str | None
    delimiter: str | None
    rows: int
    """Rows in the files."""
    empty: int
    """Rows skipped because their text is missing or blank."""
    kept: int
    """Rows in the corpus."""
    sampled: bool
    """Whether the corpus is a random sample because there were more rows than ``max_rows``."""


def iter_rows(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    max_cell: int = MAX_CELL,
) -> Iterator[dict[str, Any]]:
    """Rows as dicts, one at a time, in constant memory; all columns unless some are named.

    Cells of csv, tsv and txt are strings; the other formats keep their own types.
    """
    options = ReadOptions(format, encoding, delimiter, quotes, max_cell)
    source = find_source(path, options)
    return _rows(source, _resolved(options, source), None if columns is None else list(columns))


def read_ids(path: str | Path, column: str) -> list[str]:
    """The ids in a column of a file, one per row and each of them once; nothing else of the file is kept."""
    return _ids(enumerate(iter_rows(path, columns=[column])), column, str(path))


def read_corpus(
    path: str | Path,
    *,
    column: str | None = None,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    max_cell: int = MAX_CELL,
    max_rows: int | None = None,
    seed: int = 0,
) -> Corpus:
    """The texts of a file as a corpus; see :func:`read_corpus_with_report` for the details."""
    corpus, _ = read_corpus_with_report(
        path,
        column=column,
        columns=columns,
        id_column=id_column,
        format=format,
        encoding=encoding,
        delimiter=delimiter,
        quotes=quotes,
        max_cell=max_cell,
        max_rows=max_rows,
        seed=seed,
    )
    return corpus


def read_corpus_with_report(
    path: str | Path,
    *,
    column: str | None = None,
    columns: Sequence[str] | None = None,
    id_column: str | None = None,
    format: str | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
    max_cell: int = MAX_CELL,
    max_rows: int | None = None,
    seed: int = 0,
) -> tuple[Corpus, ReadReport]:
    """The texts of a file as a corpus, and the counts of the reading.

    Args:
        path: A file, a folder of shards, or a saved Hugging Face data set (``folder#split``).
        column: The column with the text; the only or obvious one if not named.
        columns: Further columns to keep (attribute, group, time).
        id_column: The column with unique ids; row numbers, from 0, if not named.
        format: csv, tsv, jsonl, parquet, arrow or txt, when the name does not tell.
        encoding: Forces the encoding of a text file.
        delimiter: Forces the delimiter of a csv file.
        quotes: Whether a double quote encloses cells in csv and tsv.
        max_cell: The most characters a text may have.
        max_rows: Keeps a uniform sample of this size, in file order, when there are more rows.
        seed: Of that sample.
    """
    if max_rows is not None and max_rows < 1:
        raise UsageError(f"max_rows must be at least 1, not {max_rows}")
    options = ReadOptions(format, encoding, delimiter, quotes, max_cell)
    source = find_source(path, options)
    options = _resolved(options, source)
    fields: list[Field] = _READERS[source.format].fields(source.files[0], options)
    chosen = choose_text_column(fields, source.name) if column is None else column
    extra = [name for name in dict.fromkeys(columns or ()) if name not in (chosen, id_column)]
    wanted = list(dict.fromkeys([chosen, *extra, *([id_column] if id_column else [])]))
    if source.format != "jsonl":  # an object may lack a key that a later one has
        require_columns(wanted, fields, source.name)
    for field in fields:
        if field.name == chosen and not field.is_text and source.format not in ("csv", "tsv"):
            raise DataError(f"{source.name}: column '{chosen}' holds {field.kind}, not text")

    pick = Picker(max_rows, seed)
    seen: set[str] = set()
    number = empty = 0
    for number, row in enumerate(_rows(source, options, wanted), start=1):
        seen.update(row)
        value = row.get(chosen)
        if value is not None and not isinstance(value, str):
            kind = type(value).__name__
            raise DataError(f"{source.name} row {number}: column '{chosen}' holds a value of type {kind}, not text")
        if value is None or not value or value.isspace():
            empty += 1
            continue
        pick.offer(number - 1, row)
    _check_seen(wanted, seen, fields, source, number, empty)

    kept = pick.kept()
    ids = [str(n) for n, _ in kept] if id_column is None else _ids(kept, id_column, source.name)
    blank = "" if source.format in ("csv", "tsv") else None
    keep = [*extra, *([id_column] if id_column and id_column in (columns or ()) else [])]
    corpus = Corpus(
        [row[chosen] for _, row in kept],
        ids,
        {name: [None if (v := row.get(name)) == blank else v for _, row in kept] for name in keep},
        source.name,
    )
    is_text = source.format not in ("parquet", "arrow")
    report = ReadReport(
        name=source.name,
        format=source.format,
        files=len(source.files),
        text_column=chosen,
        encoding=encoding_of(source.files[0], options) if is_text else None,
        delimiter=delimited.delimiter_of(source.files[0], options) if source.format in ("csv", "tsv") else None,
        rows=number,
        empty=empty,
        kept=len(kept),
        sampled=len(kept) < number - empty,
    )
    return corpus, report


def _resolved(options: ReadOptions, source: Source) -> ReadOptions:
    return dataclasses.replace(options, format=source.format)


def _rows(source: Source, options: ReadOptions, columns: list[str] | None) -> Iterator[dict[str, Any]]:
    reader, number = _READERS[source.format], 0
    for file in source.files:
        if columns is not None and source.format != "jsonl":
            require_columns(columns, reader.fields(file, options), file.name)
        for row in reader.rows(file, options, columns):
            number += 1
            for name, value in row.items():
                if isinstance(value, str):
                    check_cell(value, name, number, source.name, options.max_cell)
            yield row


def check_cell(value: str, column: str, number: int, where: str, max_cell: int) -> None:
    """Refuse a cell that is too long or no text."""
    if len(value) > max_cell:
        raise DataError(
            f"{where} row {number}: {called(column)} has a cell of {len(value):,} characters, more than "
            f"{max_cell:,}; split the text or raise max_cell"
        )
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{where} row {number}: {called(column)} holds half a character (a lone surrogate); repair the file"
            ) from None


def _check_seen(
    wanted: list[str], seen: set[str], fields: Sequence[Field], source: Source, rows: int, empty: int
) -> None:
    if rows == 0:
        raise DataError(f"{source.name} has no rows" + (" after its header" if source.format in ("csv", "tsv") else ""))
    require_columns(wanted, fields, source.name, seen)
    if empty == rows:
        raise DataError(f"{source.name}: all {rows} texts in column '{wanted[0]}' are empty")


def _ids(kept: Iterable[tuple[int, dict[str, Any]]], column: str, where: str) -> list[str]:
    first: dict[str, int] = {}
    for number, row in kept:
        value = row.get(column)
        if value is None or value == "" or isinstance(value, (list, dict, bool, float)):
            raise DataError(
                f"{where} row {number + 1}: column '{column}' holds no usable id (a string or a whole number)"
            )
        if (other := first.setdefault(str(value), number)) != number:
            raise DataError(
                f"{where}: rows {other + 1} and {number + 1} have the same id in column '{column}'; "
                "ids must be unique, or leave id_column out"
            )
    return list(first)


class Picker:
    """All rows, or a uniform sample of ``size`` in one pass: reservoir sampling with skips (Li 1994)."""

    def __init__(self, size: int | None, seed: int) -> None:
        self._size, self._rng = size, seeds.generator(seed, "corpora", "sample")
        self._rows: list[tuple[int, dict[str, Any]]] = []
        self._offered, self._next, self._w = 0, -1, 1.0

    def _skip(self, size: int) -> None:
        self._w *= math.exp(math.log(1.0 - self._rng.random()) / size)
        if self._w == 0.0:  # underflow: the chance that any later row enters is nil
            self._next = -1
            return
        gap = math.log(1.0 - self._rng.random()) / math.log1p(-self._w) if self._w < 1.0 else 0.0
        self._next = self._offered + int(gap)

    def offer(self, number: int, row: dict[str, Any]) -> None:
        """The next row, with its number."""
        if self._size is None or len(self._rows) < self._size:
            self._rows.append((number, row))
            self._offered += 1
            if len(self._rows) == self._size:
                self._skip(self._size)
            return
        if self._offered == self._next:
            self._rows[int(self._rng.integers(self._size))] = (number, row)
            self._offered += 1
            self._skip(self._size)
            return
        self._offered += 1

    def kept(self) -> list[tuple[int, dict[str, Any]]]:
        """The rows of the sample with their numbers, in order."""
        return sorted(self._rows, key=lambda item: item[0])
