"""What to do about it: a table of rules, in the order of what they gain. Nothing is promised that was not measured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from unembed.frontier.points import pareto, points_of
from unembed.games.threat import Capability
from unembed.report.answer import outsider_played
from unembed.report.findings import Names, full_strength, measured, rank
from unembed.report.numbers import difference, number
from unembed.report.questions import section_of
from unembed.report.words import LEVEL
from unembed.results.schema import Finding, Run, UtilityScore, Verdict

#: So many defenses are told one by one; of more only those that nothing beats.
FEW_DEFENSES = 3


@dataclass(frozen=True)
class Advice:
    """One thing to do, and the finding that it follows from."""

    do: str
    why: str


class Situation:
    """What the rules look at."""

    def __init__(self, run: Run) -> None:
        self.run, self.names = run, Names(run)
        found = [f for f in full_strength(run.findings) if not f.yardstick]
        self.plain = [f for f in found if f.defense is None]
        self.leaks = [f for f in self.plain if f.status == "leak" and measured(f)]
        self.learnt = [f for f in self.leaks if section_of(f).kind == "training"]
        self.own = [f for f in self.leaks if f.about == "collection" and f not in self.learnt]
        self.held = {card.name: set(card.capabilities) for card in run.adversaries}
        self.outside = [f for f in self.own if Capability.SHADOW_CORPUS not in self.held.get(f.adversary, set())]
        self.open = [f for f in self.plain if f.status in ("inconclusive", "could-not-measure") or not measured(f)]

    def best(self, *, weights: bool) -> Finding | None:
        """The largest leak of those who have texts of the collection, with or without the weights."""
        inside = [f for f in self.own if f not in self.outside]
        return min(
            (f for f in inside if weights == (Capability.WEIGHTS in self.held[f.adversary])), key=rank, default=None
        )


def _weights(s: Situation) -> Advice | None:
    """Whether hiding the model helps, as far as both sides were measured on the same question."""
    with_them = s.best(weights=True)
    if with_them is None:
        return None
    rivals = [f for f in s.own if (f.game, f.subject) == (with_them.game, with_them.subject)]
    without = min(
        (f for f in rivals if Capability.WEIGHTS not in s.held.get(f.adversary, set())), key=rank, default=None
    )
    if without is None:
        return None
    a, b = (number(f.estimate.value, f.metric) for f in (with_them, without))
    score = with_them.metric.replace("_", " ")
    if with_them.estimate.low > without.estimate.high:
        do = "Keep the model's weights private."
        return Advice(do, f"With them an attacker reaches a {score} of {a}, without them {b}.")
    return Advice(
        "Don't count on keeping the model's weights private.",
        f"The attack through the weights reaches a {score} of {a}, attacks without them {b}.",
    )


def _defenses(s: Situation) -> Advice | None:
    order = {"none": 0, "low": 1, "moderate": 2, "high": 3, "unknown": 4}
    variants = sorted(s.run.verdict.variants, key=lambda v: order[v.level])
    if variants:
        helped = order[variants[0].level] < order[s.run.verdict.level]
        do = "Weigh the defenses that were measured." if helped else "Don't rely on the defenses that were measured."
        told = variants if len(variants) <= FEW_DEFENSES else [v for v in variants if v.variant in _front(s.run)]
        more = "" if len(told) == len(variants) else f" Of {len(variants)} that were measured, nothing beats these."
        return Advice(do, " ".join(_defense(s, v) for v in told) + more)
    if s.own and not any(f.defense for f in s.run.findings):
        return Advice("Measure a defense before you rely on one (--defense NAME).", "None was measured in this audit.")
    return None


def _front(run: Run) -> set[str | None]:
    return {point.variant for point in pareto(points_of(run))}


def _defense(s: Situation, v: Verdict) -> str:
    spent = [_lost(u) for u in s.run.utility if u.variant == v.variant and u.loss is not None and not u.error]
    cost = f"costs {', '.join(spent)}" if spent else "what it costs was not measured"
    return f"{v.variant}: {LEVEL[v.level].lower()} against somebody who knows it; {cost}."


def _lost(score: UtilityScore) -> str:
    assert score.loss is not None
    return f"{difference(score.loss.value, score.metric).removeprefix('+')} of “{score.title.lower()}”"


def _insider(s: Situation) -> Advice | None:
    if not s.own or s.outside:
        return None
    why = "Whoever succeeded held texts of this collection together with their vectors."
    known = "who was played did not clearly succeed" if outsider_played(s.run) else "was not played"
    return Advice("Keep texts and vectors apart.", f"{why} The outsider {known}.")


def _secrets(s: Situation) -> Advice | None:
    found = [f for f in s.leaks if section_of(f).chart(f) is not None]
    names = ", ".join(dict.fromkeys(f"“{f.subject}”" for f in found if f.subject))
    do = f"Take secrets of the form {names} out of the texts before they are encoded."
    return Advice(do, "Parts of them are read back. What taking them out gains was not measured.") if names else None


def _settle(s: Situation) -> Advice | None:
    if not s.open:
        return None
    n = len(s.open)
    return Advice(
        f"Settle what is open: {n} measurement{'' if n == 1 else 's'} without a result.",
        "Each finding says why; more texts narrow an interval. Open is not safe.",
    )


def _simple(when: Callable[[Situation], object], do: str, why: str) -> Callable[[Situation], Advice | None]:
    return lambda s: Advice(do, why) if when(s) else None


#: The rules, the largest gain first; one that does not apply says nothing.
RULES: tuple[Callable[[Situation], Advice | None], ...] = (
    _simple(
        lambda s: s.own,
        "Treat the vectors as you treat the texts.",
        "They give part of the texts back: where the texts are personal data, so are the vectors.",
    ),
    _simple(
        lambda s: s.own,
        "Give the vectors to nobody who may not read the texts.",
        "Every attack here starts from a copy of the vectors: index, backups, logs and exports alike.",
    ),
    _simple(
        lambda s: s.outside,
        "Don't publish or share the vectors, not even without the texts.",
        "Somebody without any text of the collection succeeded.",
    ),
    _insider,
    _simple(
        lambda s: s.own,
        "Delete the vectors of every chunk when you delete a text.",
        "A vector that is left behind gives away the text that is gone.",
    ),
    _simple(
        lambda s: s.learnt,
        "Give the model, and leave to ask it, to nobody who may not know whose texts it learnt from.",
        "Whoever has a text can ask the model whether it learnt from it.",
    ),
    _simple(
        lambda s: s.learnt,
        "Train again without the texts of those who ask to be forgotten.",
        "Deleting texts and vectors takes nothing out of the model.",
    ),
    _defenses,
    _weights,
    _secrets,
    _settle,
    _simple(
        lambda s: not s.own and any(f.status == "no-leak-found" for f in s.plain),
        "Audit again when texts, encoder or attacks change.",
        "No leak was found by these attacks with this much data; this is no proof of safety.",
    ),
)


def advice(run: Run) -> list[Advice]:
    """What to do about this run, the largest gain first."""
    situation = Situation(run)
    return [told for rule in RULES if (told := rule(situation)) is not None]
