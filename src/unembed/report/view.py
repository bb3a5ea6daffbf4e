"""A run, arranged as a reader meets it: by question, strongest finding first, with words for every number."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from markupsafe import Markup

from unembed.report import charts, curve_chart
from unembed.report.numbers import count, difference, duration, number, with_interval
from unembed.report.samples import SampleView, sample_view
from unembed.report.words import STATUS, STATUS_MEANING
from unembed.results.schema import Finding, GameCard, Run, Slice

_TONES = {"high": "high", "moderate": "moderate", "low": "low", "none": "none"}
_ORDER = {"leak": 0, "inconclusive": 1, "could-not-measure": 2, "no-leak-found": 3, "yardstick": 4}


def tone(finding: Finding) -> str:
    """The colour class of a finding; what was not measured never gets a reassuring one."""
    if finding.status == "could-not-measure" or not finding.trust.trusted:
        return "unknown"
    if finding.status == "inconclusive":
        return "inconclusive"
    return _TONES.get(finding.level, "unknown")


def badge(finding: Finding) -> str:
    """The short judgement of a finding."""
    if finding.status == "leak" and finding.level in ("high", "moderate", "low"):
        return f"Leak · {finding.level}"
    return STATUS[finding.status]


@dataclass(frozen=True)
class FindingView:
    """One finding with its words and its row of the chart."""

    finding: Finding
    attack: str
    adversary: str
    about: str
    tone: str
    badge: str
    value: str
    floor: str
    excess: str
    meaning: str
    needed: str
    row: Markup
    slices: list[SliceView]
    samples: list[SampleView]
    masked: bool

    @property
    def title(self) -> str:
        """What tells this finding from the others of its game."""
        return " · ".join(part for part in (self.attack, self.adversary, self.about) if part)


@dataclass(frozen=True)
class SliceView:
    """One slice with its bar."""

    kind: str
    name: str
    value: str
    floor: str
    bar: Markup


@dataclass(frozen=True)
class CurveView:
    """A curve and its text."""

    title: str
    chart: Markup
    legend: list[tuple[Markup, str]]
    price: str
    rows: list[tuple[str, str, str, str]]


@dataclass(frozen=True)
class GameView:
    """One question with all findings on it."""

    card: GameCard
    anchor: str
    findings: list[FindingView]
    ruler: Markup
    curves: list[CurveView]
    floors: list[str]

    @property
    def consequence(self) -> str:
        """What a leak means; said as a supposition where none was found."""
        leaks = any(f.finding.status == "leak" and measured(f.finding) for f in self.findings)
        text = self.card.consequence
        return text if leaks or not text else f"What a leak would mean: {text}"


class Names:
    """Titles of attacks and adversaries, from the run's own cards."""

    def __init__(self, run: Run) -> None:
        self._attacks = {card.name: card.title for card in run.attacks}
        self._adversaries = {card.name: card.title for card in run.adversaries}

    def attack(self, name: str) -> str:
        """The title of an attack, or its name."""
        return self._attacks.get(name) or name

    def adversary(self, name: str) -> str:
        """The title of an adversary, or their name."""
        return self._adversaries.get(name) or name


def about(finding: Finding) -> str:
    """Subject and defense in words."""
    parts = [finding.subject] if finding.subject else []
    if finding.defense:
        known = {True: ", adversary adapts", False: ", adversary doesn't adapt", None: ""}[finding.adaptive]
        parts.append(f"defended by {finding.defense}{known}")
    return " · ".join(parts)


def needed(finding: Finding) -> str:
    """What the adversary needed, in one line."""
    cost = finding.cost
    parts = [f"{count(cost.pairs)} known pairs"] if cost.pairs else ["no known pairs"]
    parts.append(f"{count(cost.queries)} queries" if cost.queries else "no queries")
    parts.append(f"{duration(cost.fit_seconds + cost.run_seconds)} on {cost.device}")
    return ", ".join(parts) + f", to attack {count(cost.targets)} vectors"


def measured(finding: Finding) -> bool:
    """Whether the finding's number may be read as a result."""
    trusted = finding.trust.trusted and finding.status != "could-not-measure"
    return trusted and math.isfinite(finding.estimate.value)


def _view(finding: Finding, names: Names, axis: charts.Axis) -> FindingView:
    metric, sure = finding.metric, measured(finding)
    value = with_interval(finding.estimate, metric) if sure else "no result"
    floor = with_interval(finding.floor, metric)
    excess = difference(finding.excess.value, metric) if sure else "–"
    title = f"{names.attack(finding.attack)}, {names.adversary(finding.adversary)}"
    label = f"{title}: {value}; floor {number(finding.floor.value, metric)}; {badge(finding)}"
    row = charts.dot_row(
        axis,
        finding.estimate,
        [f.estimate.value for f in finding.floors],
        finding.floor.value,
        tone=tone(finding),
        trusted=sure,
        label=label,
    )
    scale = charts.Axis.holding([v for s in finding.slices for v in (s.estimate.low, s.estimate.high, s.floor or 0.0)])
    slices = [_slice(s, metric, tone(finding), scale) for s in finding.slices] if sure else []
    return FindingView(
        finding,
        names.attack(finding.attack),
        names.adversary(finding.adversary),
        about(finding),
        tone(finding),
        badge(finding),
        value,
        floor,
        excess,
        STATUS_MEANING[finding.status],
        needed(finding),
        row,
        slices,
        [sample_view(s) for s in finding.samples],
        all(s.masked for s in finding.samples),
    )


def _slice(part: Slice, metric: str, colour: str, axis: charts.Axis) -> SliceView:
    floor = math.nan if part.floor is None else part.floor
    label = f"{part.name}: {with_interval(part.estimate, metric)}, floor {number(floor, metric)}"
    drawn = charts.bar(axis, part.estimate, part.floor, tone=colour, label=label)
    return SliceView(part.kind, part.name, with_interval(part.estimate, metric), number(floor, metric), drawn)


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
    data = curve_chart.Curve(
        " · ".join(p for p in (names.adversary(first.adversary), about(first)) if p),
        first.metric,
        [
            curve_chart.Line(
                names.attack(line[0].attack),
                [curve_chart.CurvePoint(f.cost.pairs, f.estimate, f.floor.value) for f in line],
            )
            for line in lines
        ],
    )
    rows = [
        (line.title, count(p.pairs), with_interval(p.estimate, data.metric), number(p.floor, data.metric))
        for line in data.lines
        for p in line.points
    ]
    legend = [(curve_chart.mark(style), line.title) for style, line in enumerate(data.lines)]
    return CurveView(data.title, curve_chart.curve_chart(data), legend, _price(lines), rows)


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


def games(run: Run) -> list[GameView]:
    """All questions in the run's own order, each with its findings, leaks first."""
    names = Names(run)
    cards = {card.name: card for card in run.games}
    by_game: dict[str, list[Finding]] = {name: [] for name in cards}
    for finding in run.findings:
        by_game.setdefault(finding.game, []).append(finding)
    views = []
    for index, (name, found) in enumerate(by_game.items(), 1):
        if not found:
            continue
        card = cards.get(name) or GameCard(
            name=name, question=name, metric=found[0].metric, metric_meaning="", consequence=""
        )
        shown = [f for f in found if not f.curve] or found
        ordered = sorted(shown, key=lambda f: (_ORDER[f.status], -sortable(f.excess.value)))
        scale = [v for f in shown for v in (f.estimate.low, f.estimate.high, f.floor.value)]
        axis = charts.Axis.holding(scale)
        listed = [_view(f, names, axis) for f in ordered]
        kinds = sorted({floor.kind for f in found for floor in f.floors})
        views.append(
            GameView(
                card,
                f"game-{index}",
                listed,
                charts.ruler(axis, found[0].metric),
                curves(found, names),
                list(kinds),
            )
        )
    return views


def sortable(value: float) -> float:
    """A value to sort by, in which what was not measured comes last."""
    return value if math.isfinite(value) else -math.inf
