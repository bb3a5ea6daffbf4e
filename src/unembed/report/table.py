"""The findings as a flat table: one row each, numbers unrounded."""

from __future__ import annotations

import csv
import io
import math
import re
from typing import Any

from unembed.report.clean import cleaned
from unembed.report.words import TEXT_SHARES
from unembed.results.schema import Finding, Run

#: Secondary metrics with a column of their own, empty for findings that have none.
_SECONDARY = ("content_precision", "content_recall", *TEXT_SHARES, "original_name_recall")

#: Columns with the place of their value in a finding.
_PLACES = {
    **{name: name for name in ("id", "game", "attack", "adversary", "encoder", "defense", "adaptive", "subject")},
    "metric": "metric",
    **{name: f"estimate.{name}" for name in ("value", "low", "high", "n")},
    "floor": "floor.value",
    "excess": "excess.value",
    "excess_low": "excess.low",
    "excess_high": "excess.high",
    **{name: name for name in ("headroom", "status", "level")},
    "trusted": "trust.trusted",
    "detects": "detects.size",
    **{name: f"cost.{name}" for name in ("pairs", "queries", "targets", "fit_seconds", "run_seconds")},
    "seed": "seed",
    "curve": "curve",
    **{name: f"secondary.{name}.value" for name in _SECONDARY},
}
COLUMNS = tuple(_PLACES)

#: What a spreadsheet may read as the start of a formula: at the start of a cell, or behind what another set of
#: regional settings takes for the end of one. Full-width signs count as plain ones in some.
_FORMULA = re.compile(r"(^|[;|\t\r\n])(\s*)([=+\-@＝＋－＠])")


def rows(run: Run) -> list[dict[str, Any]]:
    """One flat record per finding; values that could not be measured are None."""
    return [{column: _at(finding, place) for column, place in _PLACES.items()} for finding in run.findings]


def _at(finding: Finding, place: str) -> Any:
    """The value at a place; None where there is none."""
    value: Any = finding
    for name in place.split("."):
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return None if isinstance(value, float) and math.isnan(value) else value


def render_csv(run: Run) -> str:
    """The table as CSV; an apostrophe stands before what a spreadsheet would run as a formula."""
    out = io.StringIO()
    records = rows(cleaned(run))
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for record in records:
        writer.writerow({key: _safe(value) for key, value in record.items()})
    return out.getvalue()


def _safe(value: Any) -> Any:
    return _FORMULA.sub(r"\1\2'\3", value) if isinstance(value, str) else value
