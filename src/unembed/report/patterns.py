"""Are numbers and codes read back? The findings of the pattern game, with a heat map of the parts of each secret."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unembed.report.numbers import number, of_hundred, with_interval
from unembed.report.readers import Bar, Reader, against_floor, by_adversary, rank, reader, share_bar, title
from unembed.report.samples import SampleView, sample_view
from unembed.report.view import Names, measured, tone
from unembed.results.schema import Finding, Run, Slice

SECTION = "secrets"
_ROW, _HEAD = 30, 18
#: Cells of wider maps hold no figures; they stand in the table.
_MOST_FIGURES = 16


@dataclass(frozen=True)
class HeatMap:
    """One form of secret: every attack a row, every part a column."""

    title: str
    chart: Markup
    legend: list[tuple[str, str]]
    head: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Secret:
    """One form of secret: who reads it, which of its parts, examples."""

    name: str
    readers: list[Reader]
    map: HeatMap | None
    samples: list[tuple[str, list[SampleView], bool]]


def patterns(run: Run) -> list[Secret]:
    """The section of a run, one entry a form; empty if no pattern was asked for."""
    found = [f for f in run.findings if f.section == SECTION and not f.curve]
    names = Names(run)
    secrets = []
    for subject in dict.fromkeys(f.subject or "" for f in found):
        own = [f for f in found if (f.subject or "") == subject]
        groups = by_adversary(own, run)
        ordered = sorted((f for f in own if measured(f)), key=lambda f: -rank(f))
        secrets.append(
            Secret(
                subject,
                [reader(group[0], names, _sentences, _bars) for group in groups],
                heat_map(ordered, names),
                [
                    (title(f, names), [sample_view(s) for s in f.samples], all(s.masked for s in f.samples))
                    for f in ordered
                    if f.samples
                ],
            )
        )
    return secrets


def _sentences(finding: Finding) -> list[str]:
    said = [f"Of 100 parts of such a secret, {of_hundred(finding.estimate, 'is', 'are')} read right at once."]
    said.append(against_floor(finding))
    whole = finding.secondary.get("whole_top1")
    if whole is not None:
        said.append(f"Of 100 whole secrets, {of_hundred(whole, 'comes', 'come')} back at the first attempt.")
    five = finding.secondary.get("whole_top5")
    if five is not None:
        said.append(f"In five attempts: {of_hundred(five, 'does', 'do')}.")
    return said


def _bars(finding: Finding) -> list[Bar]:
    colour, floors = tone(finding), finding.secondary_floors
    bars = [share_bar("parts, first attempt", finding.estimate, finding.floor.value, colour)]
    for key, name in (("whole_top1", "whole, first attempt"), ("whole_top5", "whole, five attempts")):
        if (share := finding.secondary.get(key)) is not None:
            bars.append(share_bar(name, share, floors.get(key), colour))
    return bars


def parts_of(finding: Finding) -> list[Slice]:
    """The parts in the order in which they stand in the secret."""
    return [s for s in finding.slices if s.kind == "part"]


def heat_map(findings: Sequence[Finding], names: Names) -> HeatMap | None:
    """A row per finding, a column per part; None where no finding has parts."""
    shown = [f for f in findings if parts_of(f)]
    if not shown:
        return None
    columns = [s.name for s in parts_of(shown[0])]
    # Masked fields or findings of another version could differ: only those with the same parts share a map.
    shown = [f for f in shown if [s.name for s in parts_of(f)] == columns]
    legend = [(_letter(i), title(f, names)) for i, f in enumerate(shown)]
    rows = [
        [f"{_letter(i)} · {s.name}", with_interval(s.estimate, "share"), _five(f, s), number(_floor(s), "share")]
        for i, f in enumerate(shown)
        for s in parts_of(f)
    ]
    head = ["Part", "First attempt", "Five attempts", "Floor"]
    return HeatMap(shown[0].subject or "", _draw(shown, columns), legend, head, rows)


def _five(finding: Finding, part: Slice) -> str:
    found = next((s for s in finding.slices if s.kind == "part_top5" and s.name == part.name), None)
    return "–" if found is None else with_interval(found.estimate, "share")


def _floor(part: Slice) -> float:
    return math.nan if part.floor is None else part.floor


def _letter(index: int) -> str:
    return chr(ord("A") + index) if index < 26 else str(index + 1)


def _draw(findings: Sequence[Finding], columns: Sequence[str]) -> Markup:
    """Cells as dark as the share that was read."""
    height = _HEAD + _ROW * len(findings) + 4
    said = "; ".join(
        f"{_letter(i)}: " + ", ".join(f"{s.name} {number(s.estimate.value, 'share')}" for s in parts_of(f))
        for i, f in enumerate(findings)
    )
    parts = [
        Markup('<svg class="plot heat tone-high" width="100%" height="{}" role="img" aria-label="{}">').format(
            height, f"Share read right by part. {said}"
        )
    ]
    wide = (100 - 4) / len(columns)
    for i, name in enumerate(columns):
        label = name.rpartition(".")[2] if len(columns) <= _MOST_FIGURES else (str(i + 1) if i % 5 in (0, 4) else "")
        text = Markup('<text x="{:.2f}%" y="12" text-anchor="middle">{}</text>')
        parts.append(text.format(4 + wide * (i + 0.5), label))
    for row, finding in enumerate(findings):
        top = _HEAD + _ROW * row
        parts.append(Markup('<text x="0" y="{}" class="row-name">{}</text>').format(top + 19, _letter(row)))
        for i, part in enumerate(parts_of(finding)):
            parts += _cell(4 + wide * i, top, wide, part, figures=len(columns) <= _MOST_FIGURES)
    parts.append(Markup("</svg>"))
    return Markup("").join(parts)


def _cell(x: float, top: int, wide: float, part: Slice, *, figures: bool) -> list[Markup]:
    value, floor = part.estimate.value, _floor(part)
    if not math.isfinite(value):
        return []
    box = Markup(
        '<rect class="track" x="{0:.2f}%" y="{1}" width="{2:.2f}%" height="{3}"/>'
        '<rect class="heat-cell" x="{0:.2f}%" y="{1}" width="{2:.2f}%" height="{3}" fill-opacity="{4:.3f}">'
        "<title>{5}</title></rect>"
    )
    about = f"{part.name}: {with_interval(part.estimate, 'share')}, floor {number(floor, 'share')}"
    drawn = [box.format(x, top + 1, wide - 0.25, _ROW - 2, value, about)]
    if figures:
        kind = "heat-dark" if value > 0.55 else "heat-light"
        text = Markup('<text class="{}" x="{:.2f}%" y="{}" text-anchor="middle">{}</text>')
        drawn.append(text.format(kind, x + wide / 2, top + 19, f"{value * 100:.0f}%"))
    return drawn
