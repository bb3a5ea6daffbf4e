"""Columns of whatever holds rows: frames, Arrow tables, data sets; and values of whatever holds a column.

Nothing is imported to find out: an object is known by what it can do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from unembed.corpora.readers.fields import Field, looks_numeric, require_columns
from unembed.errors import UsageError

#: Values that are looked at to learn whether a column holds texts.
_LOOKED_AT = 200


def is_table(given: object) -> bool:
    """Whether something holds named columns: a pandas or polars frame, an Arrow table, a Hugging Face data set."""
    return not isinstance(given, type) and (hasattr(given, "column_names") or _is_frame(given))


def _is_frame(given: object) -> bool:
    return hasattr(given, "columns") and hasattr(given, "shape") and len(getattr(given, "shape", ())) == 2


class Table:
    """Columns by name, as plain lists."""

    def __init__(self, given: Any) -> None:
        names = given.column_names if hasattr(given, "column_names") else list(given.columns)
        if isinstance(names, Mapping):
            shown = ", ".join(map(str, names))
            raise UsageError(
                f"the data set has splits ({shown}): give one of them, as texts['{next(iter(names), '')}']"
            )
        if len(set(map(str, names))) < len(names):
            raise UsageError("two columns have the same name: rename one")
        self._given = given
        self._of = {str(name): name for name in names}

    def __contains__(self, name: object) -> bool:
        return name in self._of

    def __len__(self) -> int:
        return len(self._given)

    def raw(self, name: str) -> Any:
        """A column as the table holds it; an unknown name is an error with suggestions."""
        require_columns([name], self.fields, "the table")
        return self._given[self._of[name]]

    def column(self, name: str) -> list[Any]:
        """The values of a column."""
        return plain_values(self.raw(name))

    @property
    def fields(self) -> list[Field]:
        """The columns, and which of them can hold texts."""
        return [Field(name, *_kind(self._given, original)) for name, original in self._of.items()]


def _kind(table: Any, name: Any) -> tuple[bool, str]:
    """Whether the first values of a column are texts, and what they are otherwise."""
    head = plain_values(table[:_LOOKED_AT][name])
    kinds = {type(value).__name__ for value in head if value is not None}
    if kinds == {"str"} and all(looks_numeric(value) for value in head if value):
        return False, "numbers"
    return kinds <= {"str"}, ", ".join(sorted(kinds)) or "nothing"


def plain_values(given: Any) -> list[Any]:
    """A column, an array or a list as a list of Python's own values; what is missing is None."""
    for turn in ("to_pylist", "to_list", "tolist"):
        if callable(getattr(given, turn, None)):
            return [_plain(value) for value in getattr(given, turn)()]
    return [_plain(value) for value in given]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    if type(value).__name__ in ("NAType", "NaTType") or (isinstance(value, float) and math.isnan(value)):
        return None
    if callable(getattr(value, "item", None)) and getattr(value, "ndim", 0) == 0:
        return _plain(value.item())
    return value


def is_column(given: object) -> bool:
    """Whether something holds values in order: a list, a tuple, an array, a series, a column."""
    if isinstance(given, str | bytes | Mapping | set | frozenset):
        return False
    return isinstance(given, Sequence) or (hasattr(given, "__len__") and hasattr(given, "__getitem__"))


def name_of(given: object, otherwise: str) -> str:
    """What a column calls itself, as a series does."""
    named = getattr(given, "name", None)
    return named if isinstance(named, str) and named else otherwise


def framed(records: list[dict[str, Any]], library: str | None) -> Any:
    """Rows as a data frame of pandas or polars, whichever is installed."""
    from importlib import import_module
    from importlib.util import find_spec

    known = ("pandas", "polars")
    if library is not None and library not in known:
        raise UsageError(f"to_frame: 'pandas' or 'polars', not '{library}'")
    there = [name for name in ([library] if library else known) if find_spec(name) is not None]
    if not there:
        raise UsageError(f"a data frame needs {library or 'pandas or polars'}: pip install {library or 'pandas'}")
    return import_module(there[0]).DataFrame(records)
