"""One attack on one set of targets, scored as the papers do, with the floor of the same metric.

Song prints an F1 that is the harmonic mean of the printed precision and recall in every row, to the last digit: no
mean of per-text values would be. So counts are pooled over all targets here, over all words, and words
outside the adversary's vocabulary count as missed; the mean over texts and the F1 of content words stand beside it.

Corò 4.3.2 takes means over texts, of content words of the attack's vocabulary only, plain and weighted by rarity
(eq. 4.6 to 4.8). A text without such a word does not count; where nothing was guessed precision is 0.

The floor is the best, in F1, of the guess without vectors (the most frequent words), the attack's own answers dealt
out to the wrong targets, and its answers to random vectors. Attacks through the weights are not asked about
random vectors: it would double hours of work to learn that noise holds no words.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.attacks import ATTACKS
from unembed.games.base import Deal
from unembed.games.calibration import found_at_all
from unembed.games.inversion import InversionGame, InversionGuess, InversionTruth, PieceGuess, words_of
from unembed.games.inversion_scores import rarity
from unembed.games.rounds import SMALLEST_LEAK, strongest_elsewhere
from unembed.games.rows import random_like
from unembed.games.threat import Capability
from unembed.metrics import sets
from unembed.metrics.estimate import Estimate, FloatArray, bootstrap, mean
from unembed.papers.base import Conditions, Measured
from unembed.seeds import generator, seed_for

Counts = NDArray[np.float64]
#: A metric: a name, and what turns a guess into an estimate of it.
Metric = tuple[str, Callable[[InversionGuess], Estimate]]


@dataclass(frozen=True)
class AttackSpec:
    """An attack of an experiment: how the paper calls it, its registered name, the parameters that differ."""

    title: str
    name: str
    params: dict[str, Any]

    def make(self, conditions: Conditions) -> Any:
        """A fresh attack for these conditions; an unknown name is an error that the row reports."""
        attack = ATTACKS.get(self.name)(**self.params)
        attack.set_params(seed=seed_for(conditions.seed, "attack", self.name))
        if "device" in attack.get_params():
            attack.set_params(device=conditions.device)
        return attack

    def identity(self) -> dict[str, Any]:
        """Name, version and parameters."""
        version = ATTACKS.get(self.name).facts.version if self.name in ATTACKS else None
        return {"attack": self.name, "version": version, "params": self.params}


@dataclass(frozen=True)
class Attempt:
    """What an attack answered, and what those without the vectors would have."""

    guess: InversionGuess
    floors: dict[str, InversionGuess]
    trusted: bool
    seconds: float


def attempt(game: InversionGame, attack: Any, deal: Deal[Any, Any], seed: int) -> Attempt:
    """Fit, answer, make the floors, and see whether the attack works."""
    started = time.perf_counter()
    attack.fit(deal.knowledge)
    guess = attack.run(deal.vectors)
    seconds = time.perf_counter() - started
    floors = floors_of(game, attack, guess, deal, seed)
    return Attempt(guess, floors, trusted(game, attack, deal, guess, floors, seed), seconds)


def trusted(
    game: InversionGame,
    attack: Any,
    deal: Deal[Any, Any],
    guess: InversionGuess,
    floors: dict[str, InversionGuess],
    seed: int,
) -> bool:
    """Whether an attack works: it did better than the floors, or finds a leak planted into the same vectors."""
    if Capability.WEIGHTS in attack.facts.requires:
        return True
    return beats_floors(game, deal.truth, guess, floors, seed) or found_at_all(game, attack, deal, seed)


def beats_floors(
    game: InversionGame, truth: InversionTruth, guess: InversionGuess, floors: dict[str, InversionGuess], seed: int
) -> bool:
    """Whether the guess is clearly better than all guesses without vectors."""
    floor = strongest_elsewhere([game.judge(truth, f, seed) for f in floors.values()], generator(seed, "halves"))
    excess = game.judge(truth, guess, seed).excess_over(floor, generator(seed, "trusted"))
    return bool(excess.low > SMALLEST_LEAK)


def floors_of(
    game: InversionGame, attack: Any, guess: InversionGuess, deal: Deal[Any, Any], seed: int
) -> dict[str, InversionGuess]:
    """Guesses for the same targets that use nothing of their vectors."""
    rng = generator(seed, "floors")
    targets = int(deal.vectors.shape[0])
    floors: dict[str, InversionGuess] = {
        "prior": game.prior_guess(deal.knowledge, targets),
        "shuffled": guess[rng.permutation(targets)],
    }
    if Capability.WEIGHTS not in attack.facts.requires:
        floors["random"] = attack.run(random_like(deal.vectors.copy(), rng))
    return floors


def rows_of(
    metrics: Sequence[Metric], got: Attempt, *, setting: str, series: str | None = None, x: float | None = None
) -> list[Measured]:
    """One row a metric; the floor is that of the guess without vectors that has the best F1."""
    f1 = dict(metrics)["F1"]
    strongest = max(got.floors.values(), key=lambda guess: f1(guess).value)
    rows = []
    for name, measure in metrics:
        estimate = measure(got.guess)
        if np.isnan(estimate.value):
            continue
        floor = measure(strongest).value
        rows.append(
            Measured(
                setting,
                name,
                estimate.value,
                estimate.low,
                estimate.high,
                estimate.n,
                floor=None if np.isnan(floor) else floor,
                seconds=round(got.seconds, 2),
                trusted=got.trusted,
                series=series,
                x=x,
            )
        )
    return rows


def song_metrics(truth: InversionTruth, seed: int) -> list[Metric]:
    """Pooled precision, recall and F1 of all words; F1 a text; F1 of content words; of word pieces where known."""

    def every(guess: InversionGuess) -> Counts:
        counts = sets.set_counts(truth.labels, words_of(guess))
        counts[:, sets.PRESENT] += truth.outside.sum(axis=1)
        return counts

    def content(guess: InversionGuess) -> Counts:
        counts = sets.set_counts(truth.labels, words_of(guess), columns=truth.vocabulary.content)
        counts[:, sets.PRESENT] += truth.outside[:, 1]
        return counts

    def pieces(guess: InversionGuess) -> Counts:
        if not isinstance(guess, PieceGuess) or truth.pieces is None:
            return np.zeros((0, 3))
        return sets.set_counts(truth.pieces, guess.pieces)

    def pooled(count: Callable[[InversionGuess], Counts], statistic: Any, name: str) -> Metric:
        def measure(guess: InversionGuess) -> Estimate:
            counts = count(guess)
            groups = truth.groups if len(counts) else None
            return bootstrap(counts, statistic, rng=generator(seed, "score", name), groups=groups)

        return name, measure

    def per_text(guess: InversionGuess) -> Estimate:
        return mean(sets.f1_per_text(every(guess)), rng=generator(seed, "score", "text"), groups=truth.groups)

    return [
        pooled(every, sets.precision, "precision"),
        pooled(every, sets.recall, "recall"),
        pooled(every, sets.f1, "F1"),
        ("F1 per text", per_text),
        pooled(content, sets.f1, "content F1"),
        pooled(pieces, sets.precision, "piece precision"),
        pooled(pieces, sets.recall, "piece recall"),
        pooled(pieces, sets.f1, "piece F1"),
    ]


def coro_metrics(
    truth: InversionTruth, seed: int, *, scored: NDArray[np.bool_] | None = None, weighted: bool = True
) -> list[Metric]:
    """Means over texts of precision, recall and F1 (eq. 4.6) and of their weighted forms (eq. 4.7).

    ``scored`` keeps some of the vocabulary: for the cross-domain adversary, the words both adversaries know.
    """
    weights = rarity(truth.labels)

    def metric(name: str, statistic: Any, weigh: FloatArray | None) -> Metric:
        def measure(guess: InversionGuess) -> Estimate:
            counts = sets.set_counts(truth.labels, words_of(guess), columns=scored, weights=weigh)
            values = np.where(counts[:, sets.PRESENT] > 0, statistic(counts), np.nan)
            return mean(values, rng=generator(seed, "score", name), groups=truth.groups)

        return name, measure

    kinds = (("precision", sets.precision), ("recall", sets.recall), ("F1", sets.f1))
    plain = [metric(name, statistic, None) for name, statistic in kinds]
    if not weighted:
        return plain
    return plain + [metric(f"weighted {name}", statistic, weights) for name, statistic in kinds]
