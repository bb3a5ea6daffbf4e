"""Values of a user's column: what counts as missing, what as a number, and when numbers are more than class names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.games.asking import Audited

#: Quantities that are taken for classes are cut into so many ranges.
NUMERIC_BINS = 4
#: A column of numbers with more distinct values than this is one of quantities, not of classes.
MOST_NUMBERED_CLASSES = 20


def absent(value: Any) -> bool:
    """Whether a cell is empty."""
    return value is None or value == "" or (isinstance(value, float) and math.isnan(value))


def as_number(value: Any) -> float | None:
    """The number in a cell, also where a file spells it as text; None where there is no finite one."""
    if isinstance(value, bool) or absent(value) or (isinstance(value, str) and "_" in value):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def holds_quantities(values: Sequence[Any]) -> bool:
    """Whether every value of a column is a number and there are many different ones."""
    numbers = [as_number(v) for v in values if not absent(v)]
    return None not in numbers and len(set(numbers)) > MOST_NUMBERED_CLASSES


def first_of_classes(columns: Sequence[str], corpus: Corpus, params: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The first column whose values both sides must share; of quantities they need not share a single one."""
    as_classes = params.get("attribute", {}).get("numbers") == "classes"
    return next((c for c in columns if as_classes or not holds_quantities(corpus.column(c))), None)


def quantities(audited: Audited) -> list[str]:
    """Columns to infer whose values are quantities: the game of numbers asks for them where it is played."""
    if "number" not in audited.games or audited.given("attribute").get("numbers") == "classes":
        return []
    return [c for c in audited.columns if holds_quantities(audited.inside.column(c))]


def label_of(value: Any) -> str | None:
    """A cell as the name of a class; None where it is empty."""
    return None if absent(value) else str(value)


def as_labels(
    known: Sequence[Any], target: Sequence[Any], ranges: bool
) -> tuple[list[str | None], list[str | None], bool]:
    """Both sides' values as strings; with ``ranges`` a column of quantities is cut into some, which is said.

    The cuts come from the adversary's labels, which is what it knows.
    """
    if ranges and holds_quantities(known):
        numbers = [n for v in known if (n := as_number(v)) is not None]
        edges = np.unique(np.quantile(np.array(numbers), np.linspace(0, 1, NUMERIC_BINS + 1)[1:-1]))
        names = [f"range {i + 1}" for i in range(len(edges) + 1)]

        def cut(value: Any) -> str | None:
            number = as_number(value)
            return None if number is None else names[int(np.searchsorted(edges, number, side="right"))]

        return [cut(v) for v in known], [cut(v) for v in target], True
    return [label_of(v) for v in known], [label_of(v) for v in target], False
