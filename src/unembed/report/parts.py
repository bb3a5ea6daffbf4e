"""What stands in the fold of a finding: shares as bars, parts one beneath the other, examples.

A mean hides who is exposed, so every part (a word, a value of an attribute) has a row of its own with its floor, and
its colour comes from that row alone. Of long lists both ends are drawn; the rest stands in a table.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from markupsafe import Markup

from unembed.games.levels import level_of
from unembed.metrics.estimate import Estimate
from unembed.report import charts
from unembed.report.numbers import MISSING, count, difference, number, with_interval
from unembed.results.schema import Finding, Sample, Slice

#: Up to so many parts are all drawn; of more, the most and the least exposed.
MOST_DRAWN = 20
FIRST, LAST = 12, 5
#: So many of the words an attack names, and of those it missed, are shown; the rest is counted.
SHOWN = 24
_RUNNING_NUMBER = re.compile(r" \((\w+) (\d+)\)$")


@dataclass(frozen=True)
class Bar:
    """One share: its name, its value with interval, what is reached without the vectors, its bar."""

    name: str
    value: str
    floor: str
    drawn: Markup


@dataclass(frozen=True)
class Row:
    """One part: its name (masked unless asked for), its result and floor in words, its chart."""

    name: str
    texts: str
    value: str
    floor: str
    above: str
    note: str
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
    def between(self) -> list[Row]:
        """Those that are not drawn."""
        return self.rows[len(self.first) : len(self.rows) - len(self.last)]

    def cells(self, rows: Sequence[Row]) -> list[tuple[str, ...]]:
        """Rows of a table, under ``head``."""
        return [(r.name, r.texts, r.value, r.floor, r.above)[: len(self.head)] for r in rows]


def share_bar(name: str, estimate: Estimate, floor: float | None, colour: str, *, metric: str = "share") -> Bar:
    """A bar on the scale from 0 to 1."""
    known = math.nan if floor is None else floor
    value, without = with_interval(estimate, metric), number(known, metric)
    label = f"{name}: {value}, floor {without if without != MISSING else 'not known'}"
    return Bar(name, value, without, charts.bar(charts.Axis(), estimate, floor, tone=colour, label=label))


def slices(finding: Finding, kind: str) -> list[Slice]:
    """The parts of one kind in the result's own order."""
    return [s for s in finding.slices if s.kind == kind]


def by_exposure(parts: Sequence[Slice]) -> list[Slice]:
    """The most exposed first: those clearly above their floor, by how far; then the others, by how far.

    The distance alone would put parts with a handful of texts at the top by luck.
    """
    return sorted(parts, key=lambda s: (not clear(s), -_above(s)))


def ranking(
    heading: str,
    columns: tuple[str, str, str],
    parts: Sequence[Slice],
    *,
    metric: str = "share",
    colour: str = "unknown",
    note: str = "",
    notes: Mapping[str, str] | None = None,
) -> Ranking:
    """Parts as ordered, with their charts on one scale; those without a floor get the colour given."""
    ends = [v for s in parts for v in (s.estimate.low, s.estimate.high, floor_of(s))]
    axis = charts.Axis.holding(ends)
    rows = [_row(s, axis, metric, colour, (notes or {}).get(s.name, "")) for s in parts]
    head = (*columns, "Floor", "Above the floor") if any(s.floor is not None for s in parts) else columns
    return Ranking(heading, note, head, rows, charts.ruler(axis, metric))


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
    return level_of(part.estimate.value, floor_of(part)) if clear(part) else "unknown"


def part_name(part: Slice) -> str:
    """The name of a part; masked ones keep their number, because many look alike."""
    return _RUNNING_NUMBER.sub(r" (no. \2)", part.name)


def other_kinds(finding: Finding, known: Sequence[str]) -> list[Ranking]:
    """Parts of kinds a section has no words for."""
    kinds = dict.fromkeys(s.kind for s in finding.slices if s.kind not in known)
    return [ranking(f"By {k}", ("Part", "Texts", "Result"), by_exposure(slices(finding, k))) for k in kinds]


def how_many(parts: Sequence[Slice], one: str, what: str) -> str:
    """How many parts lie clearly above their floors, in a sentence."""
    above, n = sum(map(clear, parts)), len(parts)
    if n == 1:
        return f"The one {one} is {'' if above else 'not '}{what}."
    if above in (0, n):
        return f"{'All' if above else 'None of the'} {count(n)} {one}s are {what}."
    return f"Of {count(n)} {one}s, {count(above)} {'is' if above == 1 else 'are'} {what}."


def _above(part: Slice) -> float:
    gap = part.estimate.value - floor_of(part)
    return gap if math.isfinite(gap) else -math.inf


def _row(part: Slice, axis: charts.Axis, metric: str, colour: str, note: str) -> Row:
    floor = math.nan if part.floor is None else part.floor
    name, value, without = part_name(part), with_interval(part.estimate, metric), number(floor, metric)
    tone = colour if part.floor is None else part_tone(part)
    label = f"{name}: {value}; floor {without if without != MISSING else 'not known'}"
    drawn = charts.dot_row(axis, part.estimate, [], floor, tone=tone, trusted=True, label=label)
    above = difference(part.estimate.value - floor, metric)
    return Row(name, count(part.estimate.n), value, without, above, note, tone, drawn)


@dataclass(frozen=True)
class Word:
    """One word with what became of it; ``plain`` where the result does not say which were right."""

    text: str
    fate: Literal["hit", "wrong", "missed", "plain"]


@dataclass(frozen=True)
class SampleView:
    """One text: the words that were named, surest first, and the words that were missed."""

    target: str
    summary: str
    named: list[Word]
    more: str
    missed: list[Word]
    unseen: str


def sample_view(sample: Sample) -> SampleView:
    """A sample with each of its words judged.

    Masked words that look alike can't be told apart, so it does not matter which of them counts as found. Of masked
    words that were missed only the number is told: no attack found them, so the report must not help.
    """
    judged = len(sample.hits) == len(sample.recovered)
    fates: list[Literal["hit", "wrong", "plain"]] = ["hit" if hit else "wrong" for hit in sample.hits]
    named = [Word(w, fates[i] if judged else "plain") for i, w in enumerate(sample.recovered)]
    found = Counter(w.text for w in named if w.fate == "hit")
    missed = []
    for word in sample.truth:
        if found[word]:
            found[word] -= 1
        else:
            missed.append(Word(word, "missed" if judged else "plain"))
    if judged:
        right = sum(sample.hits)
        wrong = f", {len(named) - right} wrong" if right < len(named) else ""
        summary = (f"{right} of {len(sample.truth)} read back" if sample.truth else "nothing to read back") + wrong
    else:
        summary = f"{len(sample.truth)} in the text, {len(named)} named"
    hidden, shown = named[SHOWN:], [] if sample.masked else missed[:SHOWN]
    right_too = f", {sum(w.fate == 'hit' for w in hidden)} of them right" if judged else ""
    more = f"and {len(hidden)} more{right_too}" if hidden else ""
    left = len(missed) - len(shown)
    unseen = (
        (f"and {count(left)} more" if shown else f"{count(left)} {'word' if left == 1 else 'words'}") if left else ""
    )
    return SampleView(sample.target, summary, named[:SHOWN], more, shown, unseen)
