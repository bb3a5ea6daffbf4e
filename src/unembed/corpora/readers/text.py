"""Plain text: one text per line, in a column called ``text``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from unembed.corpora.readers.fields import Field
from unembed.corpora.readers.options import ReadOptions
from unembed.corpora.readers.stream import lines


def rows(path: Path, options: ReadOptions, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """One dict per line."""
    wanted = columns is None or "text" in columns
    for line in lines(path, options, limit=options.max_cell):
        yield {"text": line} if wanted else {}


def fields(path: Path, options: ReadOptions) -> list[Field]:
    """The one column there is."""
    return [Field("text", True)]
