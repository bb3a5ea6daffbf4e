"""What the vectors are good for, before and after each defense: one table, the same in every report."""

from __future__ import annotations

from typing import Final

from unembed.metrics.estimate import Estimate
from unembed.report.numbers import MISSING, difference, number, with_interval
from unembed.results.schema import Run, UtilityScore

HEADING: Final = "What are the vectors still good for?"
LEAD: Final = "What a defense costs stands beside what it saves: plain vectors minus defended ones, on the same texts."
HEAD: Final = ("Use", "Vectors", "Result", "Lost", "Notes")


def rows(run: Run) -> list[tuple[str, ...]]:
    """One row per task and variant; nothing where no task was asked for."""
    return [
        (
            _title(score),
            score.variant or "plain",
            "no result" if score.error else _result(score.estimate, score.metric),
            MISSING if score.loss is None or score.error else _lost(score.loss, score.metric),
            "; ".join([score.error] if score.error else score.notes),
        )
        for score in run.utility
    ]


def meanings(run: Run) -> list[str]:
    """What each metric says, once."""
    return list(dict.fromkeys(f"{s.metric.replace('_', ' ')}: {s.metric_meaning}" for s in run.utility))


def _title(score: UtilityScore) -> str:
    given = ", ".join(f"{name}={value}" for name, value in score.params.items())
    return f"{score.title} ({given})" if given else score.title


def _result(estimate: Estimate, metric: str) -> str:
    """What holds by definition has no interval."""
    return with_interval(estimate, metric) if estimate.low < estimate.high else number(estimate.value, metric)


def _lost(loss: Estimate, metric: str) -> str:
    """``12.0 points [10.1 to 13.9]``; what was gained has a minus sign."""
    value, low, high = (difference(v, metric).removeprefix("+") for v in (loss.value, loss.low, loss.high))
    return f"{value} [{low.removesuffix(' points')} to {high.removesuffix(' points')}]"
