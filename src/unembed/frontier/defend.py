"""Looking for the defense: rounds of audits from few texts to all, and what they show together."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unembed.attacks import ATTACKS
from unembed.defenses import DEFENSES
from unembed.errors import CannotMeasureError, UsageError
from unembed.frontier import halving
from unembed.frontier.points import Point, pareto, points_of
from unembed.frontier.shelf import Chain, settings_of, shelf
from unembed.frontier.target import LEAK, Choice, Target, check_targets, choose
from unembed.games import GAMES
from unembed.games.threat import USUAL
from unembed.results.schema import Run
from unembed.runner.execute import audit
from unembed.runner.prepare import Given, Progress
from unembed.runner.spec import AuditSpec, DefenseSpec, UtilitySpec, merge
from unembed.sealed import seal
from unembed.strict import Strict
from unembed.writing import write_atomically

#: Where the chosen defense lies in the folder of a search, and what the rounds decided.
DEFENSE, ROUNDS, LAST = "defense", "rounds.json", "audit"


@dataclass(frozen=True)
class Wish:
    """What is asked of a defense, and what may be tried."""

    targets: tuple[Target, ...] = ()
    max_loss: float | None = None
    every_setting: bool = False
    """Whether all settings are measured on all texts, as a check of the search itself."""


class Tried(Strict):
    """One setting in one round."""

    variant: str
    leak: float | None
    loss: float | None
    kept: bool


class Round(Strict):
    """One round: how many texts it took, and which settings went on."""

    texts: int
    seconds: float
    tried: list[Tried]


class Rounds(Strict):
    """The file of all rounds but the last, which is an audit of its own."""

    rounds: list[Round]


@dataclass(frozen=True)
class Frontier:
    """What a search found: the audit of the settings that were left, as points, and the choice among them."""

    run: Run
    folder: Path
    points: list[Point]
    rounds: list[Round] = field(default_factory=list)
    choice: Choice | None = None

    @property
    def front(self) -> list[Point]:
        """The points that no other one beats."""
        return pareto(self.points)

    @property
    def defense(self) -> Path | None:
        """The folder of the chosen defense; None where none was chosen."""
        place = self.folder / DEFENSE
        return place if self.choice is not None and self.choice.met and place.is_dir() else None


def defend(
    spec: AuditSpec,
    wish: Wish,
    *,
    spec_given: dict[str, Any] | None = None,
    command: str = "unembed defend",
    progress: Progress,
    given: Callable[[AuditSpec], Given | None] = lambda spec: None,
) -> Frontier:
    """Measure many settings on small samples, the best of them on all texts, and choose.

    Args:
        spec: An audit; its defenses are those that are tried (all on the shelf unless it names some).
        wish: Limits on what leaks and on what is lost.
        spec_given: As it was written, for the result.
        command: What repeats it.
        progress: Told what goes on.
        given: Hands over what only this process has, for an audit of this size.
    """
    if spec.run.folder is None:
        raise UsageError("a search for a defense keeps what it measures: name its folder")
    folder = Path(spec.run.folder)
    chains = settings_of(spec.chains) or shelf()
    tasks = spec.utility or [UtilitySpec(name="retrieval")]
    # One split for all rounds, whichever defenses are left.
    tried = spec.model_copy(update={"defenses": chains})
    whole = spec.model_copy(update={"utility": tasks, "owners_part": tried.keeps_owners_part})
    rounds: list[Round] = []
    samples = [] if wish.every_setting else _sizes(whole, chains)[:-1]
    undefended = _undefended(whole, wish, folder / LAST, progress, given) if samples and wish.targets else None
    for texts in samples:
        began = time.monotonic()
        small = _smaller(whole, wish, chains, texts, folder / f"round-{len(rounds) + 1}")
        run, _ = audit(small, progress=_named(progress, f"round {len(rounds) + 1}"), given=given(small))
        points = points_of(run)
        targets = [] if undefended is None else [t.on_a_sample(points[0], undefended) for t in wish.targets]
        chains, done = _select(chains, points, targets, texts, time.monotonic() - began)
        rounds.append(done)
        shutil.rmtree(folder / f"round-{len(rounds)}", ignore_errors=True)
        write_atomically(folder / ROUNDS, seal(Rounds(rounds=rounds)))
    last = whole.model_copy(
        update={
            "defenses": chains,
            "run": spec.run.model_copy(update={"folder": str(folder / LAST), "keep_defenses": True}),
        }
    )
    run, place = audit(last, spec_given=spec_given, command=command, progress=progress, given=given(last))
    points = points_of(run)
    check_targets(wish.targets, points[0], run)
    choice = _chosen(points, wish)
    if choice is not None and choice.met and choice.point is not None:
        _keep(choice.point, place, folder / DEFENSE)
    return Frontier(run, folder, points, rounds, choice)


def _undefended(
    spec: AuditSpec, wish: Wish, folder: Path, progress: Progress, given: Callable[[AuditSpec], Given | None]
) -> Point:
    """The vectors as they are, on all texts; what is measured for it is not measured again in the end."""
    plain = spec.model_copy(
        update={"defenses": [], "utility": [], "run": spec.run.model_copy(update={"folder": str(folder)})}
    )
    run, _ = audit(plain, progress=_named(progress, "no defense"), given=given(plain))
    point = points_of(run)[0]
    check_targets(wish.targets, point, run)
    return point


def _sizes(spec: AuditSpec, chains: Sequence[Chain]) -> list[int]:
    return halving.sizes(spec.data.max_texts or 10**6, len(chains))


def _smaller(spec: AuditSpec, wish: Wish, chains: Sequence[Chain], texts: int, folder: Path) -> AuditSpec:
    """An audit of a sample by the usual adversary who knows each defense, for telling settings apart and no more.

    Where every target names its question, no other question decides anything here, and none is asked.
    """
    named = {target.game for target in wish.targets}
    attacks = spec.attacks if not named or LEAK in named else _attacks_on(spec, named)
    share = texts / (spec.data.max_texts or 10**6)
    who = USUAL if USUAL in spec.adversaries else spec.adversaries[-1]
    return spec.model_copy(
        update={
            "data": spec.data.model_copy(update={"max_texts": texts}),
            "max_targets": max(300, int(spec.max_targets * share)),
            "defenses": [[_quick_setting(step) for step in chain] for chain in chains],
            "attacks": attacks,
            "adversaries": [who],
            "unaware": False,
            "calibrate": False,
            "repeats": 0,
            "curve": [],
            "references": [],
            "policy": None,
            "params": merge(_quick_choices(), spec.params),
            "run": spec.run.model_copy(update={"folder": str(folder)}),
        }
    )


def _quick_setting(step: DefenseSpec) -> DefenseSpec:
    """The setting with what saves time in learning it, unless that was told."""
    quick = dict(DEFENSES.get(step.name).facts.quick)
    return DefenseSpec(name=step.name, **{**quick, **step.params})


def _attacks_on(spec: AuditSpec, games: Collection[str]) -> list[str]:
    """The attacks of the audit that play some of its games."""
    players = {GAMES.get(game).facts.played_by for game in spec.games if game in games}
    given = spec.attacks or [name for name, attack in ATTACKS.working().items() if attack.facts.default]
    return [name for name in given if ATTACKS.get(name).facts.game in players]


def _quick_choices() -> dict[str, dict[str, object]]:
    """Attacks that choose among several readers choose among few: enough to tell settings apart."""
    return {name: {"quick": True} for name, made in ATTACKS.working().items() if "quick" in made().get_params()}


def _select(
    chains: Sequence[Chain], points: Sequence[Point], targets: Sequence[Target], texts: int, seconds: float
) -> tuple[list[Chain], Round]:
    """The settings that go on, in their order, and the record of the round."""
    variants = [p for p in points if p.variant is not None]
    going = {p.variant for p in halving.best(variants, halving.kept(len(chains), 1), targets)}
    tried = [
        Tried(variant=p.variant or "", leak=_plain(p.leak.value), loss=_plain(p.loss.value), kept=p.variant in going)
        for p in variants
    ]
    # Findings stand in the order of their chains, and so do points.
    names = list(dict.fromkeys(p.variant for p in variants))
    if len(names) != len(chains):
        raise CannotMeasureError(
            f"{len(chains)} settings gave {len(names)} variants: two of them have the same name, so name each once"
        )
    left = [chain for chain, name in zip(chains, names, strict=True) if name in going]
    return left, Round(texts=texts, seconds=seconds, tried=tried)


def _plain(value: float) -> float | None:
    return value if value == value else None


def _chosen(points: Sequence[Point], wish: Wish) -> Choice | None:
    if not wish.targets and wish.max_loss is None:
        return None
    undefended = next((p for p in points if p.variant is None), None)
    if undefended is not None and wish.targets and all(t.missed_by(undefended) == 0 for t in wish.targets):
        return Choice(undefended, 0.0, "the vectors meet every limit as they are")
    return choose([p for p in points if p.variant is not None], wish.targets, wish.max_loss)


def _keep(point: Point, run: Path, place: Path) -> None:
    """Put the fitted defense where its owner finds it."""
    if point.cost is None or point.cost.saved is None:
        return
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(run / point.cost.saved, place)
    place.chmod(0o700)


def _named(progress: Progress, stage: str) -> Progress:
    return lambda what, done, total: progress(f"{stage}: {what}", done, total)
