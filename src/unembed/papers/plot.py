"""The plot of a reproduction as one SVG file, readable on light and on dark pages, without script or font.

Tables become dots in rows: published hollow, measured filled with its interval, a tick for the floor. Figures become
lines over their axis, one panel a metric and, where a series is named ``line · panel``, one for each such panel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from markupsafe import Markup

from unembed.papers.base import ExperimentFacts, Measured, Reproduction

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
    if any(row.x is not None for row in rows):
        return _lines(facts, [row for row in rows if row.x is not None])
    return _dots(facts, [row for row in rows if facts.headline is None or row.metric == facts.headline])


def _page(height: int, title: str, parts: Sequence[Markup]) -> str:
    head = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">'
        '<title>{2}</title><style>{3}</style><rect class="paper" width="{0}" height="{1}"/>'
    ).format(WIDTH, height, title, _STYLE)
    return str(head + Markup("").join(parts) + Markup("</svg>\n"))


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "ink") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" class="{}">{}</text>').format(x, y, anchor, kind, text)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    line = Markup('<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>')
    return line.format(x1, y1, x2, y2, kind)


def _stroke(x1: float, y1: float, x2: float, y2: float, colour: str, *, width: int = 2, dashes: str = "none") -> Markup:
    line = Markup(
        '<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}" stroke-dasharray="{}"/>'
    )
    return line.format(x1, y1, x2, y2, colour, width, dashes)


def _dots(facts: ExperimentFacts, rows: Sequence[Measured]) -> str:
    height = _TOP + _ROW * max(1, len(rows)) + 40
    label = min(560.0, max(300.0, 24 + _CHARACTER * max((len(row.setting) for row in rows), default=0)))

    def across(value: float) -> float:
        return label + (WIDTH - label - _RIGHT) * min(1.0, max(0.0, value))

    parts = [_text(12, 24, f"{facts.name}: {facts.title}"), _text(12, 44, facts.headline or "", kind="soft")]
    parts += [
        Markup('<circle cx="{}" cy="40" r="5" fill="none" class="printed"/>').format(label),
        _text(label + 10, 44, "published", kind="soft"),
        Markup('<circle cx="{}" cy="40" r="5" fill="{}"/>').format(label + 100, COLOURS[0]),
        _text(label + 110, 44, "measured, 95 %", kind="soft"),
        _line(label + 230, 34, label + 230, 46, "floor"),
        _text(label + 240, 44, "floor", kind="soft"),
    ]
    bottom = height - 30
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += [
            _line(across(tick), _TOP - 8, across(tick), bottom, "grid"),
            _text(across(tick), bottom + 18, f"{tick:g}", anchor="middle", kind="soft"),
        ]
    for number, row in enumerate(rows):
        y = _TOP + _ROW * number + _ROW / 2
        parts.append(_text(12, y + 4, _short(row.setting, int((label - 20) / _CHARACTER))))
        if row.floor is not None:
            parts.append(_line(across(row.floor), y - 7, across(row.floor), y + 7, "floor"))
        parts.append(_stroke(across(row.low), y, across(row.high), y, COLOURS[0]))
        dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="5" fill="{}"><title>{}</title></circle>')
        parts.append(dot.format(across(row.value), y, COLOURS[0], _said(row)))
        if row.published is not None:
            ring = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="5" fill="none" class="printed"/>')
            parts.append(ring.format(across(row.published), y))
    return _page(height, f"{facts.name}: {facts.title}", parts)


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

    def across(self, x: float) -> float:
        """Where a value of x lies on the page: spaced by factors where the steps between them grow."""
        places = self.places
        grow = len(places) > 2 and places[0] > 0 and places[-1] - places[-2] > 3 * (places[1] - places[0])
        scale = math.log10 if grow else float
        first, last = scale(places[0]), scale(places[-1])
        return self.left + self.width * ((scale(x) - first) / (last - first) if last > first else 0.5)

    def down(self, value: float) -> float:
        """Where a share lies on the page."""
        return self.top + _PANEL * (1 - min(1.0, max(0.0, value)))


def _lines(facts: ExperimentFacts, rows: Sequence[Measured]) -> str:
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
        parts += _axes(panel, facts.axis or "")
        for name, points in lines.items():
            parts += _one_line(sorted(points, key=lambda r: r.x or 0.0), panel.across, panel.down, *looks[name])
    height = top + math.ceil(len(found) / columns) * (_PANEL + _BETWEEN)
    return _page(height, f"{facts.name}: {facts.title}", parts)


def _axes(panel: _Panel, below: str) -> list[Markup]:
    right, bottom = panel.left + panel.width, panel.top + _PANEL
    parts = [
        _text(panel.left - 48, panel.top - 10, _short(panel.title, int((panel.width + 80) / _CHARACTER)), kind="soft")
    ]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts += [
            _line(panel.left, panel.down(tick), right, panel.down(tick), "grid"),
            _text(panel.left - 8, panel.down(tick) + 4, f"{tick:g}", anchor="end", kind="soft"),
        ]
    free = -math.inf
    for x in panel.places:
        label = f"{x:,.0f}"
        half = _CHARACTER * len(label) / 2
        if panel.across(x) - half >= free:  # a label that would lie on the one before is left out
            parts.append(_text(panel.across(x), bottom + 18, label, anchor="middle", kind="soft"))
            free = panel.across(x) + half + 4
    parts.append(
        _text(right, bottom + 36, _short(below, int((panel.width + 80) / _CHARACTER)), anchor="end", kind="soft")
    )
    return parts


Place = Callable[[float], float]


def _one_line(points: Sequence[Measured], across: Place, down: Place, colour: str, dashes: str) -> list[Markup]:
    parts: list[Markup] = []
    for here, there in pairwise(points):
        ends = (across(here.x or 0.0), down(here.value), across(there.x or 0.0), down(there.value))
        parts.append(_stroke(*ends, colour, dashes=dashes))
        if here.floor is not None and there.floor is not None:
            ends = (across(here.x or 0.0), down(here.floor), across(there.x or 0.0), down(there.floor))
            parts.append(_stroke(*ends, colour, width=1, dashes="3 4"))
    for point in points:
        x = across(point.x or 0.0)
        parts.append(_stroke(x, down(point.low), x, down(point.high), colour, width=1))
        dot = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="4" fill="{}"><title>{}</title></circle>')
        parts.append(dot.format(x, down(point.value), colour, _said(point)))
        if point.published is not None:
            ring = Markup('<circle cx="{:.1f}" cy="{:.1f}" r="6" fill="none" stroke="{}"/>')
            parts.append(ring.format(x, down(point.published), colour))
    return parts


def _said(row: Measured) -> str:
    printed = "" if row.published is None else f", published {row.published:.3f}"
    return f"{row.setting}: {row.metric} {row.value:.3f} [{row.low:.3f}–{row.high:.3f}]{printed}"


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
