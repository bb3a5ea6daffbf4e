"""CSV and TSV, row by row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from unembed.corpora.readers.fields import Field, check_names, looks_numeric
from unembed.corpora.readers.options import ReadOptions
from unembed.corpora.readers.stream import lines
from unembed.errors import DataError

_SNIFF_LINES = 200
_DELIMITERS = (",", ";", "\t", "|")


def delimiter_of(path: Path, options: ReadOptions) -> str:
    """The delimiter a file is read with: forced, a tab for tsv, else found in its first lines."""
    if options.delimiter is not None:
        return options.delimiter
    if options.format == "tsv":
        return "\t"
    first = list(islice(lines(path, options, limit=options.max_line, keep_ends=True), _SNIFF_LINES))
    return _find_delimiter(first, quotes=options.quotes)


def _find_delimiter(lines: Sequence[str], *, quotes: bool) -> str:
    """The delimiter under which the first lines have the same number of cells, and the most of them."""
    best, most = ",", 1
    for delimiter in _DELIMITERS:
        widths = _widths(lines, delimiter, quotes)
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    return best


def _widths(lines: Sequence[str], delimiter: str, quotes: bool) -> set[int]:
    try:
        rows = [
            row
            for row in csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
            if row
        ]
    except csv.Error:
        return set()
    if len(rows) > 2:
        rows = rows[:-1]  # the sample may end inside the last row
    return {len(row) for row in rows}


def rows(path: Path, options: ReadOptions, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """One dict of strings per row; a row with more or fewer cells than the header is an error."""
    reader = _reader(path, options)
    header = _header(reader, path)
    wanted = [(i, name) for i, name in enumerate(header) if columns is None or name in columns]
    number = 0
    while (cells := _next(reader, path, number + 1, options)) is not None:
        if not cells:
            continue
        number += 1
        if len(cells) != len(header):
            raise DataError(
                f"{path.name} row {number} (line {reader.line_num}) has {len(cells)} cells, "
                f"the header has {len(header)}; quote cells that hold the delimiter or pass delimiter="
            )
        yield {name: cells[i] for i, name in wanted}


def fields(path: Path, options: ReadOptions) -> list[Field]:
    """The header's columns; a column whose first values are all numbers does not count as text."""
    header = _header(_reader(path, options), path)
    texts: set[str] = set()
    empty = True
    for row in islice(rows(path, options), _SNIFF_LINES):
        texts.update(name for name, cell in row.items() if cell and name not in texts and not looks_numeric(cell))
        empty = False
    return [Field(name, empty or name in texts, "numbers") for name in header]


def _reader(path: Path, options: ReadOptions) -> Any:
    # The limit is the whole process's: it is only ever raised, and max_cell is what binds.
    if csv.field_size_limit() < options.max_cell:
        csv.field_size_limit(options.max_cell)
    return csv.reader(
        lines(path, options, limit=options.max_line, keep_ends=True),
        delimiter=delimiter_of(path, options),
        quoting=csv.QUOTE_MINIMAL if options.quotes else csv.QUOTE_NONE,
        strict=True,
    )


def _next(reader: Any, path: Path, number: int, options: ReadOptions) -> list[str] | None:
    try:
        return next(reader, None)
    except csv.Error as error:
        line = reader.line_num
        if "field limit" in str(error):
            raise DataError(
                f"{path.name} row {number}: a cell is longer than {options.max_cell:,} characters "
                f"(line {line}); a quote may be left open, or raise max_cell"
            ) from None
        raise DataError(
            f"{path.name} row {number} (line {line}) has a quote out of place; "
            "double it inside a cell, or pass quotes=False if quotes mean nothing here"
        ) from None


def _header(reader: Any, path: Path) -> list[str]:
    cells = _next(reader, path, 0, ReadOptions())
    while cells == []:
        cells = _next(reader, path, 0, ReadOptions())
    if cells is None:
        raise DataError(f"{path.name} is empty")
    header = [cell.strip() for cell in cells]
    check_names(header, path.name)
    return header
