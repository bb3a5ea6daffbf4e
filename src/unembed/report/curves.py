"""Success over the number of pairs as inline SVG: one line per attack, over a logarithmic scale.

Lines, bands and the floor lie in a picture that is stretched to the width of the page; marks and labels lie on top
of it and keep their shape. Lines differ in mark and dash as well as in colour, for paper and for eyes that see
colours otherwise.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from unembed.metrics.estimate import Estimate
from unembed.report import svg
from unembed.report.charts import Axis, tick_label
from unembed.report.findings import Names, about, measured
from unembed.report.numbers import count, number, with_interval
from unembed.results.schema import Finding

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

    first: int
    last: int
    axis: Axis

    @classmethod
    def holding(cls, points: Sequence[CurvePoint]) -> _Scale:
        pairs = [p.pairs for p in points]
        values = [v for p in points for v in (p.estimate.low, p.estimate.high, p.floor)]
        return cls(min(pairs, default=1), max(pairs, default=10), Axis.close_to(values))

    def across(self, pairs: int) -> float:
        return round(_LEFT + (_RIGHT - _LEFT) * svg.along(pairs, self.first, self.last, by_factors=True), 2)

    def up(self, value: float) -> float:
        return round((_HEIGHT - _TOP - _BOTTOM) * (1 - self.axis.at(value) / 100) + _TOP, 2)


def mark(style: int) -> Markup:
    """The mark of a line, for its legend."""
    stroke = svg.line(0, 6, 30, 6, class_="path")
    shape = svg.element("path", class_="mark", transform="translate(15 6)", d=_MARKS[style % STYLES])
    return svg.element("svg", stroke, shape, class_=f"line-{style % STYLES}", width=30, height=12, aria_hidden="true")


def curve_chart(data: Curve) -> Markup:
    """All lines with the bands of their intervals, and the highest floor as a dashed line."""
    lines = [Line(x.title, [p for p in x.points if math.isfinite(p.estimate.value)]) for x in data.lines]
    scale = _Scale.holding([p for line in lines for p in line.points])
    pairs = sorted({p.pairs for line in lines for p in line.points})
    stretched = [_band(line, scale, style % STYLES) for style, line in enumerate(lines)]
    stretched.append(_path([(scale.across(n), scale.up(value)) for n, value in data.floors()], "floor dashed"))
    spots = []
    for style, line in enumerate(lines):
        kind = f"line-{style % STYLES}"
        places = [(scale.across(p.pairs), scale.up(p.estimate.value)) for p in line.points]
        stretched.append(_path(places, f"path {kind}"))
        shape = svg.element("path", class_="mark", d=_MARKS[style % STYLES])
        spots += [
            svg.element("svg", shape, x=f"{x}%", y=y, class_=f"spot {kind}", aria_hidden="true") for x, y in places
        ]
    picture = svg.element(
        "svg",
        *stretched,
        viewBox=f"0 0 100 {_HEIGHT}",
        preserveAspectRatio="none",
        width="100%",
        height=_HEIGHT,
        aria_hidden="true",
    )
    parts = [*_grid(scale, pairs, data.metric), picture, *spots]
    return svg.element("svg", *parts, class_="curve", width="100%", height=_HEIGHT, role="img", aria_label=data.text())


def _grid(scale: _Scale, pairs: Sequence[int], metric: str) -> list[Markup]:
    """Values to the left, numbers of pairs below; of labels too close to each other the left one is dropped."""
    parts = []
    for tick in scale.axis.ticks():
        y = scale.up(tick)
        parts.append(svg.line(0, y, "100%", y, class_="grid"))
        parts.append(svg.text(-8, y + 4, tick_label(tick, metric), anchor="end"))
    free = math.inf
    for n in reversed(pairs):
        x = scale.across(n)
        parts.append(svg.line(f"{x}%", _TOP, f"{x}%", _HEIGHT - _BOTTOM, class_="grid faint"))
        if free - x >= _LABEL_ROOM:
            free = x
            anchor = "end" if x > 95 else "start" if x < 5 else "middle"
            at = 100 if anchor == "end" else 0 if anchor == "start" else x
            parts.append(svg.text(f"{at}%", _HEIGHT - 4, count(n), anchor=anchor))
    return parts


def _band(line: Line, scale: _Scale, style: int) -> Markup:
    above = [(scale.across(p.pairs), scale.up(p.estimate.high)) for p in line.points]
    below = [(scale.across(p.pairs), scale.up(p.estimate.low)) for p in reversed(line.points)]
    return svg.element("polygon", class_=f"band line-{style}", points=_points([*above, *below]))


def _path(places: Sequence[tuple[float, float]], kind: str) -> Markup:
    return svg.element("polyline", class_=kind, points=_points(places))


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x},{y}" for x, y in places)


@dataclass(frozen=True)
class CurveView:
    """A curve and its text."""

    title: str
    axis: str
    chart: Markup
    legend: list[tuple[Markup, str]]
    price: str
    rows: list[tuple[str, str, str, str]]


def curves(findings: list[Finding], names: Names) -> list[CurveView]:
    """Results over the number of pairs, one chart per adversary, one line per attack, best first."""
    groups: dict[tuple[object, ...], dict[str, list[Finding]]] = defaultdict(lambda: defaultdict(list))
    for f in sorted((f for f in findings if measured(f)), key=lambda f: f.cost.pairs):
        groups[(f.adversary, f.subject, f.defense, f.adaptive, f.metric)][f.attack].append(f)
    views = []
    for by_attack in groups.values():
        lines = [line for line in by_attack.values() if line[0].cost.pairs < line[-1].cost.pairs]
        if lines:
            views.append(_curve(sorted(lines, key=lambda line: -line[-1].estimate.value), names))
    return views


def _curve(lines: list[list[Finding]], names: Names) -> CurveView:
    first = lines[0][0]
    drawn = [
        Line(names.attack(line[0].attack), [CurvePoint(f.cost.pairs, f.estimate, f.floor.value) for f in line])
        for line in lines
    ]
    data = Curve(" · ".join(p for p in (names.adversary(first.adversary), about(first)) if p), first.metric, drawn)
    rows = [
        (line.title, count(p.pairs), with_interval(p.estimate, data.metric), number(p.floor, data.metric))
        for line in data.lines
        for p in line.points
    ]
    legend = [(mark(style), line.title) for style, line in enumerate(data.lines)]
    return CurveView(data.title, data.metric.replace("_", " "), curve_chart(data), legend, _price(lines), rows)


def _price(lines: list[list[Finding]]) -> str:
    """With how many pairs the vectors begin to give something away."""
    points = [f for line in lines for f in line]
    leaks = [f.cost.pairs for f in points if f.status == "leak"]
    if not leaks:
        return f"Not even {count(max(f.cost.pairs for f in points))} pairs were enough for a leak to show."
    least, tried = min(leaks), min(f.cost.pairs for f in points)
    if least == tried:
        return f"{count(least)} pairs are enough for a leak to show, the fewest that were tried."
    return f"{count(least)} pairs are enough for a leak to show; with fewer none showed."
