"""Small charts as inline SVG: no script, no font, no request.

Horizontal positions are percentages, so a chart fills whatever width the page has while its text and its
marks keep their size: the same file reads on a phone, on a desk and on paper. Colours are CSS classes,
because a chart must be legible in a light and in a dark page. Every chart carries its content as text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unembed.metrics.estimate import Estimate
from unembed.report.numbers import is_rate

_ROW = 30


@dataclass(frozen=True)
class Axis:
    """The common scale of a chart: 0 to 1 unless a value lies outside."""

    low: float = 0.0
    high: float = 1.0

    @classmethod
    def holding(cls, values: Sequence[float]) -> Axis:
        """The smallest scale of whole tenths that holds 0 to 1 and all values."""
        known = [v for v in values if math.isfinite(v)]
        low = math.floor(min([0.0, *known]) * 10) / 10
        high = math.ceil(max([1.0, *known]) * 10) / 10
        return cls(low, high)

    @classmethod
    def close_to(cls, values: Sequence[float]) -> Axis:
        """From 0 to the next of 0.1, 0.25, 0.5, 0.75 above all values: for a curve, where the slope is the message."""
        whole = cls.holding(values)
        most = max([v for v in values if math.isfinite(v)], default=1.0)
        ceiling = next((h for h in (0.1, 0.25, 0.5, 0.75) if most <= h), whole.high)
        return cls(whole.low, ceiling)

    def at(self, value: float) -> float:
        """Where a value lies, in percent of the width."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 3)

    def ticks(self) -> list[float]:
        """Round values to label, a quarter apart on the usual scale."""
        span = self.high - self.low
        closer = next((s for widest, s in ((0.1, 0.025), (0.25, 0.05), (0.5, 0.1)) if span <= widest), None)
        step = closer or (0.25 if span <= 2 else 10 ** math.floor(math.log10(span)) / 2)
        first = math.ceil(self.low / step)
        return [i * step for i in range(first, math.floor(self.high / step + 1e-9) + 1)]


def ruler(axis: Axis, metric: str) -> Markup:
    """The labelled scale under the rows of a chart."""
    parts = [Markup('<svg class="ruler" width="100%" height="20" aria-hidden="true" focusable="false">')]
    for tick in axis.ticks():
        at = axis.at(tick)
        anchor = "start" if at < 3 else "end" if at > 97 else "middle"
        parts.append(
            Markup('<text x="{}%" y="14" text-anchor="{}">{}</text>').format(at, anchor, tick_label(tick, metric))
        )
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def tick_label(value: float, metric: str) -> str:
    """A value of the scale as it is written beside it."""
    return f"{value * 100:.0f}%" if is_rate(metric) else f"{value:.2f}"


def _grid(axis: Axis, height: int) -> list[Markup]:
    line = Markup('<line class="grid" x1="{0}%" x2="{0}%" y1="0" y2="{1}"/>')
    return [line.format(axis.at(tick), height) for tick in axis.ticks()]


def dot_row(
    axis: Axis,
    estimate: Estimate,
    floors: Sequence[float],
    strongest: float,
    *,
    tone: str,
    trusted: bool,
    label: str,
) -> Markup:
    """One finding: the span from floor to value, the interval as a whisker, a tick for each floor."""
    middle = _ROW / 2
    parts = [
        Markup('<svg class="plot tone-{}" width="100%" height="{}" role="img" aria-label="{}">').format(
            tone, _ROW, label
        )
    ]
    parts += _grid(axis, _ROW)
    line = Markup('<line class="{}" x1="{}%" x2="{}%" y1="{}" y2="{}"/>')
    for floor in floors:
        if math.isfinite(floor) and floor != strongest:
            parts.append(line.format("floor minor", axis.at(floor), axis.at(floor), middle - 6, middle + 6))
    known = math.isfinite(estimate.value)
    if not trusted:
        rect = Markup('<rect class="unmeasured" x="0" y="{}" width="100%" height="14" rx="3"/>')
        parts.append(rect.format(middle - 7))
    elif known and math.isfinite(strongest) and estimate.value > strongest:
        parts.append(line.format("excess", axis.at(strongest), axis.at(estimate.value), middle, middle))
    if math.isfinite(strongest):
        parts.append(line.format("floor", axis.at(strongest), axis.at(strongest), middle - 9, middle + 9))
    if known and trusted:
        low, high = axis.at(estimate.low), axis.at(estimate.high)
        parts.append(line.format("whisker", low, high, middle, middle))
        parts += [line.format("whisker", end, end, middle - 5, middle + 5) for end in (low, high)]
        dot = Markup('<circle class="dot" cx="{}%" cy="{}" r="5.5"/>')
        parts.append(dot.format(axis.at(estimate.value), middle))
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def bar(axis: Axis, estimate: Estimate, floor: float | None, *, tone: str, label: str) -> Markup:
    """One slice: a bar with its interval and its floor."""
    parts = [
        Markup('<svg class="plot tone-{}" width="100%" height="16" role="img" aria-label="{}">').format(tone, label),
        Markup('<rect class="track" x="0" y="4" width="100%" height="8" rx="2"/>'),
    ]
    if math.isfinite(estimate.value):
        start, end = axis.at(max(0.0, axis.low)), axis.at(estimate.value)
        rect = Markup('<rect class="bar" x="{}%" y="4" width="{}%" height="8" rx="2"/>')
        parts.append(rect.format(min(start, end), round(abs(end - start), 3)))
        line = Markup('<line class="whisker" x1="{}%" x2="{}%" y1="8" y2="8"/>')
        parts.append(line.format(axis.at(estimate.low), axis.at(estimate.high)))
    if floor is not None and math.isfinite(floor):
        parts.append(Markup('<line class="floor" x1="{0}%" x2="{0}%" y1="0" y2="16"/>').format(axis.at(floor)))
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)
