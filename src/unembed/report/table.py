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

COLUMNS = (
    "id",
    "game",
    "attack",
    "adversary",
    "encoder",
    "defense",
    "adaptive",
    "subject",
    "metric",
    "value",
    "low",
    "high",
    "n",
    "floor",
    "excess",
    "excess_low",
    "excess_high",
    "headroom",
    "status",
    "level",
    "trusted",
    "detects",
    "pairs",
    "queries",
    "targets",
    "fit_seconds",
    "run_seconds",
    "seed",
    "curve",
    *_SECONDARY,
)

#: What a spreadsheet may read as the start of a formula: at the start of a cell, or behind what another set of
#: regional settings takes for the end of one. Full-width signs count as plain ones in some.
_FORMULA = re.compile(r"(^|[;|\t\r\n])(\s*)([=+\-@＝＋－＠])")


def rows(run: Run) -> list[dict[str, Any]]:
    """One flat record per finding; values that could not be measured are None."""
    return [_row(finding) for finding in run.findings]


def _row(f: Finding) -> dict[str, Any]:
    record: dict[str, Any] = {
        "id": f.id,
        "game": f.game,
        "attack": f.attack,
        "adversary": f.adversary,
        "encoder": f.encoder,
        "defense": f.defense,
        "adaptive": f.adaptive,
        "subject": f.subject,
        "metric": f.metric,
        "value": f.estimate.value,
        "low": f.estimate.low,
        "high": f.estimate.high,
        "n": f.estimate.n,
        "floor": f.floor.value,
        "excess": f.excess.value,
        "excess_low": f.excess.low,
        "excess_high": f.excess.high,
        "headroom": f.headroom,
        "status": f.status,
        "level": f.level,
        "trusted": f.trust.trusted,
        "detects": f.detects.size if f.detects else None,
        "pairs": f.cost.pairs,
        "queries": f.cost.queries,
        "targets": f.cost.targets,
        "fit_seconds": f.cost.fit_seconds,
        "run_seconds": f.cost.run_seconds,
        "seed": f.seed,
        "curve": f.curve,
        **{name: f.secondary[name].value if name in f.secondary else None for name in _SECONDARY},
    }
    return {k: None if isinstance(v, float) and math.isnan(v) else v for k, v in record.items()}


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
