"""How often do the intervals hold the true value? Simulated texts of which the truth is known.

    python benchmarks/interval_coverage.py --samples 400
    python benchmarks/interval_coverage.py --only "balanced" --samples 2000

A nominal 95 % interval should cover in about 95 of 100 samples, and an audit that says "no leak found" rests on it. The
same cells, fewer of them and with fewer samples, are tested in ``tests/metrics/test_coverage.py``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.games.base import Scores
from unembed.metrics import sets
from unembed.metrics.classes import macro_recall
from unembed.metrics.estimate import Estimate, mean, ratio
from unembed.seeds import generator

Array = NDArray[np.float64]
SIZES = (50, 200, 1000)
GROUPS = (5, 10, 50)
PER_GROUP = 20
GUESSED, PRESENT = 8.0, 9.0


@dataclass(frozen=True)
class Cell:
    """One situation: its true value, and a sample of it measured."""

    name: str
    truth: float
    measure: Callable[[np.random.Generator], Estimate]

    def covered(self, samples: int, seed: int = 0) -> tuple[float, float]:
        """Share of the samples whose interval holds the truth, and the mean width."""
        found = [self.measure(generator(seed, self.name, s)) for s in range(samples)]
        held = [e.low <= self.truth <= e.high for e in found]
        return float(np.mean(held)), float(np.mean([e.high - e.low for e in found]))


def cells() -> Iterator[Cell]:
    """All situations."""
    for n in SIZES:
        yield from _rates(n)
        yield from _excesses(n)
    for count in GROUPS:
        yield from _grouped(count)


def by_class(labels: NDArray[np.int64], right: NDArray[np.bool_], classes: int = 2) -> Array:
    """Rows of a balanced accuracy: right answers by class, then texts by class."""
    member = np.eye(classes)[labels]
    return np.hstack([member * right[:, None], member])


def plain(right: NDArray[np.bool_]) -> Array:
    """Rows of an accuracy."""
    return np.stack([right, np.ones(len(right))], axis=1).astype(np.float64)


def words(rng: np.random.Generator, chance: Array) -> Array:
    """Rows of an F1: words hit, guessed and present; ``chance`` is that of a hit, per text."""
    guessed, present = rng.poisson(GUESSED, len(chance)) + 1, rng.poisson(PRESENT, len(chance)) + 1
    return np.stack([rng.binomial(np.minimum(guessed, present), chance), guessed, present], axis=1).astype(np.float64)


def _some_f1() -> float:
    """F1 where every word that can be hit is hit."""
    counts = words(np.random.default_rng(0), np.ones(300_000))
    return float(sets.f1(counts.sum(axis=0)))


BEST_F1 = _some_f1()


def around(rng: np.random.Generator, mean: float, alike: float, n: int) -> Array:
    """Rates around a mean; ``alike`` is the correlation of two texts of one group."""
    if alike == 0:
        return np.full(n, mean)
    strength = 1 / alike - 1
    return rng.beta(strength * mean, strength * (1 - mean), n)


def _labels(rng: np.random.Generator, n: int, positives: float) -> NDArray[np.int64]:
    labels = (rng.random(n) < positives).astype(np.int64)
    labels[:2] = 0, 1
    return labels


def _rates(n: int) -> Iterator[Cell]:
    for rate in (0.5, 0.9, 0.99):
        yield Cell(f"accuracy {rate}, n {n}", rate, lambda rng, p=rate: mean(rng.random(n) < p))
    for recalls in ((0.5, 0.5), (0.9, 0.9), (0.99, 0.99), (0.99, 0.5)):
        for positives in (0.5, 0.05):

            def balanced(rng: np.random.Generator, r: tuple[float, float] = recalls, p: float = positives) -> Estimate:
                labels = _labels(rng, n, p)
                right = rng.random(n) < np.array(r)[labels]
                return Scores(by_class(labels, right), macro_recall).estimate()

            named = f"recall {recalls[0]}" if recalls[0] == recalls[1] else f"recalls {recalls[0]} and {recalls[1]}"
            yield Cell(
                f"balanced accuracy, {named}, {positives:.0%} positives, n {n}", float(np.mean(recalls)), balanced
            )
    for rate in (0.02, 0.5):

        def many(rng: np.random.Generator, p: float = rate) -> Estimate:
            return Scores(by_class(rng.integers(0, 50, n), rng.random(n) < p, 50), macro_recall).estimate()

        yield Cell(f"balanced accuracy of 50 classes, {rate}, n {n}", rate, many)
    for value in (0.01, 0.2, 0.5):

        def content(rng: np.random.Generator, v: float = value) -> Estimate:
            return Scores(words(rng, around(rng, v / BEST_F1, 0.2, n)), sets.f1).estimate()

        yield Cell(f"F1 {value}, n {n}", value, content)


def _excesses(n: int) -> Iterator[Cell]:
    for rate in (0.6, 0.99):
        for floor in ("a coin", "a constant"):

            def over(rng: np.random.Generator, p: float = rate, constant: bool = floor == "a constant") -> Estimate:
                labels = rng.integers(0, 2, n)
                blind = labels == 0 if constant else rng.random(n) < 0.5
                mine = Scores(by_class(labels, rng.random(n) < p), macro_recall)
                return mine.excess_over(Scores(by_class(labels, blind), macro_recall))

            yield Cell(f"excess of {rate} over {floor}, n {n}", rate - 0.5, over)

    def alike(rng: np.random.Generator) -> Estimate:
        right = rng.random(n) < 0.8
        other = np.where(rng.random(n) < 0.02, rng.random(n) < 0.8, right)
        return Scores(plain(right), ratio).excess_over(Scores(plain(other), ratio))

    yield Cell(f"excess over nearly the same answers, n {n}", 0.0, alike)
    for value, low in ((0.2, 0.05), (0.013, 0.01)):

        def texts(rng: np.random.Generator, v: float = value, f: float = low) -> Estimate:
            mine, blind = (words(rng, around(rng, x / BEST_F1, 0.2, n)) for x in (v, f))
            return Scores(mine, sets.f1).excess_over(Scores(blind, sets.f1))

        yield Cell(f"excess of F1 {value} over {low}, n {n}", value - low, texts)


def _grouped(count: int) -> Iterator[Cell]:
    groups = np.repeat(np.arange(count), PER_GROUP)
    n = len(groups)
    for alike in (0.1, 0.4):
        for rate in (0.5, 0.9):

            def balanced(rng: np.random.Generator, p: float = rate, a: float = alike) -> Estimate:
                right = rng.random(n) < around(rng, p, a, count)[groups]
                return Scores(by_class(rng.integers(0, 2, n), right), macro_recall, groups.tolist()).estimate()

            def accuracy(rng: np.random.Generator, p: float = rate, a: float = alike) -> Estimate:
                return mean(rng.random(n) < around(rng, p, a, count)[groups], groups=groups.tolist())

            yield Cell(f"accuracy {rate}, {count} groups, correlation {alike}", rate, accuracy)
            yield Cell(f"balanced accuracy {rate}, {count} groups, correlation {alike}", rate, balanced)

        def excess(rng: np.random.Generator, a: float = alike) -> Estimate:
            labels, own = rng.integers(0, 2, n), groups.tolist()
            mine = by_class(labels, rng.random(n) < around(rng, 0.8, a, count)[groups])
            blind = Scores(by_class(labels, labels == 0), macro_recall, own)
            return Scores(mine, macro_recall, own).excess_over(blind)

        yield Cell(f"excess of 0.8 over a constant, {count} groups, correlation {alike}", 0.3, excess)
    for value in (0.01, 0.2, 0.5):

        def content(rng: np.random.Generator, v: float = value) -> Estimate:
            chance = around(rng, v / BEST_F1, 0.1, count)[groups]
            return Scores(words(rng, chance), sets.f1, groups.tolist()).estimate()

        yield Cell(f"F1 {value}, {count} groups, correlation 0.1", value, content)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="cells whose name holds this")
    options = parser.parse_args()
    started, low = time.perf_counter(), 0
    print(f"{'cell':<72} covered  width")
    for cell in cells():
        if options.only in cell.name:
            covered, width = cell.covered(options.samples, options.seed)
            low += covered < 0.93
            print(f"{cell.name:<72} {covered:7.1%}  {width:.3f}{'  below 93 %' if covered < 0.93 else ''}", flush=True)
    error = (0.95 * 0.05 / options.samples) ** 0.5
    print(f"{low} below 93 %; error of simulation {error:.1%}; {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
