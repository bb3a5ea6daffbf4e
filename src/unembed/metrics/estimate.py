"""Estimate: a value is never shown without its interval.

Every interval follows from how far each text moves the metric (``metrics.spread``), or each group where texts belong
together, because such texts are not independent. Three things keep it from being too narrow:

- Student's t, with one degree of freedom less than there are texts or groups, and fewer where some weigh more.
- For metrics between 0 and 1, pseudo-observations: t² of them, half right and half wrong, each of the weight of one
  independent observation (Agresti and Coull; Price and Bonett for means of several rates; Korn and Graubard for
  groups). Without them, a metric near 0 or 1 has hardly any variance left to be seen.
- Fewer than ``FEWEST_GROUPS`` groups say nothing: the interval is then all that the metric can be, and a metric without
  bounds is undefined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from unembed.metrics.spread import Classes, Rates, Spread, Statistic, numbered, spread
from unembed.metrics.spread import FloatArray as FloatArray

#: One number per text.
Values = Sequence[float] | NDArray[np.floating] | NDArray[np.bool_]

LEVEL = 0.95
FEWEST_GROUPS = 5
TOO_FEW = "too few groups"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured value with the interval that holds it at the given level."""

    value: float
    low: float
    high: float
    n: int
    level: float = LEVEL
    method: str = "jackknife"

    def __post_init__(self) -> None:
        if math.isnan(self.value):
            return
        if not (self.low <= self.value + 1e-12 and self.value <= self.high + 1e-12):
            raise ValueError(f"value {self.value} outside its interval [{self.low}, {self.high}]")


def undefined(n: int = 0, method: str = "undefined") -> Estimate:
    """An estimate that says nothing could be measured."""
    return Estimate(math.nan, math.nan, math.nan, n, method=method)


def quantile(level: float, freedom: float) -> float:
    """The two-sided quantile of Student's t, e.g. 2.01 for 0.95 and 49 degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(max(freedom, 0.1), 0.5 + level / 2))


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


def interval(found: Spread, n: int, *, level: float = LEVEL) -> Estimate:
    """The interval of a value that follows from how far texts, or groups, move it."""
    value, variance = found.value, found.variance
    few = found.groups is not None and found.count < FEWEST_GROUPS
    method = TOO_FEW if few else "jackknife" if found.groups is None else "cluster jackknife"
    if math.isnan(value) or math.isnan(variance):
        return undefined(n)
    if found.count == 0:
        return Estimate(value, min(value, 0.0), max(value, 1.0), n, level, method)
    if found.classes is None:
        if few or found.count < 2:
            return undefined(n, method)
        half = quantile(level, found.units - 1) * math.sqrt(variance)
        return Estimate(value, value - half, value + half, n, level, method)
    if few:
        return Estimate(value, 0.0, 1.0, n, level, method)
    t = quantile(level, found.units - 1)
    centre, variance = _with_pseudo_observations(found.classes, min(variance, found.largest_variance), t)
    half = t * math.sqrt(variance)
    return Estimate(value, min(value, max(0.0, centre - half)), max(value, min(1.0, centre + half)), n, level, method)


def _with_pseudo_observations(classes: Classes, variance: float, t: float) -> tuple[float, float]:
    """Value and variance after t² pseudo-observations, half right and half wrong, shared out among the classes.

    How many independent observations a class holds follows from comparing the variance with that of coin tosses; where
    nothing varies, each text or group is one.
    """
    count = len(classes.rates)
    tosses = float((classes.rates * (1 - classes.rates) / classes.asked).sum()) / count**2
    seen = classes.units
    if tosses > 0 and variance > 0:
        seen = classes.asked * tosses / variance
    added = t * t / count
    rates = (seen * classes.rates + added / 2) / (seen + added)
    return float(rates.mean()), float((rates * (1 - rates) / (seen + added)).sum()) / count**2


def difference(one: Spread, other: Spread, n: int, *, level: float = LEVEL) -> Estimate:
    """One value minus another of the same texts, its interval put together from theirs and from how they move together.

    Two guesses that answer alike on every text seen may still differ on others: pseudo-observations that tell them
    apart keep the interval between two metrics of 0 to 1 from having no width.
    """
    first, second = interval(one, n, level=level), interval(other, n, level=level)
    if math.isnan(first.value) or math.isnan(second.value):
        return undefined(n)
    if TOO_FEW in (first.method, second.method):
        return Estimate(first.value - second.value, -1.0, 1.0, n, level, TOO_FEW)
    product = math.sqrt(one.variance * other.variance)
    shared = (one.variance + other.variance - one.variance_against(other)) / (2 * product) if product > 0 else 0.0
    found = apart(first, second, together=max(-1.0, min(1.0, shared)))
    if one.classes is None or other.classes is None:
        return replace(found, method=first.method)
    pseudo = normal_quantile(level) ** 2
    least = pseudo / (min(one.units, other.units) + pseudo) / 2
    low, high = min(found.low, found.value - least), max(found.high, found.value + least)
    return replace(found, low=max(-1.0, low), high=min(1.0, high), method=first.method)


def apart(one: Estimate, other: Estimate, *, together: float = 0.0) -> Estimate:
    """The difference of two values, its interval put together from theirs (Newcombe's hybrid score interval).

    ``together`` is their correlation: of two rates of the same texts part of the variation is shared.
    """

    def reach(first: float, second: float) -> float:
        return math.sqrt(max(0.0, first**2 + second**2 - 2 * together * first * second))

    value = one.value - other.value
    low = value - reach(one.value - one.low, other.high - other.value)
    high = value + reach(one.high - one.value, other.value - other.low)
    return Estimate(value, low, high, one.n, one.level, "newcombe")


@dataclass(frozen=True)
class Measure:
    """Something to measure: one row of ``parts`` per text, and the statistic of their column sums.

    ``n`` is how many texts it rests on, where that is not all of them. ``rate`` says that it lies between 0 and 1, for
    a statistic that is not one of ``Rates``, which are known to.
    """

    parts: NDArray[np.floating] | NDArray[np.integer]
    statistic: Statistic
    n: int | None = None
    rate: bool = False

    @classmethod
    def mean(cls, values: Values) -> Measure:
        """The mean of one number per text, which is a share where they are 0 or 1; NaN doesn't count."""
        array = np.asarray(values, dtype=np.float64)
        known = ~np.isnan(array)
        return cls(np.stack([np.where(known, array, 0), known], axis=1), ratio, int(known.sum()))


def estimate_of(
    parts: NDArray[np.floating] | NDArray[np.integer],
    statistic: Statistic,
    *,
    groups: Sequence[object] | None = None,
    level: float = LEVEL,
) -> Estimate:
    """A statistic of the column sums of ``parts`` (one row per text) with its interval; see ``estimates_of``."""
    return estimates_of({"": Measure(parts, statistic)}, groups=groups, level=level)[""]


def estimates_of(
    wanted: Mapping[str, Measure], *, groups: Sequence[object] | None = None, level: float = LEVEL
) -> dict[str, Estimate]:
    """Several measures of the same texts, each with its interval.

    A statistic maps sums ``[..., columns]`` to values ``[...]``; pooled F1 is one of (hits, guessed, present), a mean
    one of (sum, count). Texts of one group are taken to belong together.
    """
    for name, measure in wanted.items():
        if np.ndim(measure.parts) != 2:
            raise ValueError(f"parts{f' of {name}' if name else ''} must be 2-d, got {np.ndim(measure.parts)}-d")
    if not wanted or not len(next(iter(wanted.values())).parts):
        return {name: undefined() for name in wanted}
    labels = None if groups is None else numbered(groups)
    found = {}
    for name, measure in wanted.items():
        rows = np.asarray(measure.parts, dtype=np.float64)
        moved = spread(rows, measure.statistic, labels, rate=measure.rate)
        found[name] = interval(moved, len(rows) if measure.n is None else measure.n, level=level)
    return found


def mean(values: Values, *, groups: Sequence[object] | None = None, level: float = LEVEL) -> Estimate:
    """The mean of one number per text, which is a share where they are 0 or 1; NaN doesn't count."""
    return estimates_of({"": Measure.mean(values)}, groups=groups, level=level)[""]


#: First column over second, NaN where the second is zero.
ratio = Rates(lambda sums: (sums[..., :1], sums[..., 1:2]))
