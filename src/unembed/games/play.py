"""Playing one game with one attack: attack, hold it against its floors, and make sure a leak would have been found.

An attack that finds nothing must show that it would have found something: a leak planted into the same vectors
(``games.calibration``) or, where a game has no way to plant one, the answers to pairs of the adversary's own that were
held back. One that can't is "could not measure": a broken attack and safe vectors must not look alike.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeGuard

import numpy as np

from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, Example, G, Game, K, Player, Rehearsable, Scores, T
from unembed.games.calibration import Detection, PlantableGame, detect, found_at_all
from unembed.games.levels import Level, level_of, no_graver
from unembed.games.planting import CannotPlantError, Plantable
from unembed.games.repeats import luck_of_pairs, widened
from unembed.games.rounds import SMALLEST_LEAK, Round, check_guess, play_round
from unembed.games.threat import Capability
from unembed.metrics.estimate import Estimate
from unembed.seeds import generator, seed_for

#: "No leak found" is said only where the excess is surely no larger than this.
LARGEST_UNSEEN = 0.05
#: ... and only where a leak of this size would have been found.
COARSEST = 0.2
#: By how many times the interval's reach below guessing an attack is called broken rather than unlucky.
BROKEN = 1.7
EXAMPLES = 8


@dataclass(frozen=True)
class Check:
    """Whether the attack works where it must, and how that is known."""

    passed: bool
    reason: str


@dataclass(frozen=True)
class Play:
    """Everything one game with one attack showed."""

    estimate: Estimate
    floors: dict[str, Estimate]
    floor: Estimate
    excess: Estimate
    luck: float | None
    """The part of the interval that the choice of the adversary's pairs has, as a standard deviation."""
    headroom: float
    scores: Scores
    floor_slices: dict[tuple[str, str], float]
    floor_secondary: dict[str, float]
    check: Check
    detection: Detection | None
    level: Level
    """How grave the leak is, if it is one."""
    doubt: str | None
    contrary: tuple[str, ...]
    """Further figures that are clearly above every floor although the headline is not."""
    examples: list[Example]
    queries: int
    fit_seconds: float
    run_seconds: float


def play(
    game: Game[K, T, G], attack: Player[K, G], deal: Deal[K, T], seed: int, *, calibrate: bool = False, repeats: int = 0
) -> Play:
    """Attack, judge the floors on the same targets, and check the attack.

    ``calibrate`` looks for the smallest leak that would have been found; ``repeats`` is how often the attack learns
    again from part of its pairs, to put their luck into the interval.
    """
    played = play_round(game, attack, deal, seed)
    luck = luck_of_pairs(game, attack, deal, repeats, seed_for(seed, "repeats"))
    played = replace(played, excess=widened(played.excess, luck, repeats))
    detection = _detection(game, attack, deal, played, repeats, seed) if calibrate else None
    check = check_attack_works(game, attack, deal, played, seed, detection)
    strongest = max(played.floors, key=lambda kind: np.nan_to_num(played.floors[kind].point, nan=-np.inf))
    rows = np.sort(generator(seed, "examples").permutation(int(deal.vectors.shape[0]))[:EXAMPLES])
    floor = played.floor.estimate()
    room = 1 - floor.value
    return Play(
        estimate=widened(played.scores.estimate(), luck, repeats),
        luck=luck,
        floors={kind: s.estimate() for kind, s in played.floors.items()},
        floor=floor,
        excess=played.excess,
        headroom=max(0.0, played.excess.value / room) if room > 0 else 0.0,
        scores=played.scores,
        floor_slices={(s.kind, s.name): s.estimate.value for s in played.floors[strongest].slices},
        floor_secondary=_secondary_floors(played),
        check=check,
        detection=detection,
        level=no_graver(
            level_of(
                played.scores.point, floor.value, ratio=game.facts.counts_hits, exposed=_exposed(game, played.scores)
            ),
            game.facts.gravest,
        ),
        doubt=deal.doubt,
        contrary=() if played.leaks else tuple(_contrary(game, played)),
        examples=game.examples(deal.truth, played.guess, rows.tolist()),
        queries=played.queries,
        fit_seconds=played.fit_seconds,
        run_seconds=played.run_seconds,
    )


def _detection(
    game: Game[K, T, G], attack: Player[K, G], deal: Deal[K, T], played: Round[G], repeats: int, seed: int
) -> Detection | None:
    """How small a leak would have been found, asked where none was found; None where the game can't plant any."""
    if played.leaks or deal.doubt or np.isnan(played.excess.value) or not _takes_plantings(game, attack, deal):
        return None
    try:
        return detect(game, attack, deal, played.excess, repeats, seed_for(seed, "calibration"))
    except CannotPlantError:
        return None


def _takes_plantings(game: Game[K, T, G], attack: Player[K, G], deal: Deal[K, T]) -> TypeGuard[PlantableGame[K, T, G]]:
    """Whether a planted leak is there for this attack: not in texts, nor in what an attack reads through the model."""
    through_the_model = Capability.WEIGHTS in attack.facts.requires
    return isinstance(game, Plantable) and deal.vectors.dtype != object and not through_the_model


def check_attack_works(
    game: Game[K, T, G],
    attack: Player[K, G],
    deal: Deal[K, T],
    played: Round[G],
    seed: int,
    detection: Detection | None = None,
) -> Check:
    """Proof that the attack would show a leak: it did, or it found a planted one, or it answers held-back pairs."""
    if played.leaks:
        return Check(True, "the attack succeeds on the vectors under attack")
    if deal.doubt:
        return Check(True, "not tested: here, finding nothing would prove nothing")
    if detection is not None:
        if detection.kinds:
            return Check(True, "the attack finds leaks planted into these vectors")
        return Check(
            False, "the attack finds no leak planted into these vectors, so its result says nothing about safety"
        )
    own = seed_for(seed, "check")
    if _takes_plantings(game, attack, deal):
        try:
            if found_at_all(game, attack, deal, own):
                return Check(True, "the attack finds a leak planted into these vectors")
        except CannotPlantError as error:
            return Check(False, f"nothing shows that the attack works: {error}")
        return Check(False, "the attack does not find even the most obvious planted leak")
    if _answers_held_back(game, attack, deal, own):
        return Check(True, "the attack succeeds on pairs it was not trained on")
    return Check(False, "the attack fails on held-back pairs of the adversary's own")


def _answers_held_back(game: Game[K, T, G], attack: Player[K, G], deal: Deal[K, T], seed: int) -> bool:
    """Whether the attack, taught some of the adversary's pairs, does better than guessing on the others."""
    from sklearn.base import clone

    if not isinstance(game, Rehearsable):
        return False
    try:
        knowledge, vectors, truth = game.rehearsal(deal.knowledge, seed)
        answers = clone(attack).set_params(seed=seed_for(seed, "attack")).fit(knowledge).run(vectors)
    except CannotMeasureError:
        return False
    check_guess(answers)
    blind = game.judge(truth, game.prior_guess(knowledge, int(vectors.shape[0])), seed)
    gain = game.judge(truth, answers, seed).excess_over(blind)
    return bool(gain.low > SMALLEST_LEAK)


def _secondary_floors(played: Round[G]) -> dict[str, float]:
    """For every further metric the best that any adversary without the information scores in it."""
    found: dict[str, float] = {}
    for scores in played.floors.values():
        for name, estimate in scores.secondary.items():
            found[name] = max(found.get(name, -np.inf), np.nan_to_num(estimate.value, nan=-np.inf))
    return {name: value for name, value in found.items() if np.isfinite(value)}


def _exposed(game: Game[K, T, G], scores: Scores) -> float:
    """The share of the targets that are laid open, where the game counts them."""
    if game.facts.exposed is None or game.facts.exposed not in scores.secondary:
        return 0.0
    return float(np.nan_to_num(scores.secondary[game.facts.exposed].value))


def _contrary(game: Game[K, T, G], played: Round[G]) -> list[str]:
    """Metrics of the finding whose interval lies wholly above that of every floor."""
    named = []
    for name in game.facts.evidence:
        here = played.scores.secondary.get(name)
        floors = [s.secondary[name] for s in played.floors.values() if name in s.secondary]
        if here is None or np.isnan(here.value) or not floors:
            continue
        if here.low > max(np.nan_to_num(f.high, nan=-np.inf) for f in floors) + SMALLEST_LEAK:
            named.append(name)
    return named


def status_of(played: Play, *, yardstick: bool = False) -> tuple[str, str, str]:
    """Status and level of a finding, and the reason in one sentence.

    A leak is an excess whose whole interval lies above ``SMALLEST_LEAK``; ``games.levels`` says how grave it is. A
    yardstick read the texts, so nothing leaked to it.
    """
    excess, detection = played.excess, played.detection
    if np.isnan(excess.value):
        return "could-not-measure", "unknown", "the metric has no value on these targets"
    if not played.check.passed:
        return "could-not-measure", "unknown", played.check.reason
    if yardstick:
        return "yardstick", "unknown", "a yardstick reads the texts: nothing leaked to it"
    if excess.low > SMALLEST_LEAK:
        return "leak", played.level, "the attack does clearly better with the vectors than without them"
    if played.contrary:
        named = ", ".join(name.replace("_", " ") for name in played.contrary)
        reason = f"the headline is at guessing, but other figures are clearly above it: {named}"
        return "inconclusive", "unknown", reason
    if excess.value + BROKEN * (excess.high - excess.value) < -SMALLEST_LEAK:
        reason = "the attack does clearly worse than guessing: it is broken on these vectors"
        return "could-not-measure", "unknown", reason
    if played.doubt:
        return "inconclusive", "unknown", played.doubt
    if excess.high > LARGEST_UNSEEN:
        return "inconclusive", "unknown", "the interval is too wide to tell; more targets narrow it"
    if detection is None:
        return "inconclusive", "unknown", "it is not known how small a leak would have been found"
    if detection.size is None:
        return "inconclusive", "unknown", "there is too little to learn from: even large leaks are not always found"
    if detection.size > COARSEST:
        found = f"only leaks of {detection.size:.3g} or more above guessing are always found"
        return "inconclusive", "unknown", f"{found}; more pairs and targets let smaller ones be found"
    return "no-leak-found", "none", f"a leak of {detection.size:.3g} above guessing would have been found"
