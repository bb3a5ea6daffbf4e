"""A run as notebooks show it: the verdict with a table of findings, and the findings as one picture.

Both are made from the result alone, so nothing shows here that the result file masks; samples are not shown at all.
"""

from __future__ import annotations

import math
from typing import Final

from markupsafe import Markup

from unembed.report import svg
from unembed.report.charts import Axis, tick_label
from unembed.report.clean import cleaned
from unembed.report.findings import measured
from unembed.report.questions import FindingView, questions
from unembed.report.words import LEVEL
from unembed.results.schema import Run

#: Colours that can be told apart on white and on black, by the tone of a finding.
_TONES: Final = {
    "high": "#c2410c",
    "moderate": "#b45309",
    "low": "#a16207",
    "none": "#15803d",
    "inconclusive": "#6b7280",
    "unknown": "#6b7280",
}
_GREY: Final = "#8a8f98"
_FONT: Final = "font-family:system-ui,sans-serif;font-size:13px"
_ROW, _LEFT, _SCALE, _RIGHT = 26, 330, 380, 130
_LONGEST_LABEL = 52


def run_html(run: Run) -> str:
    """The verdict and a row for every finding at full strength."""
    run = cleaned(run)
    head = [_cell(name, "th") for name in ("finding", "adversary", "score", "guessing", "above guessing", "")]
    body = []
    for game in questions(run):
        asked = svg.element("th", game.title, colspan=6, style=f"text-align:left;{_FONT};padding-top:8px")
        body.append(svg.element("tr", asked))
        for one in game.findings:
            badge = svg.element("span", one.badge, style=f"color:{_TONES[one.tone]};font-weight:600")
            what = " · ".join(part for part in (one.attack, one.defended) if part)
            cells = [_cell(text) for text in (what, one.adversary, one.value, one.floor, one.excess)]
            body.append(svg.element("tr", *cells, _cell(badge)))
    told = svg.element("p", _level(run), " ", run.verdict.sentence, style=_FONT)
    variants = [svg.element("p", f"{v.variant}: {v.sentence}", style=_FONT) for v in run.verdict.variants]
    table = svg.element("table", svg.element("tr", *head), *body) if body else Markup("")
    return str(svg.element("div", told, *variants, table))


def _level(run: Run) -> Markup:
    tone = _TONES.get(run.verdict.level, _GREY)
    return svg.element("strong", f"{LEVEL[run.verdict.level]}.", style=f"color:{tone}")


def _cell(inside: str, kind: str = "td") -> Markup:
    return svg.element(kind, inside, style=f"text-align:left;{_FONT}")


def findings_chart(run: Run) -> str:
    """Every finding at full strength: a dot with its interval, and a mark for the strongest floor."""
    run = cleaned(run)
    parts: list[Markup] = []
    y = 6.0
    for game in questions(run):
        shown = [one.finding for one in game.findings]
        axis = Axis.holding([v for f in shown for v in (f.estimate.low, f.estimate.high, f.floor.value)])
        y += 18
        parts.append(svg.text(4, y, game.title, font_weight="bold", fill=_GREY))
        y += 8
        top = y
        for one in game.findings:
            parts += _row(one, axis, y)
            y += _ROW
        parts[:0] = [_upright(axis, tick, top, y, "#8884") for tick in axis.ticks()]
        y += 14
        for tick in axis.ticks():
            label = tick_label(tick, shown[0].metric)
            parts.append(svg.text(_at(axis, tick), y, label, anchor="middle", fill=_GREY, font_size=11))
        y += 8
    width = _LEFT + _SCALE + _RIGHT
    return str(
        svg.element(
            "svg",
            *(parts or [svg.text(4, 20, "no findings", fill=_GREY)]),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=f"0 0 {width} {max(y, 30):g}",
            width=width,
            height=float(max(y, 30)),
            role="img",
            aria_label="Findings: each with its interval, and the floor it has to beat",
            style=_FONT,
        )
    )


def _row(one: FindingView, axis: Axis, top: float) -> list[Markup]:
    finding, middle, tone = one.finding, top + _ROW / 2, _TONES[one.tone]
    name = " · ".join(part for part in (one.attack, one.adversary, one.defended) if part)
    label = name if len(name) <= _LONGEST_LABEL else f"{name[: _LONGEST_LABEL - 1]}…"
    title = svg.element("title", f"{name}: {one.value}; floor {one.floor}; {one.badge}")
    parts = [svg.element("g", title, svg.text(4, middle + 4, label, fill=_GREY, font_size=12))]
    parts.append(svg.text(_LEFT + _SCALE + 14, middle + 4, one.badge, fill=tone, font_size=12))
    if math.isfinite(finding.floor.value):
        parts.append(_upright(axis, finding.floor.value, middle - 8, middle + 8, _GREY, 3))
    if measured(finding):
        low, high = _at(axis, finding.estimate.low), _at(axis, finding.estimate.high)
        parts.append(svg.line(low, middle, high, middle, stroke=tone, stroke_width=2))
        parts.append(svg.dot(_at(axis, finding.estimate.value), middle, 5, fill=tone))
    return parts


def _at(axis: Axis, value: float) -> float:
    return _LEFT + _SCALE * axis.at(value) / 100


def _upright(axis: Axis, value: float, y1: float, y2: float, stroke: str, width: float = 1) -> Markup:
    return svg.line(_at(axis, value), y1, _at(axis, value), y2, stroke=stroke, stroke_width=width)
