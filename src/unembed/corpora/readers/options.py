"""How a file is to be read: what the caller forces, and the caps that keep memory bounded."""

from __future__ import annotations

from dataclasses import dataclass

from unembed.errors import UnknownNameError, UsageError

FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "txt")
"""The formats by name; ``arrow`` is also what a Hugging Face ``save_to_disk`` folder holds."""

MAX_CELL = 1 << 20
"""Characters a single cell may hold unless the caller says otherwise."""

_CELLS_PER_LINE = 16


@dataclass(frozen=True)
class ReadOptions:
    """Settings of one reading; None means *find out*."""

    format: str | None = None
    encoding: str | None = None
    delimiter: str | None = None
    quotes: bool = True
    max_cell: int = MAX_CELL

    def __post_init__(self) -> None:
        if self.format is not None and self.format not in FORMATS:
            raise UnknownNameError("format", self.format, FORMATS)
        if self.encoding is not None:
            _check_encoding(self.encoding)
        if self.delimiter is not None and (len(self.delimiter) != 1 or self.delimiter in '"\r\n\0'):
            raise UsageError("delimiter must be one character, such as ',' or ';', and no quote or line end")
        if self.max_cell < 1:
            raise UsageError(f"max_cell must be at least 1, not {self.max_cell}")

    @property
    def max_line(self) -> int:
        """Characters one line may hold: several cells of the largest size."""
        return self.max_cell * _CELLS_PER_LINE


def _check_encoding(encoding: str) -> None:
    try:
        "a".encode(encoding)  # an empty string would not be looked up
    except (LookupError, UnicodeError, ValueError):
        raise UsageError(f"unknown text encoding '{encoding}'; try 'utf-8', 'latin-1', 'cp1252' or 'utf-16'") from None
