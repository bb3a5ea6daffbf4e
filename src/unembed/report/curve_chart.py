"""Success over the number of pairs as inline SVG: one line an attack, over a logarithmic scale.

Lines, bands and the floor lie in a picture that is stretched to the width of the page; marks and labels lie on top
of it and keep their shape. Lines differ in mark and dash as well as in colour, for paper and for eyes that see
colours otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from unembed.metrics.estimate import Estimate
from unembed.report.charts import Axis, tick_label
from unembed.report.numbers import count, number

_HEIGHT = 250
_TOP, _BOTTOM = 8, 24
_LEFT, _RIGHT = 2.0, 98.0
#: Labels of the scale below closer than this (in percent of the width) are left out.
_LABEL_ROOM = 11.0
#: Each fits into a square of side 10 around the origin.
_MARKS = (
    "M0-4.6A4.6 4.6 0 1 0 .01-4.6Z",
    "M-4-4H4V4H-4Z",
    "M0-5.2L5 3.8H-5Z",
    "M0-5.5L5 0 0 5.5-5 0Z",
    "M0 5.2L5-3.8H-5Z",
    "M-1.7-5H1.7V-1.7H5V1.7H1.7V5H-1.7V1.7H-5V-1.7H-1.7Z",
    "M-5-2.4L-2.4-5 0-2.6 2.4-5 5-2.4 2.6 0 5 2.4 2.4 5 0 2.6-2.4 5-5 2.4-2.6 0Z",
    "M-5-2H5V2H-5Z",
)
STYLES = len(_MARKS)


@dataclass(frozen=True)
class CurvePoint:
    """One finding of a curve: how many pairs the adversary held, and what they reached."""

    pairs: int
    estimate: Estimate
    floor: float


@dataclass(frozen=True)
class Line:
    """The points of one attack, by rising number of pairs."""

    title: str
    points: list[CurvePoint]


@dataclass(frozen=True)
class Curve:
    """Success over the number of pairs, for one adversary."""

    title: str
    metric: str
    lines: list[Line] = field(default_factory=list)

    def text(self) -> str:
        """The same in words."""
        said = []
        for line in self.lines:
            values = [f"{number(p.estimate.value, self.metric)} with {count(p.pairs)}" for p in line.points]
            said.append(f"{line.title}: {', '.join(values)} pairs.")
        return " ".join([f"{self.title}.", *said] if self.title else said)

    def floors(self) -> list[tuple[int, float]]:
        """The highest floor of all attacks at each number of pairs."""
        highest: dict[int, float] = {}
        for point in (p for line in self.lines for p in line.points if math.isfinite(p.floor)):
            highest[point.pairs] = max(point.floor, highest.get(point.pairs, -math.inf))
        return sorted(highest.items())


@dataclass(frozen=True)
class _Scale:
    """Where pairs and values lie in the picture."""

    first: float
    last: float
    axis: Axis

    @classmethod
    def holding(cls, points: Sequence[CurvePoint]) -> _Scale:
        steps = [_step(p.pairs) for p in points]
        values = [v for p in points for v in (p.estimate.low, p.estimate.high, p.floor)]
        return cls(min(steps, default=0.0), max(steps, default=1.0), Axis.close_to(values))

    def across(self, pairs: int) -> float:
        share = (_step(pairs) - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return round(_LEFT + (_RIGHT - _LEFT) * share, 2)

    def up(self, value: float) -> float:
        return round((_HEIGHT - _TOP - _BOTTOM) * (1 - self.axis.at(value) / 100) + _TOP, 2)


def _step(pairs: int) -> float:
    return math.log10(max(1, pairs))


def mark(style: int) -> Markup:
    """The mark of a line, for its legend."""
    drawn = Markup(
        '<svg class="line-{0}" width="30" height="12" aria-hidden="true"><line class="path" x1="0" x2="30" y1="6" '
        'y2="6"/><path class="mark" transform="translate(15 6)" d="{1}"/></svg>'
    )
    return drawn.format(style % STYLES, _MARKS[style % STYLES])


def curve_chart(data: Curve) -> Markup:
    """All lines with the bands of their intervals, and the highest floor as a dashed line."""
    lines = [Line(x.title, [p for p in x.points if math.isfinite(p.estimate.value)]) for x in data.lines]
    scale = _Scale.holding([p for line in lines for p in line.points])
    pairs = sorted({p.pairs for line in lines for p in line.points})
    head = Markup('<svg class="curve" width="100%" height="{}" role="img" aria-label="{}">')
    parts = [head.format(_HEIGHT, data.text()), *_grid(scale, pairs, data.metric)]
    stretched = Markup(
        '<svg viewBox="0 0 100 {0}" preserveAspectRatio="none" width="100%" height="{0}" aria-hidden="true">'
    )
    parts.append(stretched.format(_HEIGHT))
    parts += [_band(line, scale, style % STYLES) for style, line in enumerate(lines)]
    floors = [(scale.across(n), scale.up(value)) for n, value in data.floors()]
    parts.append(Markup('<polyline class="floor dashed" points="{}"/>').format(_points(floors)))
    for style, line in enumerate(lines):
        path = [(scale.across(p.pairs), scale.up(p.estimate.value)) for p in line.points]
        parts.append(Markup('<polyline class="path line-{}" points="{}"/>').format(style % STYLES, _points(path)))
    parts.append(Markup("</svg>"))
    dot = Markup('<svg x="{}%" y="{}" class="spot line-{}" aria-hidden="true"><path class="mark" d="{}"/></svg>')
    for style, line in enumerate(lines):
        shape = _MARKS[style % STYLES]
        for p in line.points:
            parts.append(dot.format(scale.across(p.pairs), scale.up(p.estimate.value), style % STYLES, shape))
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def _grid(scale: _Scale, pairs: Sequence[int], metric: str) -> list[Markup]:
    """Values to the left, numbers of pairs below; of labels too close to each other the left one is dropped."""
    parts = []
    for tick in scale.axis.ticks():
        y = scale.up(tick)
        parts.append(Markup('<line class="grid" x1="0" x2="100%" y1="{0}" y2="{0}"/>').format(y))
        label = Markup('<text x="-8" y="{}" text-anchor="end">{}</text>')
        parts.append(label.format(round(y + 4, 2), tick_label(tick, metric)))
    free = math.inf
    for n in reversed(pairs):
        x = scale.across(n)
        upright = Markup('<line class="grid faint" x1="{0}%" x2="{0}%" y1="{1}" y2="{2}"/>')
        parts.append(upright.format(x, _TOP, _HEIGHT - _BOTTOM))
        if free - x >= _LABEL_ROOM:
            free = x
            anchor = "end" if x > 95 else "start" if x < 5 else "middle"
            at = 100 if anchor == "end" else 0 if anchor == "start" else x
            shown = Markup('<text x="{}%" y="{}" text-anchor="{}">{}</text>')
            parts.append(shown.format(at, _HEIGHT - 4, anchor, count(n)))
    return parts


def _band(line: Line, scale: _Scale, style: int) -> Markup:
    above = [(scale.across(p.pairs), scale.up(p.estimate.high)) for p in line.points]
    below = [(scale.across(p.pairs), scale.up(p.estimate.low)) for p in reversed(line.points)]
    return Markup('<polygon class="band line-{}" points="{}"/>').format(style, _points([*above, *below]))


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)
