"""How far a metric would move with other texts: the variance of a statistic of column sums, and what it rests on.

Each text (or group of texts that belong together) moves the metric a little; the sum of the squares of these moves is
the jackknife's estimate of its variance. It needs no random draws, and two metrics of the same texts can be compared
move by move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
Statistic = Callable[[FloatArray], FloatArray]

#: A group is counted as if it held at most this share of a class: beyond it, the rest can't say how far it moves.
LARGEST_SHARE = 0.5


class Rates:
    """A statistic of column sums that is a mean of rates: hits out of what was asked, one rate per class.

    ``columns`` maps sums ``[..., columns]`` to hits and asked, ``[..., classes]`` each. Classes nobody asked about
    don't count; where there is none at all the value is ``empty``. Accuracy, balanced accuracy, F1, precision and
    recall are of this kind. An interval can then allow for a class whose texts were all right, which shows no variance
    of its own.
    """

    def __init__(
        self, columns: Callable[[FloatArray], tuple[FloatArray, FloatArray]], *, empty: float = math.nan
    ) -> None:
        self.columns = columns
        self.empty = empty

    def __call__(self, sums: FloatArray) -> FloatArray:
        """The mean of the rates."""
        hits, asked = (np.asarray(a, dtype=np.float64) for a in self.columns(np.asarray(sums)))
        rate = np.divide(hits, asked, out=np.zeros_like(hits), where=asked > 0)
        classes = (asked > 0).sum(axis=-1)
        blank = np.full(classes.shape, self.empty)
        return np.asarray(np.divide(rate.sum(axis=-1), classes, out=blank, where=classes > 0))


@dataclass(frozen=True)
class Classes:
    """What the rates of a metric rest on: the rate, what was asked and how many texts or groups, per class."""

    rates: FloatArray
    asked: FloatArray
    units: FloatArray


@dataclass(frozen=True)
class Spread:
    """A value, how far each text and each group moves it, and how many of them it rests on.

    The last of ``texts`` and ``groups`` is one that was not seen (``lean_of``). ``count`` is the number of texts, or of
    groups, that have a say; ``units`` the number of equal ones that would say as much, fewer where some weigh more.
    ``classes`` is None for a metric that does not lie between 0 and 1.
    """

    value: float
    texts: FloatArray
    groups: FloatArray | None
    count: int
    units: float
    classes: Classes | None = None

    @property
    def variance(self) -> float:
        """Of the value; texts of one group never make it smaller than independent texts would."""
        return _variance(self.texts, self.groups)

    @property
    def largest_variance(self) -> float:
        """Of a metric between 0 and 1: that of texts or groups of which each is all right or all wrong."""
        if self.classes is None:
            return math.inf
        rates, units, count = self.classes.rates, self.classes.units, len(self.classes.rates)
        apart = float((rates * (1 - rates) / units).sum()) / count**2
        mean, fewest = float(rates.mean()), min(self.units, count**2 / float((1 / units).sum()))
        return max(apart, mean * (1 - mean) / fewest)

    def variance_against(self, other: Spread) -> float:
        """Of the difference of two values of the same texts."""
        both = None if self.groups is None or other.groups is None else self.groups - other.groups
        return _variance(self.texts - other.texts, both)


def _variance(texts: FloatArray, groups: FloatArray | None) -> float:
    return _squares(texts) if groups is None else max(_squares(texts), _squares(groups))


def _squares(moves: FloatArray) -> float:
    return float(np.square(moves).sum() * (1 - 1 / len(moves)))


def numbered(groups: Sequence[object]) -> IntArray | None:
    """Groups as numbers from zero; None where every text is a group of its own."""
    names, labels = np.unique(np.asarray([str(g) for g in groups]), return_inverse=True)
    return None if len(names) == len(labels) else np.asarray(labels, dtype=np.int64)


def summed(rows: FloatArray, labels: IntArray) -> FloatArray:
    """Rows of one group added up."""
    order = np.argsort(labels, kind="stable")
    starts = np.flatnonzero(np.diff(labels[order], prepend=-1))
    return np.asarray(np.add.reduceat(rows[order], starts, axis=0))


def effective(shares: FloatArray) -> FloatArray:
    """How many equal parts say as much as parts with these shares of the whole (Kish)."""
    return np.asarray(1 / np.square(shares).sum(axis=0))


def spread(rows: FloatArray, statistic: Statistic, labels: IntArray | None = None, *, rate: bool = False) -> Spread:
    """The value of a statistic of the column sums of ``rows`` (one per text), and how far the rows move it.

    ``rate`` says that a statistic other than ``Rates`` lies between 0 and 1.
    """
    total = rows.sum(axis=0)
    value = float(statistic(total))
    together = None if labels is None else summed(rows, labels)
    if isinstance(statistic, Rates):
        return _of_rates(value, statistic.columns(rows), None if together is None else statistic.columns(together))
    texts = np.append(_left_out(rows, total, statistic, value), 0.0)
    groups = None if together is None else np.append(_left_out(together, total, statistic, value), 0.0)
    count = int(((rows if together is None else together) != 0).any(axis=1).sum())
    alone = np.array([float(count)])
    return Spread(value, texts, groups, count, count, Classes(np.array([value]), alone, alone) if rate else None)


def _left_out(rows: FloatArray, total: FloatArray, statistic: Statistic, value: float) -> FloatArray:
    return np.asarray(value - statistic(total - rows), dtype=np.float64)


def _of_rates(
    value: float, rows: tuple[FloatArray, FloatArray], together: tuple[FloatArray, FloatArray] | None
) -> Spread:
    hits, asked = rows
    whole = asked.sum(axis=0)
    there = whole > 0
    if not there.any():
        return Spread(
            value, np.zeros(len(asked) + 1), None if together is None else np.zeros(len(together[0]) + 1), 0, 0.0
        )
    hits, asked, whole = hits[:, there], asked[:, there], whole[there]
    rates = hits.sum(axis=0) / whole
    bounded = bool((hits >= 0).all() and (hits <= asked + 1e-9).all())
    lean = lean_of(hits.sum(axis=1), asked.sum(axis=1), value) if bounded else 0.0
    tosses = bool(((hits == 0) | (hits == asked)).all())
    texts, shares = _moves(hits, asked, rates, value, 0.0 if tosses else lean)
    groups = None
    if together is not None:
        groups, shares = _moves(together[0][:, there], together[1][:, there], rates, value, lean)
    count = int((shares > 0).any(axis=1).sum())
    classes = Classes(rates, whole, effective(shares)) if bounded else None
    return Spread(value, texts, groups, count, float(effective(shares.mean(axis=1))), classes)


def _moves(
    hits: FloatArray, asked: FloatArray, rates: FloatArray, value: float, lean: float
) -> tuple[FloatArray, FloatArray]:
    """How far the mean of the rates moves without each row, and the share of each class that each row holds.

    A class that is one row has no variance of its own: it is compared with the mean of all classes instead.
    """
    whole = asked.sum(axis=0)
    shares = asked / whole
    centre = np.where(shares.max(axis=0) > 1 - 1e-9, value, rates)
    moved = (hits - centre * asked) / whole / (1 - np.minimum(shares, LARGEST_SHARE))
    return np.append(moved.mean(axis=1), lean / effective(shares.mean(axis=1))), shares


def lean_of(hits: FloatArray, asked: FloatArray, value: float) -> float:
    """How far half a text, or group, of the rarer kind would move the sum of all.

    Near 0 or 1 most texts look alike, and the few that don't may be missing from the sample altogether. In the middle
    both kinds are seen, and nothing is added; nor for single texts that are right or wrong, whose variance is known.
    """
    rates = hits[asked > 0] / asked[asked > 0]
    return float(rates.max() + rates.min() - 2 * value) / 2
