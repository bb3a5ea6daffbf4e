"""Features that go with the answer, picked one by one: for leaks along few coordinates, and for those no line shows.

A linear model spreads its doubt over all dimensions: with a thousand labels and 384 dimensions it reads a label that
stands in one coordinate, readable with 75 %, with 65 %. Looking at each coordinate alone finds the one that tells. The
same holds for products of two coordinates (an exclusive or shows in no coordinate alone) and for distances from the
centre.

Cost: one product of n · d multiply-adds per answer for coordinates, n · d² for products.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

Family = Literal["coordinates", "products", "signs", "distances"]
#: Products of two coordinates are looked for up to this many of them, and for so many answers.
WIDEST_PRODUCTS = 1024
MOST_ANSWERS = 8

FloatRows = NDArray[np.float64]


def as_answers(target: NDArray[Any]) -> FloatRows:
    """Answers as columns of mean 0 and deviation 1: a number is one column, more than two classes one each."""
    if target.dtype.kind == "f":
        columns = np.asarray(target, dtype=np.float64)[:, None]
    else:
        found = np.unique(target)
        columns = (target[:, None] == found[None, 1:] if len(found) == 2 else target[:, None] == found[None]) * 1.0
    columns = columns - columns.mean(axis=0)
    spread = columns.std(axis=0)
    return np.asarray(columns / np.where(spread > 0, spread, 1.0))


class Screen(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps the ``keep`` features of one family that correlate most with any of the answers.

    ``coordinates`` are the columns themselves; ``products`` those of two columns (a column with itself among them),
    ``signs`` the products of their signs; ``distances`` are five lengths of the whole row, all kept.
    """

    def __init__(self, family: Family = "coordinates", keep: int = 8) -> None:
        self.family = family
        self.keep = keep

    def fit(self, rows: FloatRows, target: NDArray[Any]) -> Self:
        """Rank the features by their correlation with the answers."""
        self.centre_ = rows.mean(axis=0)
        spread = rows.std(axis=0)
        self.scale_ = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 1e-9)
        if self.family == "distances":
            lengths = self._lengths(rows)
            self.middle_, self.width_ = lengths.mean(axis=0), np.maximum(lengths.std(axis=0), 1e-9)
            return self
        answers = as_answers(target)
        scaled = self._scaled(rows)
        if self.family == "coordinates":
            found = np.abs(scaled.T @ answers).max(axis=1)
            self.picked_ = np.argsort(-found, kind="stable")[: self.keep]
            return self
        found = np.zeros((scaled.shape[1], scaled.shape[1]))
        for answer in answers.T[:MOST_ANSWERS]:
            np.maximum(found, np.abs(scaled.T @ (scaled * answer[:, None])), out=found)
        first, second = np.triu_indices(len(found), k=1 if self.family == "signs" else 0)
        strength = found[first, second]
        keep = min(self.keep, len(strength))
        best = np.argpartition(-strength, keep - 1)[:keep] if keep else np.arange(0)
        best = best[np.argsort(-strength[best], kind="stable")]
        self.picked_ = np.stack([first[best], second[best]])
        return self

    def transform(self, rows: FloatRows) -> FloatRows:
        """The picked features, one column each."""
        if self.family == "distances":
            return np.asarray((self._lengths(rows) - self.middle_) / self.width_)
        scaled = self._scaled(rows)
        if self.family == "coordinates":
            return np.asarray(scaled[:, self.picked_])
        return np.asarray(scaled[:, self.picked_[0]] * scaled[:, self.picked_[1]])

    def _scaled(self, rows: FloatRows) -> FloatRows:
        scaled = (rows - self.centre_) * self.scale_
        return np.asarray(np.sign(scaled) if self.family == "signs" else scaled)

    def _lengths(self, rows: FloatRows) -> FloatRows:
        """Distance from the centre in plain and in scaled units, by squares, by absolutes and at most; the sum."""
        away = rows - self.centre_
        scaled = away * self.scale_
        return np.stack(
            [
                np.linalg.norm(away, axis=1),
                np.linalg.norm(scaled, axis=1),
                np.abs(scaled).sum(axis=1),
                np.abs(scaled).max(axis=1, initial=0.0),
                scaled.sum(axis=1),
            ],
            axis=1,
        )


def screens(width: int) -> list[tuple[str, Any]]:
    """One of each family, side by side, for trees that find what goes with what."""
    chosen: list[tuple[str, Any]] = [("coordinates", Screen("coordinates", 48)), ("distances", Screen("distances"))]
    if width <= WIDEST_PRODUCTS:
        chosen += [("products", Screen("products", 8)), ("signs", Screen("signs", 8))]
    return chosen
