"""A file of vectors as a source."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from unembed.encoders.parameters import Parameters
from unembed.encoders.vector_files import VectorTable, open_vectors
from unembed.errors import UsageError
from unembed.sources.base import VectorBatch

__all__ = ["FileSource", "VectorTable", "open_vectors"]


class FileSource(Parameters):
    """Vectors in a file, memory-mapped where the format allows; ids are row numbers."""

    shorthand: ClassVar[str] = "path"

    def __init__(self, path: str, *, column: str | None = None) -> None:
        self.path = path
        self.column = column

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return Path(self.path).name

    @property
    def count(self) -> int:
        """Rows of the file."""
        return len(self._table)

    @property
    def dimension(self) -> int:
        """Numbers per row."""
        return self._table.shape[1]

    def batches(self, size: int = 1024) -> Iterator[VectorBatch]:
        """All rows, in order."""
        if size < 1:
            raise UsageError("a batch holds at least one vector")
        start = 0
        for vectors in self._table.batches(size):
            yield VectorBatch([str(row) for row in range(start, start + len(vectors))], vectors)
            start += len(vectors)

    @cached_property
    def _table(self) -> VectorTable:
        return open_vectors(self.path, column=self.column)
