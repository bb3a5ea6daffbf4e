"""Parts of a measurement one beneath the other, the most exposed first: keywords, values of an attribute.

A mean hides who is exposed, so every part has a row of its own with its floor, and its colour comes from that row
alone. Long lists show both ends in the chart; the table holds all of them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from unembed.games.levels import level_of
from unembed.report import charts
from unembed.report.numbers import MISSING, count, difference, number, with_interval
from unembed.report.readers import Bar, Reader, by_adversary, rank, reader, share_bar, title
from unembed.report.samples import SampleView, sample_view
from unembed.report.view import Names, measured
from unembed.results.schema import Finding, Run, Slice

#: Up to so many parts are all drawn; of more, the most and the least exposed.
MOST_DRAWN = 20
FIRST, LAST = 12, 5
_RUNNING_NUMBER = re.compile(r" \((class|keyword) (\d+)\)$")


@dataclass(frozen=True)
class Row:
    """One part: its name (masked unless asked for), its result and floor in words, its chart."""

    name: str
    texts: str
    value: str
    floor: str
    above: str
    tone: str
    drawn: Markup


@dataclass(frozen=True)
class Ranking:
    """Parts of one kind, the most exposed first."""

    heading: str
    note: str
    head: tuple[str, ...]
    rows: list[Row]
    ruler: Markup

    @property
    def first(self) -> list[Row]:
        """The most exposed, or all if there are few."""
        return self.rows if len(self.rows) <= MOST_DRAWN else self.rows[:FIRST]

    @property
    def last(self) -> list[Row]:
        """The least exposed, where not all are drawn."""
        return [] if len(self.rows) <= MOST_DRAWN else self.rows[-LAST:]

    @property
    def between(self) -> int:
        """How many stand in the table alone."""
        return len(self.rows) - len(self.first) - len(self.last)

    def cells(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        """Rows of a table, under ``head``."""
        return [(r.name, r.texts, r.value, r.floor, r.above)[: len(self.head)] for r in rows]


@dataclass(frozen=True)
class Detail:
    """What belongs to one finding: its parts and its samples."""

    title: str
    rankings: list[Ranking]
    samples: list[SampleView]
    masked: bool


@dataclass(frozen=True)
class Topic:
    """One subject (a column, a list of words): what each adversary tells of it, and the parts."""

    subject: str
    readers: list[Reader]
    details: list[Detail]


def topics(
    run: Run,
    section: str,
    sentences: Callable[[Finding], list[str]],
    bars: Callable[[Finding], list[Bar]],
    rankings: Callable[[Finding], list[Ranking]],
) -> list[Topic]:
    """The findings of one section, a topic per subject; none where it has no findings.

    A yardstick reads the texts themselves: it is no adversary and has no card.
    """
    found = [f for f in run.findings if f.section == section and not f.yardstick]
    found = [f for f in found if not f.curve] or found
    names = Names(run)
    listed = []
    for subject in dict.fromkeys(f.subject or "" for f in found):
        own = [f for f in found if (f.subject or "") == subject]
        ordered = sorted((f for f in own if measured(f)), key=lambda f: -rank(f))
        details = [
            Detail(
                title(f, names),
                rankings(f),
                [sample_view(s) for s in f.samples],
                all(s.masked for s in f.samples),
            )
            for f in ordered
            if f.slices or f.samples
        ]
        best = [group[0] for group in by_adversary(own, run)]
        listed.append(Topic(subject, [reader(f, names, sentences, bars) for f in best], details))
    return listed


def by_exposure(parts: Sequence[Slice]) -> list[Slice]:
    """The most exposed first: by how far the lower end of the interval lies above the floor.

    The value alone would put parts with a handful of texts at the top by luck.
    """
    return sorted(parts, key=lambda s: floor_of(s) - s.estimate.low if math.isfinite(s.estimate.value) else math.inf)


def ranking(
    heading: str, columns: tuple[str, str, str], parts: Sequence[Slice], *, colour: str = "unknown", note: str = ""
) -> Ranking:
    """Parts of one kind as ordered, with their charts on one scale; those without a floor get the colour given."""
    ends = [v for s in parts for v in (s.estimate.low, s.estimate.high, floor_of(s))]
    axis = charts.Axis.holding(ends)
    rows = [_row(s, axis, colour) for s in parts]
    head = (*columns, "Floor", "Above the floor") if any(s.floor is not None for s in parts) else columns
    return Ranking(heading, note, head, rows, charts.ruler(axis, "share"))


def floor_of(part: Slice) -> float:
    """What is reached for this part without the vectors; 0 where the result does not say."""
    return part.floor if part.floor is not None and math.isfinite(part.floor) else 0.0


def clear(part: Slice) -> bool:
    """Whether it is above its floor for sure; by its interval where the number of parts was not considered."""
    if part.clear is not None:
        return part.clear
    return part.floor is not None and part.estimate.low > part.floor


def part_tone(part: Slice) -> str:
    """The colour of one part; one that is not clearly above its floor gets none, and never a reassuring one."""
    if not clear(part):
        return "unknown"
    return level_of(part.estimate.value, floor_of(part))


def part_name(part: Slice) -> str:
    """The name of a part; masked ones keep their number, because many look alike."""
    return _RUNNING_NUMBER.sub(r" (no. \2)", part.name)


def between_extremes(bars: list[Bar], parts: Sequence[Slice]) -> list[Bar]:
    """A reader's bars between those of the most and the least exposed part, where there are two parts or more."""
    if len(parts) < 2:
        return bars
    return [_part_bar("most exposed", parts[0]), *bars, _part_bar("least exposed", parts[-1])]


def _part_bar(prefix: str, part: Slice) -> Bar:
    return share_bar(f"{prefix}: {part_name(part)}", part.estimate, part.floor, part_tone(part))


def _row(part: Slice, axis: charts.Axis, colour: str) -> Row:
    floor = math.nan if part.floor is None else part.floor
    name, value, without = part_name(part), with_interval(part.estimate, "share"), number(floor, "share")
    tone = colour if part.floor is None else part_tone(part)
    label = f"{name}: {value}; floor {without if without != MISSING else 'not known'}"
    drawn = charts.dot_row(axis, part.estimate, [], floor, tone=tone, trusted=True, label=label)
    above = difference(part.estimate.value - floor, "share")
    return Row(name, count(part.estimate.n), value, without, above, tone, drawn)


def other_kinds(finding: Finding, known: Sequence[str]) -> list[Ranking]:
    """Parts of kinds a section has no words for."""
    kinds = dict.fromkeys(s.kind for s in finding.slices if s.kind not in known)
    columns = ("Part", "Texts", "Result")
    return [
        ranking(f"By {kind}", columns, by_exposure([s for s in finding.slices if s.kind == kind])) for kind in kinds
    ]


def how_many(parts: Sequence[Slice], one: str, what: str) -> str:
    """How many parts lie clearly above their floors, in a sentence."""
    above, n = sum(map(clear, parts)), len(parts)
    if n == 1:
        return f"The one {one} is {'' if above else 'not '}{what}."
    if above in (0, n):
        return f"{'All' if above else 'None of the'} {count(n)} {one}s are {what}."
    return f"Of {count(n)} {one}s, {count(above)} {'is' if above == 1 else 'are'} {what}."
