"""A run, arranged as a reader meets it: by question, strongest finding first, with words for every number."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from markupsafe import Markup

from unembed.report import charts
from unembed.report.numbers import count, difference, duration, number, with_interval
from unembed.report.words import STATUS, STATUS_MEANING
from unembed.results.schema import Finding, GameCard, Run, Slice

_TONES = {"high": "high", "moderate": "moderate", "low": "low", "none": "none"}
_ORDER = {"leak": 0, "inconclusive": 1, "could-not-measure": 2, "no-leak-found": 3}


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
    points: list[tuple[str, str, str]]


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
    )


def _slice(part: Slice, metric: str, colour: str, axis: charts.Axis) -> SliceView:
    floor = math.nan if part.floor is None else part.floor
    label = f"{part.name}: {with_interval(part.estimate, metric)}, floor {number(floor, metric)}"
    drawn = charts.bar(axis, part.estimate, part.floor, tone=colour, label=label)
    return SliceView(part.kind, part.name, with_interval(part.estimate, metric), number(floor, metric), drawn)


def alike(findings: list[Finding]) -> list[list[Finding]]:
    """Findings that differ in the number of pairs alone, together."""
    groups: dict[tuple[object, ...], list[Finding]] = defaultdict(list)
    for f in findings:
        groups[(f.attack, f.adversary, f.subject, f.defense, f.adaptive, f.metric)].append(f)
    return list(groups.values())


def curves(findings: list[Finding], names: Names) -> list[CurveView]:
    """Results over the number of pairs, where there are several."""
    views = []
    for group in alike([f for f in findings if measured(f)]):
        if len({f.cost.pairs for f in group}) < 2:
            continue
        ordered = sorted(group, key=lambda f: f.cost.pairs)
        first = ordered[0]
        parts = (names.attack(first.attack), names.adversary(first.adversary), about(first))
        data = charts.Curve(
            " · ".join(p for p in parts if p),
            first.metric,
            [charts.CurvePoint(f.cost.pairs, f.estimate, f.floor.value) for f in ordered],
        )
        points = [
            (count(f.cost.pairs), with_interval(f.estimate, f.metric), number(f.floor.value, f.metric)) for f in ordered
        ]
        views.append(CurveView(data.title, charts.curve(data, tone=tone(ordered[-1])), points))
    return views


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
