"""Page one: the answer in a sentence, a card for each thing an attacker does, the price, and what was not tested."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from unembed.games.threat import Capability
from unembed.report.findings import Names, badge, full_strength, measured, rank, tone
from unembed.report.numbers import count, duration
from unembed.report.parts import SampleView, sample_view
from unembed.report.questions import section_of
from unembed.report.sections import KINDS, Figure, Kind
from unembed.report.words import Taxon, capability, taxa
from unembed.results.schema import PAIRS, AdversaryCard, Finding, Run

_LEADS = {
    "high": "These vectors give away much of what the texts say",
    "moderate": "These vectors give away part of what the texts say",
    "low": "These vectors give away a little of what the texts say",
}
#: The lead where nothing of the texts is read, and only what the model learnt from is told.
_LEARNT = "This model gives away what it learnt from"
_NOT_ASKED: dict[Kind, str] = {
    "read": "Nobody tried to read words.",
    "look": "No word and no form of secret was asked about.",
    "infer": "No column was named to be inferred (--attribute NAME).",
}
NO_OUTSIDER = "No outsider was played, so nothing is known about people without any text of the collection."


@dataclass(frozen=True)
class Card:
    """One thing an attacker does with the vectors: how far the best attack got, and who gets anywhere with least."""

    title: str
    tone: str
    badge: str
    figure: Figure | None
    said: str
    who: str
    easiest: str
    more: list[str]
    example: SampleView | None
    taxa: list[Taxon]


@dataclass(frozen=True)
class Easiest:
    """The weakest adversary that succeeds, what they hold and what it cost them."""

    name: str
    title: str
    holds: list[str]
    price: list[tuple[str, str]]


@dataclass(frozen=True)
class Untested:
    """Something that was not tested, once."""

    what: str
    subject: str
    who: str
    reason: str


def cards(run: Run) -> list[Card]:
    """The three cards, and a fourth where a game asks something else."""
    whole = [f for f in full_strength(run.findings) if f.defense is None and not f.yardstick]
    by_kind: dict[Kind, list[Finding]] = {kind: [] for kind in KINDS}
    for finding in whole:
        by_kind[section_of(finding).kind].append(finding)
    return [_card(run, kind, found) for kind, found in by_kind.items() if found or kind in _NOT_ASKED]


def _card(run: Run, kind: Kind, found: Sequence[Finding]) -> Card:
    names, games = Names(run), {f.game for f in found}
    entries = taxa([tag for card in run.games if card.name in games for tag in card.tags])
    leaks = sorted((f for f in found if f.status == "leak" and measured(f)), key=_gravity)
    if not leaks:
        colour, judged, said = _without_leak(kind, found)
        return Card(KINDS[kind], colour, judged, None, said, "", "", [], None, entries)
    top = leaks[0]
    # The figure of a card may be another one than the metric: whoever has the largest is named.
    figures = {f.id: _figure(run, f) for f in leaks if (f.game, f.subject) == (top.game, top.subject)}
    alike = [f for f in leaks if f.id in figures and figures[f.id].what == figures[top.id].what]
    top = max(alike, key=lambda f: figures[f.id].size)
    least = min(leaks, key=lambda f: (names.strength(f.adversary), _gravity(f)))
    easiest = "" if least.adversary == top.adversary else f"{least.adversary}: {_figure(run, least).clause}"
    further = {(f.game, f.subject): f for f in reversed(leaks) if (f.game, f.subject) != (top.game, top.subject)}
    more = [_figure(run, f).clause for f in sorted(further.values(), key=_gravity)]
    shown = max((s for s in top.samples if s.hits), key=lambda s: sum(s.hits), default=None) if kind == "read" else None
    return Card(
        KINDS[kind],
        tone(top),
        badge(top),
        _figure(run, top),
        "",
        f"{names.adversary(top.adversary)}, from {count(top.cost.pairs)} {top.cost.learns_from}",
        easiest,
        more[:4],
        sample_view(shown) if shown is not None and any(shown.hits) else None,
        entries,
    )


def _figure(run: Run, finding: Finding) -> Figure:
    return section_of(finding).figure(run, finding)


def _gravity(finding: Finding) -> tuple[bool, float, tuple[int, float]]:
    """Leaks of the user's own texts first, then by the share of what was possible."""
    room = finding.headroom
    return finding.about == "encoder", -room if math.isfinite(room) else math.inf, rank(finding)


def _without_leak(kind: Kind, found: Sequence[Finding]) -> tuple[str, str, str]:
    """Colour, judgement and sentence of a card without a leak; only what was measured may reassure."""
    if not found:
        return "unknown", "Not tested", f"{_NOT_ASKED[kind]} Nothing here is known to be safe."
    sure = [f for f in found if measured(f)]
    if not sure:
        return "unknown", "Could not measure", "No attack passed its own check. This is not a sign of safety."
    if any(f.status == "inconclusive" for f in sure):
        return "inconclusive", "Inconclusive", "The measurements allow both a leak and none; the findings say why."
    missing = len(found) - len(sure)
    but = f" {count(missing)} of {count(len(found))} measurements could not be made." if missing else ""
    said = f"No attack did clearly better than guessing; the findings say what would have been found.{but}"
    return "unknown" if missing else "none", "No leak found", f"{said} This is no proof of safety."


def answer(run: Run, shown: Sequence[Card]) -> str:
    """The answer in one sentence; the verdict's own where nothing leaks from the collection."""
    leaking = [card for card in shown if card.figure is not None]
    told = [card.figure.clause for card in leaking if card.figure is not None]
    lead = _LEADS.get(run.verdict.level)
    if lead and all(card.title == KINDS["training"] for card in leaking):
        lead = _LEARNT
    if not told or lead is None:
        return run.verdict.sentence
    listed = told[0] if len(told) == 1 else f"{'; '.join(told[:-1])}; and {told[-1]}"
    return f"{lead}: {listed}."


def easiest(run: Run) -> Easiest | None:
    """Who succeeds with least, and the price of their best attack; None where nobody does."""
    card = next((a for a in run.adversaries if a.name == run.verdict.adversary), None)
    if card is None:
        return None
    own = [f for f in run.findings if f.adversary == card.name and f.status == "leak" and measured(f)]
    own = [f for f in own if f.defense is None]
    named = [f for f in own if f.id in run.verdict.findings] or own
    best = min(named, key=_gravity, default=None)
    holds = [capability(c) for c in card.capabilities]
    return Easiest(card.name, card.title, holds, _price(run, card, best, own) if best else [])


def _price(run: Run, card: AdversaryCard, best: Finding, own: Sequence[Finding]) -> list[tuple[str, str]]:
    cost, inside = best.cost, Capability.SHADOW_CORPUS in card.capabilities
    own = [f for f in own if f.cost.learns_from == cost.learns_from]
    made = "" if inside else ", made of texts of their own that they had encoded"
    held = "texts with their vectors" if cost.learns_from == PAIRS else cost.learns_from
    pairs = f"{count(cost.pairs)} {held}{made}" if cost.pairs else "none"
    fewest = min((f.cost.pairs for f in own if f.curve), default=cost.pairs)
    if fewest < cost.pairs:
        pairs += f" ({count(fewest)} are enough for a leak to show)"
    threads = f", {run.environment.threads} threads" if cost.device == "cpu" else ""
    seconds = f"{duration(cost.fit_seconds + cost.run_seconds)} on {cost.device}{threads}"
    return [
        ("Pairs" if cost.learns_from == PAIRS else "Learnt from", pairs),
        ("Queries", f"{count(cost.queries)} further texts encoded on purpose" if cost.queries else "none besides"),
        ("Computing", f"{seconds}, to attack {count(cost.targets)} vectors"),
        ("Money", _money(run, card, best)),
    ]


def _money(run: Run, card: AdversaryCard, finding: Finding) -> str:
    """What the provider charges, where that is known; never a guess."""
    if Capability.QUERIES not in card.capabilities:
        return "nothing: no text was encoded"
    if not run.encoder.get("remote"):
        return "no fee: the encoder was run on this machine"
    options = (run.spec.get("encoder") or {}).get("options") or {}
    price, currency = options.get("price_per_million_tokens"), options.get("currency")
    role = "adversary" if Capability.SHADOW_CORPUS in card.capabilities else "external"
    tokens = next((d.coverage.tokens for d in run.data if d.role == role and d.coverage), None)
    if price is None or tokens is None or currency is None:
        return f"what the provider charges for {count(finding.cost.pairs + finding.cost.queries)} texts: not known here"
    return f"about {tokens * float(price) / 1e6:,.2f} {currency} at {price} {currency} per million tokens"


def outsider_played(run: Run) -> bool:
    """Whether somebody without any text of the collection attacked."""
    played = {f.adversary for f in run.findings}
    return any(Capability.SHADOW_CORPUS not in a.capabilities for a in run.adversaries if a.name in played)


def untested(run: Run) -> list[Untested]:
    """What was left out and why, each thing once with its subjects and adversaries."""
    names, known = Names(run), {card.name for card in run.attacks}
    groups: dict[tuple[str, str], tuple[dict[str, None], dict[str, None]]] = {}
    for s in run.skipped:
        lacking = " and ".join(capability(m) for m in s.missing)
        reason = f"needs what they lack: {lacking}" if lacking and s.what in known else s.reason
        subjects, who = groups.setdefault((s.what, reason), ({}, {}))
        if s.subject:
            subjects[s.subject] = None
        if s.adversary:
            who[names.adversary(s.adversary)] = None
    return [
        Untested(names.attack(what), ", ".join(subjects), ", ".join(who), reason)
        for (what, reason), (subjects, who) in groups.items()
    ]


def open_questions(run: Run) -> list[str]:
    """What page one says was not tested: in a line each, the rest under its own heading."""
    said = [] if outsider_played(run) or not run.findings else [NO_OUTSIDER]
    unmeasured = sum(not measured(f) for f in full_strength(run.findings) if not f.yardstick)
    failed = sum(cell.status == "failed" for cell in run.cells)
    if unmeasured or failed:
        said.append(f"{_n(unmeasured + failed, 'measurement')} could not be made: not a sign of safety.")
    inconclusive = sum(f.status == "inconclusive" for f in full_strength(run.findings))
    if inconclusive:
        said.append(f"{_n(inconclusive, 'measurement')} could not be settled: both a leak and none are possible.")
    asked = [u for u in untested(run) if not u.who]
    if asked:
        said.append(f"Questions that were not asked: {', '.join(dict.fromkeys(u.what for u in asked))}.")
    lacking = [u for u in untested(run) if u.who]
    if lacking:
        said.append(f"{_n(len(lacking), 'attack')} not played by everybody, because some lack what it takes.")
    return said


def _n(n: int, what: str) -> str:
    return f"{count(n)} {what}{'' if n == 1 else 's'}"
