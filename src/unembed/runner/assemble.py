"""Putting a run together: cards, findings, verdict, the policy's answer."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from unembed._version import __version__
from unembed.attacks import ATTACKS
from unembed.encoders.base import EncoderCard
from unembed.games import GAMES
from unembed.games.threat import Adversary, Capability
from unembed.gate.baseline import read_baseline
from unembed.gate.judge import judge
from unembed.results.schema import (
    AdversaryCard,
    AttackCard,
    CellRecord,
    Environment,
    GameCard,
    Run,
    UtilityScore,
    VariantCost,
)
from unembed.results.verdict import verdict
from unembed.runner.cell import CellResult
from unembed.runner.folder import now
from unembed.runner.plan import Plan
from unembed.runner.prepare import Sides
from unembed.runner.spec import AuditSpec

PACKAGES = (
    "numpy",
    "scipy",
    "scikit-learn",
    "torch",
    "transformers",
    "sentence-transformers",
    "joblib",
    "pyarrow",
)


@dataclass(frozen=True)
class Outcome:
    """What an audit found: a result for every cell of the plan, in its order; the sides without vector twins."""

    sides: Sides
    card: EncoderCard
    plan: Plan
    results: list[CellResult]
    utility: list[UtilityScore]
    variants: list[VariantCost]


def assemble(
    spec: AuditSpec, outcome: Outcome, *, spec_given: dict[str, Any], command: str, created: str, seconds: float
) -> Run:
    """The result of an audit, judged by its policy if it has one."""
    plan, card = outcome.plan, outcome.card
    records = [r.record for r in outcome.results]
    findings = [f for r in outcome.results for f in r.findings]
    attacks = list(dict.fromkeys(c.identity.attack.name for c in plan.cells))
    games = list(dict.fromkeys(c.identity.game.name for c in plan.cells))
    played = list(dict.fromkeys(c.identity.adversary for c in plan.cells))
    run = Run(
        title=spec.title or f"{spec.data.shown} · {card.name}",
        command=command,
        created_at=created,
        finished_at=now(),
        seconds=seconds,
        status="nothing-ran" if not findings else "complete" if all(r.status == "done" for r in records) else "partial",
        spec_given=spec_given,
        spec=spec.model_dump(mode="json", exclude={"run"}),
        environment=environment(spec),
        encoder=card.as_dict(),
        data=outcome.sides.cards,
        adversaries=[card_in_plan(a, plan) for a in spec.cast if a.name in played],
        games=[game_card(g) for g in games],
        attacks=[attack_card(a) for a in attacks],
        cells=records,
        findings=findings,
        skipped=plan.skipped,
        utility=outcome.utility,
        variants=outcome.variants,
        verdict=verdict(findings, [card_in_plan(a, plan) for a in spec.cast], failed=_broken_off(records)),
    )
    if spec.policy is None:
        return run
    baseline = read_baseline(Path(spec.baseline)) if spec.baseline else None
    gate = judge(run, spec.policy, baseline, allow_unmeasured=spec.allow_unmeasured)
    return run.model_copy(update={"gate": gate})


def _broken_off(records: Sequence[CellRecord]) -> Counter[str | None]:
    """How many cells failed, by defense; those of adversaries who don't know it decide nothing."""
    return Counter(r.identity.defense for r in records if r.status == "failed" and r.identity.adaptive is not False)


def card_in_plan(who: Adversary, plan: Plan) -> AdversaryCard:
    """An adversary with what it holds in this audit: nobody can query an encoder that is not there."""
    held = {c for cell in plan.cells if cell.identity.adversary == who.name for c in cell.identity.capabilities}
    card = adversary_card(who)
    shown = sorted(held - {Capability.TEXTS, Capability.DEFENSE})
    return card.model_copy(update={"capabilities": shown}) if held else card


def adversary_card(who: Adversary) -> AdversaryCard:
    """An adversary as the report shows it."""
    held = sorted(c.value for c in who.capabilities)
    return AdversaryCard(name=who.name, title=who.title, description=who.description, capabilities=held)


def game_card(name: str) -> GameCard:
    """A game as the report shows it."""
    facts = GAMES.get(name).facts
    return GameCard(
        name=facts.name,
        question=facts.question,
        metric=facts.metric,
        metric_meaning=facts.metric_meaning,
        consequence=facts.consequence,
        tags=list(facts.tags),
    )


def attack_card(name: str) -> AttackCard:
    """An attack as the report shows it."""
    facts = ATTACKS.get(name).facts
    return AttackCard(
        name=name,
        game=facts.game,
        title=facts.title,
        paper=facts.paper,
        section=facts.section,
        departures=facts.departures,
        requires=sorted(r.value for r in facts.requires),
        cost=facts.cost,
    )


def environment(spec: AuditSpec) -> Environment:
    """Versions and the machine, as far as they can change a number."""
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            continue
    return Environment(
        unembed=__version__,
        python=".".join(str(v) for v in sys.version_info[:3]),
        platform=f"{platform.system()} {platform.machine()}",
        packages=packages,
        threads=spec.threads,
        device=spec.device,
    )
