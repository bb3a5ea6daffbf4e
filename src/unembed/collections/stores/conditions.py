"""Conditions on columns, one small language for all stores: ``COLUMN=VALUE``, also with ``!= < <= > >=``.

Not the store's own language: an audit file may come from somebody else, and a condition must not be able to call
functions of a database.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unembed.corpora.readers.fields import Field, looks_numeric, require_columns
from unembed.errors import UsageError

_FORM = re.compile(r"\s*([^<>=!]+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*", re.DOTALL)
COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Condition:
    """A column compared with a value; rows without a value never meet it."""

    column: str
    compare: str
    value: str | int | float | bool


def parse_condition(text: str) -> Condition:
    """``topic=news`` and its like; the value becomes what the column holds once that is known."""
    found = _FORM.fullmatch(text)
    if not found:
        raise UsageError("?where= takes COLUMN=VALUE, or one of != < <= > >= in the place of =")
    return Condition(found[1], found[2], found[3])


def typed(conditions: Sequence[Condition], fields: Sequence[Field], where: str) -> tuple[Condition, ...]:
    """The conditions with values of the type of their column; an unknown column is an error with suggestions."""
    require_columns([c.column for c in conditions], fields, where)
    kinds = {field.name: field for field in fields}
    return tuple(Condition(c.column, c.compare, _value(str(c.value), kinds[c.column])) for c in conditions)


def _value(told: str, field: Field) -> str | int | float | bool:
    kind = field.kind.lower()
    if field.is_text:
        return told
    if "bool" in kind and told.lower() in ("true", "false"):
        return told.lower() == "true"
    if looks_numeric(told):
        number = float(told)
        return int(told) if re.fullmatch(r"[+-]?\d+", told) else number
    return told


def holds(conditions: Sequence[Condition], row: Mapping[str, Any]) -> bool:
    """Whether a row meets all conditions, for stores that can't be asked."""
    for condition in conditions:
        value = row.get(condition.column)
        try:
            if value is None or not COMPARE[condition.compare](value, condition.value):
                return False
        except TypeError:
            return False
    return True


def as_sql(conditions: Sequence[Condition], quoted: Callable[[str], str], mark: str) -> tuple[str, list[Any]]:
    """The conditions as SQL with a mark for each value, and the values."""
    parts = [f"{quoted(c.column)} {'<>' if c.compare == '!=' else c.compare} {mark}" for c in conditions]
    return " AND ".join(parts), [c.value for c in conditions]


def quoted_name(name: str) -> str:
    """An SQL name in double quotes."""
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def as_literal_sql(conditions: Sequence[Condition], quoted: Callable[[str], str], equal: str = "=") -> str:
    """The conditions as an expression with literals, for stores whose filter is one string."""
    parts = []
    for c in conditions:
        compare = {"=": equal}.get(c.compare, c.compare)
        parts.append(f"{quoted(c.column)} {compare} {literal(c.value)}")
    return " AND ".join(parts)


def literal(value: str | int | float | bool, *, escape: str = "''") -> str:
    """A value as an SQL literal."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return "'" + value.replace("'", escape) + "'"
