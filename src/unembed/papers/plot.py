"""The plot of a reproduction as one SVG file, readable on light and on dark pages, without script or font.

Tables become dots in rows: published hollow, measured filled with its interval, a tick for the floor. Figures become
lines over their axis, one panel per metric and, where a series is named ``line · panel``, one for each such panel.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from markupsafe import Markup

from unembed.papers.base import ExperimentFacts, Measured, Reproduction
from unembed.report import svg
from unembed.report.charts import Axis

WIDTH = 900
_RIGHT, _ROW, _TOP = 40, 24, 64
#: Width of a character of a label, on the generous side.
_CHARACTER = 6.7
_PANEL, _BETWEEN, _LEGEND = 230, 82, 20
#: Told apart by people who don't see red and green, on white and on black.
COLOURS = ("#2f7fc1", "#d1730a", "#2a9d6f", "#b0479b", "#8a7a1f", "#c2413b", "#4b9fb5", "#7f7f7f")
#: Of lines beyond the colours: each further round of them is dashed in its own way.
DASHES = ("none", "8 4", "2 3")
_STYLE = Markup("""
svg { color-scheme: light dark; font: 13px system-ui, sans-serif; }
.paper { fill: #ffffff; } .ink { fill: #1f2328; } .soft { fill: #59636e; }
.grid { stroke: #d1d9e0; } .floor { stroke: #59636e; stroke-width: 2; } .printed { stroke: #1f2328; }
@media (prefers-color-scheme: dark) {
  .paper { fill: #0d1117; } .ink { fill: #e6edf3; } .soft { fill: #9198a1; }
  .grid { stroke: #30363d; } .floor { stroke: #9198a1; } .printed { stroke: #e6edf3; }
}
""")


def draw(facts: ExperimentFacts, result: Reproduction) -> str:
    """The plot; a result without rows gives a plot that says so."""
    rows = [row for row in result.rows if math.isfinite(row.value)]
    lines = [row for row in rows if row.x is not None]
    shown = [row for row in rows if facts.headline is None or row.metric == facts.headline]
    height, parts = _lines(facts, lines) if lines else _dots(facts, shown)
    page = svg.element(
        "svg",
        svg.element("title", f"{facts.name}: {facts.title}"),
        svg.element("style", _STYLE),
        svg.element("rect", class_="paper", width=WIDTH, height=height),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH} {height}",
        width=WIDTH,
        height=height,
        role="img",
    )
    return f"{page}\n"


def _text(x: float, y: float, said: str, *, anchor: str = "start", kind: str = "ink") -> Markup:
    return svg.text(x, y, said, anchor=anchor, class_=kind)


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str, *, width: int = 2, dashes: str = "none") -> Markup:
    return svg.line(x1, y1, x2, y2, stroke=colour, stroke_width=width, stroke_dasharray=dashes)


def _dots(facts: ExperimentFacts, rows: Sequence[Measured]) -> tuple[int, list[Markup]]:
    height = _TOP + _ROW * max(1, len(rows)) + 40
    label = min(560.0, max(300.0, 24 + _CHARACTER * max((len(row.setting) for row in rows), default=0)))

    # Distances have a scale of their own.
    axis = Axis.holding([number for row in rows for number in (row.value, row.high, row.published or 0.0)])

    def across(value: float) -> float:
        return label + (WIDTH - label - _RIGHT) * axis.at(value) / 100

    def ring(x: float, y: float) -> Markup:
        return svg.dot(x, y, 5, fill="none", class_="printed")

    parts = [_text(12, 24, f"{facts.name}: {facts.title}"), _text(12, 44, facts.headline or "", kind="soft")]
    parts += [ring(label, 40), _text(label + 10, 44, "published", kind="soft")]
    parts += [svg.dot(label + 100, 40, 5, fill=COLOURS[0]), _text(label + 110, 44, "measured, 95 %", kind="soft")]
    parts += [svg.line(label + 230, 34, label + 230, 46, class_="floor"), _text(label + 240, 44, "floor", kind="soft")]
    bottom = height - 30
    for tick in axis.ticks():
        parts.append(svg.line(across(tick), _TOP - 8, across(tick), bottom, class_="grid"))
        parts.append(_text(across(tick), bottom + 18, f"{tick:g}", anchor="middle", kind="soft"))
    for number, row in enumerate(rows):
        y = _TOP + _ROW * number + _ROW / 2
        parts.append(_text(12, y + 4, _short(row.setting, label - 20)))
        if row.floor is not None:
            parts.append(svg.line(across(row.floor), y - 7, across(row.floor), y + 7, class_="floor"))
        parts.append(_stroke(across(row.low), y, across(row.high), y, COLOURS[0]))
        parts.append(svg.dot(across(row.value), y, 5, svg.element("title", _said(row)), fill=COLOURS[0]))
        if row.published is not None:
            parts.append(ring(across(row.published), y))
    return height, parts


@dataclass(frozen=True)
class _Panel:
    """One pair of axes: its corner on the page, its width, and its lines."""

    title: str
    lines: dict[str, list[Measured]]
    left: float
    top: float
    width: float

    @cached_property
    def places(self) -> list[float]:
        """Every value of x that a line has a point at."""
        return sorted({row.x for rows in self.lines.values() for row in rows if row.x is not None})

    def across(self, x: float | None) -> float:
        """Where a value of x lies on the page: spaced by factors where the steps between them grow."""
        places = self.places
        grow = len(places) > 2 and places[0] > 0 and places[-1] - places[-2] > 3 * (places[1] - places[0])
        return self.left + self.width * svg.along(x or 0.0, places[0], places[-1], by_factors=grow)

    @cached_property
    def axis(self) -> Axis:
        """From 0 to 1, or as far as the values go: bits have a scale of their own."""
        rows = [row for rows in self.lines.values() for row in rows]
        return Axis.holding([n for row in rows for n in (row.value, row.low, row.high, row.published or 0.0)])

    def down(self, value: float) -> float:
        """Where a value lies on the page."""
        return self.top + _PANEL * (1 - self.axis.at(value) / 100)

    def axes(self, below: str) -> list[Markup]:
        """Title, grid and labels."""
        right, bottom, room = self.left + self.width, self.top + _PANEL, self.width + 80
        parts = [_text(self.left - 48, self.top - 10, _short(self.title, room), kind="soft")]
        for tick in self.axis.ticks():
            parts.append(svg.line(self.left, self.down(tick), right, self.down(tick), class_="grid"))
            parts.append(_text(self.left - 8, self.down(tick) + 4, f"{tick:g}", anchor="end", kind="soft"))
        free = -math.inf
        for x in self.places:
            label = f"{x:,.0f}" if x == int(x) else f"{x:g}"
            half = _CHARACTER * len(label) / 2
            if self.across(x) - half >= free:  # a label that would lie on the one before is left out
                parts.append(_text(self.across(x), bottom + 18, label, anchor="middle", kind="soft"))
                free = self.across(x) + half + 4
        return [*parts, _text(right, bottom + 36, _short(below, room), anchor="end", kind="soft")]

    def line(self, points: Sequence[Measured], colour: str, dashes: str) -> list[Markup]:
        """A line with its intervals, its floor as a thin dashed one, and what was published as rings."""
        parts: list[Markup] = []
        for here, there in pairwise(points):
            x1, x2 = self.across(here.x), self.across(there.x)
            parts.append(_stroke(x1, self.down(here.value), x2, self.down(there.value), colour, dashes=dashes))
            if here.floor is not None and there.floor is not None:
                ends = (x1, self.down(here.floor), x2, self.down(there.floor))
                parts.append(_stroke(*ends, colour, width=1, dashes="3 4"))
        for point in points:
            x, title = self.across(point.x), svg.element("title", _said(point))
            parts.append(_stroke(x, self.down(point.low), x, self.down(point.high), colour, width=1))
            parts.append(svg.dot(x, self.down(point.value), 4, title, fill=colour))
            if point.published is not None:
                parts.append(svg.dot(x, self.down(point.published), 6, fill="none", stroke=colour))
        return parts


def _lines(facts: ExperimentFacts, rows: Sequence[Measured]) -> tuple[int, list[Markup]]:
    """A series ``line · panel`` has the line's colour in the panel; each metric has panels of its own.

    Where others are lines, a panel of single points is left to the table.
    """
    groups: dict[str, dict[str, dict[str, list[Measured]]]] = {}
    for row in rows:
        line, _, where = (row.series or row.setting).partition(" · ")
        groups.setdefault(where, {}).setdefault(row.metric, {}).setdefault(line, []).append(row)
    every = [(where, metric, lines) for where, metrics in groups.items() for metric, lines in metrics.items()]
    found = [panel for panel in every if any(len(points) > 1 for points in panel[2].values())] or every
    everywhere = f" · {found[0][0]}" if found[0][0] and len({where for where, _, _ in found}) == 1 else ""
    names = list(dict.fromkeys(line for _, _, lines in found for line in lines))
    looks = {name: (COLOURS[i % len(COLOURS)], DASHES[i // len(COLOURS) % len(DASHES)]) for i, name in enumerate(names)}
    parts = [_text(12, 24, f"{facts.name}: {facts.title}{everywhere}")]
    for i, (name, (colour, dashes)) in enumerate(looks.items()):
        y = 44 + _LEGEND * i
        parts += [_stroke(12, y - 4, 36, y - 4, colour, width=3, dashes=dashes), _text(44, y, name)]
    columns = min(2, len(found))
    across = WIDTH / columns
    top = 64 + _LEGEND * len(names)
    for number, (where, metric, lines) in enumerate(found):
        corner = (number % columns * across + 60, top + number // columns * (_PANEL + _BETWEEN))
        title = f"{where}: {metric}" if where and not everywhere else metric
        panel = _Panel(title, lines, *corner, width=across - 100)
        parts += panel.axes(facts.axis or "")
        for name, points in lines.items():
            parts += panel.line(sorted(points, key=lambda r: r.x or 0.0), *looks[name])
    return top + math.ceil(len(found) / columns) * (_PANEL + _BETWEEN), parts


def _said(row: Measured) -> str:
    printed = "" if row.published is None else f", published {row.published:.3f}"
    return f"{row.setting}: {row.metric} {row.value:.3f} [{row.low:.3f}–{row.high:.3f}]{printed}"


def _short(text: str, width: float) -> str:
    """As much of a text as fits."""
    most = int(width / _CHARACTER)
    return text if len(text) <= most else text[: most - 1] + "…"
