"""Two runs side by side: what got worse, what got better, what came and went.

Findings are paired by what they measure. A change counts when the two intervals of the excess don't
overlap, which is stricter than a test of the difference: no overlap is clear, overlap is not proof of
sameness. Where neither run shows a leak there is none that could become more or less.
"""

from __future__ import annotations

import math
from typing import Literal, get_args

from unembed.metrics.estimate import Estimate
from unembed.report.clean import clean_text
from unembed.report.findings import about, measured
from unembed.report.html import page
from unembed.report.markdown import escape, table
from unembed.report.numbers import difference, number, with_interval
from unembed.results.schema import Finding, Measured, Run
from unembed.strict import Strict

Change = Literal["more leak", "less leak", "no clear change", "no leak in either", "not comparable"]

HEAD = ("Finding", "Before", "After", "Excess before", "Excess after", "Difference", "Change")


class Compared(Strict):
    """One finding in both runs."""

    game: str
    attack: str
    adversary: str
    subject: str | None
    defense: str | None
    adaptive: bool | None
    metric: str
    pairs: int
    before: Measured
    after: Measured
    excess_before: Measured
    excess_after: Measured
    difference: float | None
    overlap: bool | None
    change: Change
    title: str


class Comparison(Strict):
    """All pairs, what only one run has, and what makes the runs differ besides."""

    before: str
    after: str
    notes: list[str]
    pairs: list[Compared]
    added: list[str]
    removed: list[str]

    def rows(self) -> list[tuple[str, ...]]:
        """Rows under ``HEAD``, ready for any table."""
        return [
            (
                p.title,
                with_interval(p.before, p.metric),
                with_interval(p.after, p.metric),
                number(p.excess_before.value, p.metric),
                number(p.excess_after.value, p.metric),
                "–" if p.difference is None else difference(p.difference, p.metric),
                p.change,
            )
            for p in self.pairs
        ]

    def to_markdown(self) -> str:
        """The comparison as a Markdown section."""
        lines = [f"# {escape(self.before)} → {escape(self.after)}", ""]
        lines += [f"- {escape(note)}" for note in self.notes] + ([""] if self.notes else [])
        lines += table(HEAD, self.rows())
        for label, items in (("Only after", self.added), ("Only before", self.removed)):
            if items:
                lines += [f"## {label}", "", *(f"- {escape(item)}" for item in items), ""]
        return "\n".join(lines)

    def to_html(self) -> str:
        """The comparison as one page that loads nothing."""
        tones = {"more leak": "high", "less leak": "none"}
        rows = [(clean_text(cell) for cell in row) for row in self.rows()]
        return page(
            "compare.html.j2",
            before=clean_text(self.before),
            after=clean_text(self.after),
            notes=[clean_text(note) for note in self.notes],
            head=HEAD,
            rows=[(tones.get(pair.change, "unknown"), list(row)) for pair, row in zip(self.pairs, rows, strict=True)],
            counts={change: n for change in get_args(Change) if (n := sum(p.change == change for p in self.pairs))},
            alone=[
                (label, [clean_text(item) for item in items])
                for label, items in (("Only after", self.added), ("Only before", self.removed))
                if items
            ],
        )

    def to_json(self) -> str:
        """The comparison as JSON."""
        return self.model_dump_json(indent=2) + "\n"


Key = tuple[str, str, str, str | None, str | None, bool | None, str]


def _key(f: Finding) -> Key:
    return (f.game, f.attack, f.adversary, f.subject, f.defense, f.adaptive, f.metric)


def compare_runs(a: Run, b: Run) -> Comparison:
    """``a`` is before, ``b`` after."""
    groups: dict[Key, tuple[list[Finding], list[Finding]]] = {}
    for side, run in enumerate((a, b)):
        for finding in run.findings:
            groups.setdefault(_key(finding), ([], []))[side].append(finding)
    pairs: list[Compared] = []
    added: list[str] = []
    removed: list[str] = []
    for before, after in groups.values():
        matched, only_before, only_after = _match(before, after)
        several = len(before) > 1 or len(after) > 1
        pairs += [_compare(x, y, several) for x, y in matched]
        removed += [_title(f, several) for f in only_before]
        added += [_title(f, several) for f in only_after]
    return Comparison(before=a.title, after=b.title, notes=_notes(a, b), pairs=pairs, added=added, removed=removed)


def _match(
    before: list[Finding], after: list[Finding]
) -> tuple[list[tuple[Finding, Finding]], list[Finding], list[Finding]]:
    """Findings of one key; a curve has several, told apart by the number of pairs."""
    if len(before) == len(after) == 1:
        return [(before[0], after[0])], [], []
    left = list(after)
    matched, alone = [], []
    for f in before:
        twin = next((g for g in left if g.cost.pairs == f.cost.pairs), None)
        if twin is None:
            alone.append(f)
        else:
            left.remove(twin)
            matched.append((f, twin))
    return matched, alone, left


def _title(f: Finding, several: bool) -> str:
    parts = [f.game, f.attack, f.adversary, about(f), f"{f.cost.pairs:,} pairs" if several else ""]
    return " · ".join(p for p in parts if p)


def _compare(x: Finding, y: Finding, several: bool) -> Compared:
    change: Change = "not comparable"
    gap: float | None = None
    overlap: bool | None = None
    if measured(x) and measured(y) and _whole(x.excess) and _whole(y.excess):
        gap = y.excess.value - x.excess.value
        overlap = x.excess.low <= y.excess.high and y.excess.low <= x.excess.high
        if "leak" not in (x.status, y.status):
            change = "no leak in either"
        else:
            change = "no clear change" if overlap else "more leak" if gap > 0 else "less leak"
    same = ("game", "attack", "adversary", "subject", "defense", "adaptive", "metric")
    return Compared(
        **{name: getattr(x, name) for name in same},
        pairs=y.cost.pairs,
        before=x.estimate,
        after=y.estimate,
        excess_before=x.excess,
        excess_after=y.excess,
        difference=gap,
        overlap=overlap,
        change=change,
        title=_title(y, several),
    )


def _whole(e: Estimate) -> bool:
    return all(math.isfinite(v) for v in (e.value, e.low, e.high))


def _notes(a: Run, b: Run) -> list[str]:
    """What else differs between the runs, so that a change is not put down to the wrong cause."""
    notes = []
    if a.encoder.get("name") != b.encoder.get("name"):
        notes.append(f"the encoder differs: {a.encoder.get('name')} and {b.encoder.get('name')}")
    elif a.encoder != b.encoder:
        notes.append("the encoder has the same name and another card")
    if {d.fingerprint for d in a.data} != {d.fingerprint for d in b.data}:
        notes.append("the data differ: a change may come from the texts")
    if a.spec.get("seed") != b.spec.get("seed"):
        notes.append(f"the seed differs: {a.spec.get('seed')} and {b.spec.get('seed')}")
    if a.environment.unembed != b.environment.unembed:
        notes.append(f"unembed differs: {a.environment.unembed} and {b.environment.unembed}")
    for word, run in (("first", a), ("second", b)):
        if run.status != "complete":
            notes.append(f"the {word} run is not complete ({run.status})")
    return notes
