"""A column as the readers see it, and the choice of the one that holds the text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unembed.errors import DataError, UnknownNameError, UsageError

TEXT_NAMES = ("text", "sentence", "content", "body", "message", "document")


@dataclass(frozen=True)
class Field:
    """A column: its name, whether it can hold texts, and what it holds otherwise."""

    name: str
    is_text: bool
    kind: str = "text"


def looks_numeric(value: str) -> bool:
    """Whether a cell is a plain number."""
    try:
        float(value)
    except ValueError:
        return False
    return True


def choose_text_column(fields: Sequence[Field], where: str) -> str:
    """The only or obvious text column; anything else is an error that lists the columns."""
    texts = [field.name for field in fields if field.is_text]
    by_lower = {name.lower(): name for name in reversed(texts)}
    for name in TEXT_NAMES:
        if name in by_lower:
            return by_lower[name]
    if len(texts) == 1:
        return texts[0]
    shown = ", ".join(field.name for field in fields[:30]) + (", …" if len(fields) > 30 else "")
    if not texts:
        raise DataError(f"{where} has no column of text (columns: {shown})")
    raise UsageError(f"{where}: which column holds the text? Pass column=… (columns: {shown})")


def require_columns(wanted: Sequence[str], fields: Sequence[Field], where: str) -> None:
    """An error with suggestions for the first wanted column that is not there."""
    names = [field.name for field in fields]
    for name in wanted:
        if name not in names:
            raise UnknownNameError("column", name, names, hint=f"in {where}")
