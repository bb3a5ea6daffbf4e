"""A run by question: every finding once, as a row that opens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from unembed.report import charts, inferring, learnt_from, looking, reading
from unembed.report.curves import CurveView, curves
from unembed.report.detection import would_have_found
from unembed.report.findings import UNKNOWN, Names, badge, defended, full_strength, measured, needed, rank, tone
from unembed.report.numbers import difference, number, with_interval
from unembed.report.parts import Bar, Ranking, SampleView, sample_view
from unembed.report.references import scale_line
from unembed.report.sections import KINDS, PLAIN, Kind, Section
from unembed.report.words import STATUS_MEANING, words_of
from unembed.results.schema import Finding, GameCard, Run

#: The sections that games may name for their findings.
SECTIONS: dict[str, Section] = {
    **reading.SECTIONS,
    **looking.SECTIONS,
    **inferring.SECTIONS,
    **learnt_from.SECTIONS,
}


def section_of(finding: Finding) -> Section:
    """The words for a finding, as its game asked for."""
    return SECTIONS.get(finding.section or "", PLAIN)


@dataclass(frozen=True)
class FindingView:
    """One finding: its row of the chart, and what stands in the fold."""

    finding: Finding
    attack: str
    adversary: str
    defended: str
    tone: str
    badge: str
    value: str
    floor: str
    excess: str
    row: Markup
    sentences: list[str]
    bars: list[Bar]
    chart: Markup | None
    rankings: list[Ranking]
    samples: list[SampleView]
    facts: list[tuple[str, str]]
    figures: list[tuple[str, str]]
    marks: str
    order: int
    best: bool = False

    @property
    def masked(self) -> bool:
        """Whether its examples are masked."""
        return all(sample.masked for sample in self.finding.samples)


@dataclass(frozen=True)
class QuestionView:
    """One question on one subject, with all findings on it, the largest leak first."""

    card: GameCard
    kind: Kind
    anchor: str
    subject: str
    lead: str
    ruler: Markup
    findings: list[FindingView]
    again: bool
    """Whether the question before it is the same one on another subject."""
    curves: list[CurveView] = field(default_factory=list)

    @property
    def title(self) -> str:
        """The question, with its subject."""
        return f"{self.card.question} ({self.subject})" if self.subject else self.card.question

    @property
    def consequence(self) -> str:
        """What a leak means; said as a supposition where none was found."""
        leaks = any(f.finding.status == "leak" and measured(f.finding) for f in self.findings)
        text = self.card.consequence
        return text if leaks or not text else f"What a leak would mean: {text}"


def questions(run: Run) -> list[QuestionView]:
    """All questions in the order of the cards, each with its findings."""
    cards = {card.name: card for card in run.games}
    groups: dict[tuple[str, str], list[Finding]] = {}
    for f in sorted(run.findings, key=lambda f: list(cards).index(f.game) if f.game in cards else len(cards)):
        groups.setdefault((f.game, f.subject or ""), []).append(f)
    kinds = list(KINDS)
    ordered = sorted(groups.items(), key=lambda item: kinds.index(section_of(item[1][0]).kind))
    names, views, before = Names(run), list[QuestionView](), ""
    for (game, subject), found in ordered:
        card, anchor = cards.get(game) or _nameless(game, found[0]), f"question-{len(views) + 1}"
        views.append(_question(run, names, card, subject, found, anchor, again=game == before))
        before = game
    return views


def _nameless(game: str, finding: Finding) -> GameCard:
    return GameCard(name=game, question=game, metric=finding.metric, metric_meaning="", consequence="")


def _question(
    run: Run, names: Names, card: GameCard, subject: str, found: Sequence[Finding], anchor: str, *, again: bool
) -> QuestionView:
    shown = sorted(full_strength(found), key=rank)
    axis = charts.Axis.holding([v for f in shown for v in (f.estimate.low, f.estimate.high, f.floor.value)])
    easiest = sorted(shown, key=lambda f: (names.strength(f.adversary), rank(f)))
    places = {f.id: place for place, f in enumerate(easiest)}
    return QuestionView(
        card,
        section_of(found[0]).kind,
        anchor,
        subject,
        section_of(found[0]).lead,
        charts.ruler(axis, found[0].metric),
        [_view(run, names, f, axis, places[f.id], best=f is shown[0]) for f in shown],
        again,
        curves(list(found), names),
    )


def _view(run: Run, names: Names, finding: Finding, axis: charts.Axis, place: int, *, best: bool) -> FindingView:
    metric, sure, section = finding.metric, measured(finding), section_of(finding)
    value = with_interval(finding.estimate, metric) if sure else "no result"
    defenses = list(dict.fromkeys(f.defense for f in run.findings))
    return FindingView(
        finding,
        names.attack(finding.attack),
        names.adversary(finding.adversary),
        defended(finding),
        tone(finding),
        badge(finding),
        value,
        number(finding.floor.value, metric),
        difference(finding.excess.value, metric) if sure else "–",
        charts.dot_row(
            axis,
            finding.estimate,
            [f.estimate.value for f in finding.floors],
            finding.floor.value,
            tone=tone(finding),
            trusted=sure,
            label=f"{names.title(finding)}: {value}; floor {number(finding.floor.value, metric)}; {badge(finding)}",
        ),
        section.sentences(run, finding) if sure else [UNKNOWN],
        section.bars(finding) if sure else [],
        section.chart(finding) if sure else None,
        section.rankings(finding) if sure else [],
        [sample_view(s) for s in finding.samples],
        _facts(finding),
        [(words_of(name), with_interval(e, name)) for name, e in finding.secondary.items()] if sure else [],
        f"by-{names.strength(finding.adversary)} is-{'leak' if finding.status == 'leak' and sure else 'rest'} "
        f"with-{defenses.index(finding.defense)}",
        place,
        best,
    )


def _facts(finding: Finding) -> list[tuple[str, str]]:
    """What the sentences leave out, as rows of a name and a text."""
    metric = finding.metric
    rows = [] if finding.status == "leak" else [("What this means", STATUS_MEANING[finding.status])]
    if measured(finding):
        low, high = difference(finding.excess.low, metric), difference(finding.excess.high, metric)
        rows.append(("Above the floor", f"{difference(finding.excess.value, metric)}, from {low} to {high}"))
    rows.append(("The adversary needed", needed(finding)))
    if finding.reason:
        rows.append(("Why this status", finding.reason))
    rows.append(("Trusted" if finding.trust.trusted else "Not trusted", finding.trust.reason))
    if limit := would_have_found(finding):
        rows.append(("Would have been found", limit))
    if scale := scale_line(finding):
        rows.append(("On the same texts", scale))
    rows += [("Note", note) for note in finding.notes]
    return [*rows, ("Identity", f"finding {finding.id}, cell {finding.cell}, seed {finding.seed}")]
