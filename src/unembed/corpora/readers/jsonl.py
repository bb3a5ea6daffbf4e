"""JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from unembed.corpora.readers.fields import Field
from unembed.corpora.readers.options import ReadOptions
from unembed.corpora.readers.stream import lines
from unembed.errors import DataError

_PEEK_ROWS = 200
_KINDS = {"bool": "true/false", "int": "numbers", "float": "numbers", "list": "lists", "dict": "objects"}


def rows(path: Path, options: ReadOptions, columns: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """One dict per line; blank lines are passed over."""
    for number, line in enumerate(lines(path, options, limit=options.max_line), start=1):
        if not line or line.isspace():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise DataError(
                f"{path.name} line {number} is not JSON ({error.msg} at column {error.colno}); "
                "each line must be one whole object"
            ) from None
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path.name} line {number} is not usable JSON: too deep or too long a number") from error
        if not isinstance(row, dict):
            raise DataError(f'{path.name} line {number} is JSON but not an object; write one {{"text": …}} per line')
        yield row if columns is None else {name: row[name] for name in columns if name in row}


def fields(path: Path, options: ReadOptions) -> list[Field]:
    """The keys of the first objects."""
    kinds: dict[str, set[str]] = {}
    for row in islice(rows(path, options), _PEEK_ROWS):
        for name, value in row.items():
            kinds.setdefault(name, set()).add(type(value).__name__)
    return [Field(name, "str" in seen, _describe(seen)) for name, seen in kinds.items()]


def _describe(seen: set[str]) -> str:
    return next((_KINDS[kind] for kind in sorted(seen) if kind in _KINDS), "nothing")
