"""Numbers as people read them: rates in percent, scores with three digits, always with the interval."""

from __future__ import annotations

import datetime
import math

from unembed.metrics.estimate import Estimate

#: Scores that look like rates and are none: an area, a harmonic mean, an overlap, an error in the unit of a column.
_SCORES = (
    *("auc", "f1", "bleu", "rouge", "cosine", "correlation", "mcc", "ratio", "r2", "ndcg", "distance"),
    "absolute_error",
)

MISSING = "–"


def is_rate(metric: str) -> bool:
    """Whether a metric is a share of something and so reads best in percent."""
    name = metric.lower()
    return not any(score in name for score in _SCORES)


def number(value: float, metric: str) -> str:
    """One value of a metric: ``43.2%`` or ``0.432``."""
    if math.isnan(value):
        return MISSING
    if value == 0:
        return "0%" if is_rate(metric) else "0"
    if not is_rate(metric):
        return _plain(value, 2 if abs(value) >= 0.1 else 3)
    percent = value * 100
    digits = 0 if abs(percent) >= 99.95 else (1 if abs(percent) >= 0.95 else 2)
    return f"{_plain(percent, digits)}%"


def with_interval(estimate: Estimate, metric: str) -> str:
    """``43.2% [38.1–48.2%]``; ``[−0.8 to −0.3%]`` where a dash beside a minus sign would be hard to read."""
    value, low, high = (number(v, metric) for v in (estimate.value, estimate.low, estimate.high))
    if MISSING in (low, high):
        return value
    return f"{value} [{low.removesuffix('%')}{' to ' if estimate.low < 0 else '–'}{high}]"


def of_hundred(estimate: Estimate, one: str, many: str) -> str:
    """A share as people count, with the verb that follows: ``37 [33–41] give``."""
    value = estimate.value
    if math.isnan(value):
        return f"an unknown number {many}"
    whole = round(value * 100)
    if 0 < value < 0.005:
        shown = "fewer than 1"
    elif 0.995 <= value < 1:
        shown = "more than 99"
    else:
        shown = "none" if value == 0 else "all" if value == 1 else str(whole)
    low, high = round(estimate.low * 100), round(estimate.high * 100)
    verb = one if whole <= 1 else many
    return f"{shown} {verb}" if low == high == whole else f"{shown} [{low}–{high}] {verb}"


def difference(value: float, metric: str) -> str:
    """A difference of two values: ``+31.2 points`` for rates, ``+0.31`` for scores."""
    if math.isnan(value):
        return MISSING
    if is_rate(metric):
        return f"{_signed(value * 100, 1)} points"
    return _signed(value, 2 if abs(value) >= 0.1 else 3)


def count(value: int) -> str:
    """A whole number with thousands separators."""
    return f"{value:,}"


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    if math.isnan(seconds):
        return MISSING
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms" if seconds >= 0.001 else "under 1 ms"
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours:,} h {minutes} min"


def moment(text: str) -> str:
    """An ISO time as people write it; anything else as it stands."""
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError:
        return text
    zone = f" {when.tzname()}" if when.tzinfo else ""
    return f"{when.day} {when:%B %Y, %H:%M}{zone}"


def _plain(value: float, digits: int) -> str:
    text = f"{value:,.{digits}f}"
    if set(text) <= set("-0.,"):
        text = text.removeprefix("-")
    return text.replace("-", "−")


def _signed(value: float, digits: int) -> str:
    text = _plain(value, digits)
    return text if text.startswith("−") or set(text) <= set("0.") else f"+{text}"
