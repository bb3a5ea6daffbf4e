"""One round: an attack learns, answers, and is held against adversaries without the information on the same targets.

The floor is the strongest of several, and the strongest of several estimates is too strong by its luck: at 300 targets
by two points. So it is chosen on one half of the targets and counted on the other, both ways.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal, G, Game, K, OwnFloors, Player, Scores, T
from unembed.games.rows import random_like
from unembed.metrics.estimate import Estimate
from unembed.seeds import generator, seed_for

#: An excess this small is not called a leak, however narrow its interval.
SMALLEST_LEAK = 0.01
#: Random vectors that an attack is asked about at most: what it says of them knows nothing of any target.
MOST_NOISE = 300


@dataclass(frozen=True)
class Round(Generic[G]):
    """What an attack answered, how it scored, and how guesses without the information scored."""

    guess: G
    scores: Scores
    floors: dict[str, Scores]
    floor: Scores
    """The strongest floor, chosen on other targets than those it is counted on."""
    excess: Estimate
    queries: int
    fit_seconds: float
    run_seconds: float

    @property
    def leaks(self) -> bool:
        """Whether the whole interval of the excess lies above what is too small to matter."""
        return bool(self.excess.low > SMALLEST_LEAK)


def play_round(game: Game[K, T, G], attack: Player[K, G], deal: Deal[K, T], seed: int) -> Round[G]:
    """Fit, answer, and judge the answers and the floors."""
    rng = generator(seed, "play")
    judge_seed = seed_for(seed, "judge")
    targets = int(deal.vectors.shape[0])

    started = time.perf_counter()
    attack.fit(deal.knowledge)
    fit_seconds = time.perf_counter() - started

    started = time.perf_counter()
    guess = attack.run(deal.vectors)
    run_seconds = time.perf_counter() - started
    check_guess(guess)
    # What is asked from here on serves the floors, not the adversary.
    queries = deal.queries + (deal.door.count if deal.door else 0)

    unknowing = {
        "prior": game.prior_guess(deal.knowledge, targets),
        # What an attack says of a vector does not depend on its place, so the shuffled answers are the shuffled guess.
        "shuffled": guess[rng.permutation(targets)],
        "random": _answers_to_noise(attack, deal.vectors, rng),
    }
    if isinstance(game, OwnFloors):
        unknowing |= game.own_floors(deal.truth, guess)
    for answer in unknowing.values():
        check_guess(answer)
    scores = game.judge(deal.truth, guess, judge_seed)
    floors = {kind: game.judge(deal.truth, answer, judge_seed) for kind, answer in unknowing.items()}
    floor = strongest_elsewhere(list(floors.values()), generator(seed, "halves"))
    excess = scores.excess_over(floor)
    return Round(guess, scores, floors, floor, excess, queries, fit_seconds, run_seconds)


def _answers_to_noise(attack: Player[K, G], vectors: Vectors, rng: np.random.Generator) -> G:
    """What the attack says of random vectors, an answer per target; so few of them serve all, in random order."""
    targets = int(vectors.shape[0])
    answers = attack.run(random_like(vectors[np.sort(rng.permutation(targets)[:MOST_NOISE])], rng))
    return answers if targets <= MOST_NOISE else answers[rng.permutation(np.arange(targets) % MOST_NOISE)]


def strongest_elsewhere(floors: list[Scores], rng: np.random.Generator) -> Scores:
    """The strongest floor on each half of the targets, chosen by what it scores on the other half."""
    first = floors[0]
    half = _halves(len(first.parts), first.groups, rng)
    parts = np.empty_like(first.parts)
    for here in (half, ~half):
        points = [_known(floor.point_of(~here)) for floor in floors]
        parts[here] = floors[int(np.argmax(points))].parts[here]
    return dataclasses.replace(first, parts=parts)


def _halves(n: int, groups: Sequence[object] | None, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Two halves of the targets, those of one group in the same."""
    if groups is None:
        return np.asarray(rng.permutation(n) % 2 == 0)
    of_row = np.unique(np.asarray([str(g) for g in groups]), return_inverse=True)[1]
    return np.asarray((rng.permutation(int(of_row.max(initial=0)) + 1) % 2 == 0)[of_row])


def _known(value: float) -> float:
    return -np.inf if np.isnan(value) else value


def check_guess(guess: object) -> None:
    """Refuse answers that are not numbers: comparing with NaN makes them look right or safe."""
    if dataclasses.is_dataclass(guess):
        parts = [part for field in dataclasses.fields(guess) if (part := getattr(guess, field.name)) is not None]
    else:
        parts = [guess]
    for part in parts:
        values = part.data if issparse(part) else np.asarray(part)
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise CannotMeasureError("the attack's answers hold NaN: it is broken, and its result says nothing")
        if values.dtype.kind == "f" and np.isposinf(values).any():
            raise CannotMeasureError("the attack's answers hold infinite scores: it is broken")
        if values.dtype.kind == "O":
            raise CannotMeasureError("the attack's answers are not numbers")
