"""The candidates of a portfolio: scikit-learn estimators that differ in what kind of leak they see.

Each stands for a kind: linear models see what a direction tells, screened ones what few coordinates, products or
lengths tell, trees what thresholds of those tell, neighbours what looks alike, a small network whatever bends.
``quick`` ones take some ten milliseconds with a thousand rows of 384 dimensions; the others up to half a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from unembed.attacks.learners.screening import WIDEST_PRODUCTS, Screen, screens
from unembed.errors import UnknownNameError

#: More classes than this are told apart by a forest: boosting grows a tree per class in every round.
MOST_BOOSTED = 2
#: Few coordinates can't tell more classes than this apart, and each strength takes seconds to try.
MANY_CLASSES = 20
#: Rows above which neighbours and networks, whose cost grows fastest, are left out of a choice.
MANY_ROWS = 20_000


@dataclass(frozen=True)
class Candidate:
    """An unfitted learner under a name; ``balanced`` says whether it weighs all classes alike by itself."""

    name: str
    model: Any
    quick: bool = True
    balanced: bool = True
    raw: bool = False
    """Learns from rows in common units, which no rotation of the space changes, not from standardised columns."""


def linear_classifiers(classes: int) -> Iterator[Candidate]:
    """Softmax regression of several strengths, on standardised columns and in common units; fewer for many classes."""
    many = classes > MANY_CLASSES
    for strength in (0.01, 0.1) if many else (0.001, 0.01, 0.1, 1.0):
        yield Candidate(f"linear, C={strength:g}", _logistic(strength))
    for strength in (0.1, 1.0) if many else (0.01, 0.1, 1.0, 10.0):
        yield Candidate(f"linear in common units, C={strength:g}", _logistic(strength), raw=True)


def classifiers(rows: int, width: int, classes: int, seed: int) -> Iterator[Candidate]:
    """Candidates for a column of classes; the plainest first, because it wins a tie."""
    from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.neural_network import MLPClassifier

    yield from linear_classifiers(classes)
    if classes <= MANY_CLASSES:
        yield from _screened(width, _logistic(1.0))
    if classes <= MOST_BOOSTED:
        boosted = HistGradientBoostingClassifier(
            max_iter=60, max_leaf_nodes=8, early_stopping=False, class_weight="balanced", random_state=seed
        )
        yield Candidate("boosted trees", _behind_screens(width, boosted), quick=False)
    else:
        forest = ExtraTreesClassifier(100, min_samples_leaf=2, class_weight="balanced", random_state=seed)
        yield Candidate("forest", forest, quick=False)
    if rows <= MANY_ROWS:
        for count in _neighbours(rows):
            near = KNeighborsClassifier(count, weights="distance")
            yield Candidate(f"{count} nearest neighbours", near, balanced=False, raw=True)
        network = MLPClassifier(hidden_layer_sizes=(64,), alpha=1.0, max_iter=60, random_state=seed)
        yield Candidate("small network", network, quick=False, balanced=False)


def regressors(rows: int, width: int, seed: int) -> Iterator[Candidate]:
    """Candidates for a column of numbers."""
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.neural_network import MLPRegressor

    ridge = RidgeCV(np.logspace(-2, 6, 17))
    yield Candidate("linear", ridge)
    yield Candidate("linear in common units", ridge, raw=True)
    yield from _screened(width, ridge)
    boosted = HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=80, max_leaf_nodes=8, early_stopping=False, random_state=seed
    )
    yield Candidate("boosted trees", _behind_screens(width, boosted), quick=False)
    if rows <= MANY_ROWS:
        for count in _neighbours(rows):
            near = KNeighborsRegressor(count, weights="distance")
            yield Candidate(f"{count} nearest neighbours", near, raw=True)
        network = MLPRegressor(hidden_layer_sizes=(64,), alpha=1.0, max_iter=60, random_state=seed)
        yield Candidate("small network", network, quick=False)


def _logistic(strength: float) -> Any:
    """Softmax regression in which all classes weigh the same."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=strength, class_weight="balanced", max_iter=300)


def _behind_screens(width: int, model: Any) -> Any:
    """The model on one screen of each family side by side, because it is slow on hundreds of columns."""
    from sklearn.pipeline import FeatureUnion, make_pipeline

    return make_pipeline(FeatureUnion(screens(width)), model)


def _screened(width: int, model: Any) -> Iterator[Candidate]:
    """A plain model on few features of one family."""
    from sklearn.pipeline import make_pipeline

    for keep in (1, 4, 16):
        yield Candidate(f"{keep} best coordinates", make_pipeline(Screen("coordinates", keep), model))
    yield Candidate("distances from the centre", make_pipeline(Screen("distances"), model), raw=True)
    if width <= WIDEST_PRODUCTS:
        for keep in (1, 8):
            yield Candidate(f"{keep} best products of two", make_pipeline(Screen("products", keep), model))
        yield Candidate("best signs of two", make_pipeline(Screen("signs", 1), model))


def _neighbours(rows: int) -> tuple[int, ...]:
    """Few and many; always fewer than a fold of the rows holds."""
    return tuple(k for k in (1, 5, 25) if k <= max(1, rows // 3))


def among(candidates: Iterable[Candidate], *, quick: bool, only: str | None) -> list[Candidate]:
    """Those that take part: all, the quick ones, or a single one by its name."""
    if only is not None:
        by_name = {c.name: c for c in candidates}
        if only not in by_name:
            raise UnknownNameError("candidate of the portfolio", only, list(by_name))
        return [by_name[only]]
    return [c for c in candidates if c.quick or not quick]
