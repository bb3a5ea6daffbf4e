"""Playing one game with one attack: rehearse, attack, measure the floors.

The same steps for every game: the attack must first succeed on vectors it was trained on, else the result
is "could not measure"; then it is run on the targets; then three adversaries without the information are
judged on the same targets, with those a game brings of its own, and the strongest of them is the floor.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from unembed.games.base import Deal, Example, OwnFloors, Scores
from unembed.games.rows import random_like
from unembed.metrics.estimate import Estimate
from unembed.seeds import generator, seed_for

#: An excess this small is not called a leak, however narrow its interval.
SMALLEST_LEAK = 0.01
EXAMPLES = 8


@dataclass(frozen=True)
class Check:
    """The rehearsal: did the attack work where it must?"""

    passed: bool
    reason: str
    estimate: Estimate
    floor: Estimate


@dataclass(frozen=True)
class Play:
    """Everything one game with one attack showed."""

    estimate: Estimate
    floors: dict[str, Estimate]
    floor: str
    excess: Estimate
    headroom: float
    scores: Scores
    floor_slices: dict[tuple[str, str], float]
    floor_secondary: dict[str, float]
    check: Check
    examples: list[Example]
    fit_seconds: float
    run_seconds: float


def play(game: Any, attack: Any, deal: Deal[Any, Any], seed: int) -> Play:
    """Fit, rehearse, attack, and judge the floors on the same targets."""
    rng = generator(seed, "play")
    judge_seed = seed_for(seed, "judge")
    targets = int(deal.vectors.shape[0])

    started = time.perf_counter()
    attack.fit(deal.knowledge)
    fit_seconds = time.perf_counter() - started

    check = rehearse(game, attack, deal, seed)

    started = time.perf_counter()
    guess = attack.run(deal.vectors)
    run_seconds = time.perf_counter() - started
    scores = game.judge(deal.truth, guess, judge_seed)

    unknowing = {
        "prior": game.prior_guess(deal.knowledge, targets),
        # What an attack says of a vector does not depend on its place, so the shuffled answers are the shuffled guess.
        "shuffled": guess[rng.permutation(targets)],
        "random": attack.run(random_like(deal.vectors, rng)),
    }
    if isinstance(game, OwnFloors):
        unknowing |= game.own_floors(deal.truth, guess)
    floor_scores = {kind: game.judge(deal.truth, g, judge_seed) for kind, g in unknowing.items()}
    floors = {kind: s.estimate(generator(seed, "floor", kind)) for kind, s in floor_scores.items()}
    strongest = max(floors, key=lambda kind: floors[kind].value)
    excess = scores.excess_over(floor_scores[strongest], generator(seed, "excess"))
    room = 1 - floors[strongest].value
    rows = np.sort(generator(seed, "examples").permutation(targets)[:EXAMPLES])
    return Play(
        estimate=scores.estimate(generator(seed, "estimate")),
        floors=floors,
        floor=strongest,
        excess=excess,
        headroom=max(0.0, excess.value / room) if room > 0 else 0.0,
        scores=scores,
        floor_slices={(s.kind, s.name): s.estimate.value for s in floor_scores[strongest].slices},
        floor_secondary={name: e.value for name, e in floor_scores[strongest].secondary.items()},
        check=check,
        examples=game.examples(deal.truth, guess, rows),
        fit_seconds=fit_seconds,
        run_seconds=run_seconds,
    )


def rehearse(game: Any, attack: Any, deal: Deal[Any, Any], seed: int) -> Check:
    """The attack on vectors it was trained on, against the guess without vectors."""
    vectors, truth = game.rehearsal(deal.knowledge, seed_for(seed, "rehearsal"))
    judge_seed = seed_for(seed, "rehearsal judge")
    scores = game.judge(truth, attack.run(vectors), judge_seed)
    blind = game.judge(truth, game.prior_guess(deal.knowledge, int(vectors.shape[0])), judge_seed)
    gain = scores.excess_over(blind, generator(seed, "rehearsal excess"))
    passed = bool(gain.low > SMALLEST_LEAK)
    reason = (
        "the attack succeeds on vectors it was trained on"
        if passed
        else "the attack fails even on vectors it was trained on, so its result says nothing about safety"
    )
    return Check(passed, reason, scores.estimate(generator(seed, "check")), blind.estimate(generator(seed, "blind")))


def level_of(headroom: float) -> str:
    """How grave a leak is that reached this share of what is possible above its floor."""
    return "high" if headroom >= 0.25 else "moderate" if headroom >= 0.08 else "low"


def status_of(played: Play, *, yardstick: bool = False) -> tuple[str, str]:
    """Status and level of a finding.

    A leak is an excess whose whole interval lies above ``SMALLEST_LEAK``; how grave it is follows from the
    share of the possible excess that was reached. A yardstick read the texts, so nothing leaked to it.
    """
    if not played.check.passed or np.isnan(played.excess.value):
        return "could-not-measure", "unknown"
    if yardstick:
        return "yardstick", "unknown"
    if played.excess.low > SMALLEST_LEAK:
        return "leak", level_of(played.headroom)
    if played.excess.high <= 5 * SMALLEST_LEAK:
        return "no-leak-found", "none"
    return "inconclusive", "unknown"
