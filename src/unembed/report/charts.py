"""Small charts as inline SVG.

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
from unembed.report import svg
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
    labels = []
    for tick in axis.ticks():
        at = axis.at(tick)
        anchor = "start" if at < 3 else "end" if at > 97 else "middle"
        labels.append(svg.text(f"{at}%", 14, tick_label(tick, metric), anchor=anchor))
    return _picture(labels, 20, class_="ruler", aria_hidden="true", focusable="false")


def tick_label(value: float, metric: str) -> str:
    """A value of the scale as it is written beside it."""
    return f"{value * 100:.0f}%" if is_rate(metric) else f"{value:.2f}"


def _picture(parts: Sequence[Markup], height: int, **attributes: str) -> Markup:
    return svg.element("svg", *parts, width="100%", height=height, **attributes)


def _across(low: float, high: float, y: float, kind: str) -> Markup:
    return svg.line(f"{low}%", y, f"{high}%", y, class_=kind)


def _upright(at: float, y1: float, y2: float, kind: str) -> Markup:
    return svg.line(f"{at}%", y1, f"{at}%", y2, class_=kind)


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
    parts = [_upright(axis.at(tick), 0, _ROW, "grid") for tick in axis.ticks()]
    for floor in floors:
        if math.isfinite(floor) and floor != strongest:
            parts.append(_upright(axis.at(floor), middle - 6, middle + 6, "floor minor"))
    known = math.isfinite(estimate.value)
    if not trusted:
        parts.append(svg.element("rect", class_="unmeasured", x=0, y=middle - 7, width="100%", height=14, rx=3))
    elif known and math.isfinite(strongest) and estimate.value > strongest:
        parts.append(_across(axis.at(strongest), axis.at(estimate.value), middle, "excess"))
    if math.isfinite(strongest):
        parts.append(_upright(axis.at(strongest), middle - 9, middle + 9, "floor"))
    if known and trusted:
        low, high = axis.at(estimate.low), axis.at(estimate.high)
        parts.append(_across(low, high, middle, "whisker"))
        parts += [_upright(end, middle - 5, middle + 5, "whisker") for end in (low, high)]
        parts.append(svg.dot(f"{axis.at(estimate.value)}%", middle, 5.5, class_="dot"))
    return _picture(parts, _ROW, class_=f"plot tone-{tone}", role="img", aria_label=label)


def bar(axis: Axis, estimate: Estimate, floor: float | None, *, tone: str, label: str) -> Markup:
    """One slice: a bar with its interval and its floor."""
    parts = [svg.element("rect", class_="track", x=0, y=4, width="100%", height=8, rx=2)]
    if math.isfinite(estimate.value):
        start, end = axis.at(max(0.0, axis.low)), axis.at(estimate.value)
        width = f"{round(abs(end - start), 3)}%"
        parts.append(svg.element("rect", class_="bar", x=f"{min(start, end)}%", y=4, width=width, height=8, rx=2))
        parts.append(_across(axis.at(estimate.low), axis.at(estimate.high), 8, "whisker"))
    if floor is not None and math.isfinite(floor):
        parts.append(_upright(axis.at(floor), 0, 16, "floor"))
    return _picture(parts, 16, class_=f"plot tone-{tone}", role="img", aria_label=label)
