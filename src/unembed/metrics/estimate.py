"""Estimate: a value is never shown without its interval.

Rates get Wilson's interval; everything else a bootstrap over texts, or over documents where several
texts of one document are scored, because such texts are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

BOOTSTRAP_ROUNDS = 1000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured value with the interval that holds it at the given level."""

    value: float
    low: float
    high: float
    n: int
    level: float = LEVEL
    method: str = "bootstrap"

    def __post_init__(self) -> None:
        if math.isnan(self.value):
            return
        if not (self.low <= self.value + 1e-12 and self.value <= self.high + 1e-12):
            raise ValueError(f"value {self.value} outside its interval [{self.low}, {self.high}]")


def undefined(n: int = 0, method: str = "undefined") -> Estimate:
    """An estimate that says nothing could be measured."""
    return Estimate(math.nan, math.nan, math.nan, n, method=method)


def normal_quantile(level: float) -> float:
    """The two-sided quantile of the normal distribution, e.g. 1.96 for 0.95."""
    from statistics import NormalDist

    return NormalDist().inv_cdf(0.5 + level / 2)


def wilson(successes: int, n: int, *, level: float = LEVEL) -> Estimate:
    """A rate of ``successes`` out of ``n`` independent trials with Wilson's score interval."""
    if n == 0:
        return undefined(method="wilson")
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} successes of {n} trials")
    z = normal_quantile(level)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Estimate(p, min(p, max(0.0, centre - half)), max(p, min(1.0, centre + half)), n, level, "wilson")


def bootstrap(
    parts: NDArray[np.floating] | NDArray[np.integer],
    statistic: Callable[[FloatArray], FloatArray],
    *,
    rng: np.random.Generator,
    groups: Sequence[object] | None = None,
    level: float = LEVEL,
    rounds: int = BOOTSTRAP_ROUNDS,
) -> Estimate:
    """Bootstrap of a statistic of the column sums of ``parts`` (one row a text).

    ``statistic`` maps sums ``[..., columns]`` to values ``[...]``; pooled F1 is one of (tp, fp, fn), a mean
    one of (sum, count). Rows of one group are drawn together.
    """
    wanted = {"": Measure(parts, statistic)}
    return bootstrap_all(wanted, rng=rng, groups=groups, level=level, rounds=rounds)[""]


@dataclass(frozen=True)
class Measure:
    """Something to bootstrap: one row of ``parts`` a text, and the statistic of their column sums.

    ``n`` is how many texts it rests on, where that is not all of them. Of a ``rate`` that is 0 or 1 a bootstrap would
    make an interval of no width: Wilson's over what can be drawn independently (texts, or groups of them) is given.
    """

    parts: NDArray[np.floating] | NDArray[np.integer]
    statistic: Callable[[FloatArray], FloatArray]
    n: int | None = None
    rate: bool = False

    @classmethod
    def share(cls, values: Sequence[float] | NDArray[np.floating] | NDArray[np.bool_]) -> Measure:
        """The share of texts that are 1 (the others 0; NaN doesn't count)."""
        return replace(cls.mean(values), rate=True)

    @classmethod
    def mean(cls, values: Sequence[float] | NDArray[np.floating] | NDArray[np.bool_]) -> Measure:
        """The mean of one number a text; texts without a number (NaN) don't count."""
        array = np.asarray(values, dtype=np.float64)
        known = ~np.isnan(array)
        return cls(np.stack([np.where(known, array, 0), known], axis=1), ratio, int(known.sum()))


def bootstrap_all(
    wanted: Mapping[str, Measure],
    *,
    rng: np.random.Generator,
    groups: Sequence[object] | None = None,
    level: float = LEVEL,
    rounds: int = BOOTSTRAP_ROUNDS,
) -> dict[str, Estimate]:
    """Many measures of the same texts on the same draws: the draws are what a bootstrap spends its time on."""
    if not wanted:
        return {}
    for name, measure in wanted.items():
        if np.ndim(measure.parts) != 2:
            raise ValueError(f"parts{f' of {name}' if name else ''} must be 2-d, got {np.ndim(measure.parts)}-d")
    rows = np.hstack([np.asarray(m.parts, dtype=np.float64) for m in wanted.values()])
    n = len(rows)
    if n == 0:
        return {name: undefined() for name in wanted}
    ends = np.cumsum([0, *(m.parts.shape[1] for m in wanted.values())])
    columns = {name: slice(int(a), int(b)) for name, a, b in zip(wanted, ends[:-1], ends[1:], strict=True)}
    method = "bootstrap"
    if groups is not None:
        labels = np.unique(np.asarray([str(g) for g in groups]), return_inverse=True)[1]
        clusters = int(labels.max()) + 1
        if clusters < n:
            summed = np.zeros((clusters, rows.shape[1]))
            np.add.at(summed, labels, rows)
            rows, method = summed, "cluster bootstrap"
    total = rows.sum(axis=0)
    drawn = len(rows)
    values = {name: np.empty(rounds) for name in wanted}
    step = max(1, int(4e6 // drawn))
    for start in range(0, rounds, step):
        count = min(step, rounds - start)
        sums = _draws(count, drawn, rng) @ rows
        for name, measure in wanted.items():
            values[name][start : start + count] = measure.statistic(sums[:, columns[name]])
    found = {}
    for name, measure in wanted.items():
        value, known = float(measure.statistic(total[columns[name]])), values[name][~np.isnan(values[name])]
        size = n if measure.n is None else measure.n
        if math.isnan(value) or not len(known):
            found[name] = undefined(size)
            continue
        if measure.rate and value in (0.0, 1.0):
            apart = int((rows[:, columns[name]][:, 1] > 0).sum())
            bounds = wilson(apart if value else 0, apart, level=level)
            found[name] = replace(bounds, n=size)
            continue
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
        found[name] = Estimate(value, min(value, float(low)), max(value, float(high)), size, level, method)
    return found


def _draws(rounds: int, n: int, rng: np.random.Generator) -> FloatArray:
    """How often each of ``n`` rows is drawn in each round of ``n`` draws with replacement."""
    drawn = rng.integers(0, n, size=(rounds, n)) + np.arange(rounds)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=rounds * n).reshape(rounds, n).astype(np.float64)


def mean(
    values: Sequence[float] | NDArray[np.floating] | NDArray[np.bool_],
    *,
    rng: np.random.Generator,
    groups: Sequence[object] | None = None,
    level: float = LEVEL,
) -> Estimate:
    """The mean of one number a text; texts without a number (NaN) don't count."""
    array = np.asarray(values, dtype=np.float64)
    known = ~np.isnan(array)
    kept = None if groups is None else [g for g, k in zip(groups, known, strict=True) if k]
    parts = np.stack([array[known], np.ones(int(known.sum()))], axis=1)
    return bootstrap(parts, ratio, rng=rng, groups=kept, level=level)


def share(
    values: Sequence[float] | NDArray[np.floating] | NDArray[np.bool_],
    *,
    rng: np.random.Generator,
    groups: Sequence[object] | None = None,
) -> Estimate:
    """The share of texts that are 1, with an interval that has a width even where all or none are."""
    return bootstrap_all({"": Measure.share(values)}, rng=rng, groups=groups)[""]


def apart(one: Estimate, other: Estimate) -> Estimate:
    """The difference of two rates, its interval put together from theirs (Newcombe's hybrid score interval)."""
    difference = one.value - other.value
    low = difference - math.hypot(one.value - one.low, other.high - other.value)
    high = difference + math.hypot(one.high - one.value, other.value - other.low)
    return Estimate(difference, low, high, one.n, one.level, "newcombe")


def ratio(sums: FloatArray) -> FloatArray:
    """First column over second, NaN where the second is zero."""
    part, whole = sums[..., 0], sums[..., 1]
    return np.asarray(np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole != 0))
