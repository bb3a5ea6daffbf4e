"""A column as the readers see it, and the choice of the one that holds the text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from unembed.errors import DataError, UnknownNameError, UsageError

TEXT_NAMES = ("text", "sentence", "content", "body", "message", "document")
_NAME = re.compile(r"(?:[^\W\d][\w.:/-]{0,39})?")


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


def looks_like_a_name(column: str) -> bool:
    """Whether a column may be named in a message: a short identifier, or empty as an index column's name is.

    The first row of a file without a header is taken for one, and its cells are somebody's texts.
    """
    return _NAME.fullmatch(column) is not None


def called(column: str) -> str:
    """How a message calls a column that the user did not name."""
    return f"column '{column}'" if looks_like_a_name(column) else "a column"


def check_names(names: Sequence[str], where: str) -> None:
    """No two columns may have one name."""
    first: dict[str, int] = {}
    for place, name in enumerate(names, start=1):
        if first.setdefault(name, place) != place:
            raise DataError(f"{where}: columns {first[name]} and {place} have the same name; rename one")


def choose_text_column(fields: Sequence[Field], where: str) -> str:
    """The only or obvious text column; anything else is an error that lists the columns."""
    texts = [field.name for field in fields if field.is_text]
    by_lower = {name.lower(): name for name in reversed(texts)}
    for name in TEXT_NAMES:
        if name in by_lower:
            return by_lower[name]
    if len(texts) == 1 and looks_like_a_name(texts[0]):
        return texts[0]
    names = _shown(fields)
    shown = ", ".join(name or "''" for name in names[:30]) + (", …" if len(names) > 30 else "")
    listed = f"columns: {shown}" if names else _unlisted(fields)
    if not texts:
        raise DataError(f"{where} has no column of text ({listed})")
    raise UsageError(f"{where}: which column holds the text? Pass column=… ({listed})")


def require_columns(
    wanted: Sequence[str], fields: Sequence[Field], where: str, there: Collection[str] | None = None
) -> None:
    """An error with suggestions for the first wanted column that is not ``there``: among the fields, unless told."""
    present = {field.name for field in fields} if there is None else there
    for name in wanted:
        if name not in present:
            names = _shown(fields)
            hint = f"in {where}" if names else f"in {where}: {_unlisted(fields)}"
            raise UnknownNameError("column", name, names, hint=hint)


def _shown(fields: Sequence[Field]) -> list[str]:
    names = [field.name for field in fields]
    return names if all(map(looks_like_a_name, names)) else []


def _unlisted(fields: Sequence[Field]) -> str:
    return f"{len(fields)} columns, not listed because they don't look like names; is the header missing?"
