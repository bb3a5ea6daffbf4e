"""The linear classifier of Corò 4.1.3: scikit-learn's ``SGDClassifier``, its settings chosen by a grid search.

The grid holds two losses, three penalties, five strengths and four patiences: the number of epochs without progress on
held-back rows after which training stops. Up to that epoch a training with little patience is one with more, so all
four patiences are read off one training: 30 trainings per fold instead of 120, and held-back rows are scored without
making an estimator each time. What is chosen and said is what ``GridSearchCV`` gives on the same rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedKFold

from unembed.errors import CannotMeasureError
from unembed.games.base import IntArray

STRENGTHS = tuple(10.0**-i for i in range(1, 6))
LOSSES = ("hinge", "log_loss")
PATIENCES = (5, 10, 20, 30)
PENALTIES = ("l1", "l2", "elasticnet")
#: Agreement of the weights that are read off with those that a training ends with.
SAME = 1e-6

#: Epochs, weights without their scale, intercept.
End = tuple[int, NDArray[np.float64], float]
Weights = tuple[NDArray[np.float64], NDArray[np.float64]]
Settings = dict[str, Any]


def grid() -> list[Settings]:
    """All settings, in the order in which ``GridSearchCV`` tries them: the first of equals is chosen."""
    names = ("alpha", "loss", "n_iter_no_change", "penalty")
    return [dict(zip(names, one, strict=True)) for one in product(STRENGTHS, LOSSES, PATIENCES, PENALTIES)]


class _Trace:
    """One binary training: where it would end with each patience, by the score of the held-back rows."""

    def __init__(self, tol: float) -> None:
        self.tol, self.best, self.without, self.epochs = tol, -np.inf, 0, 0
        self.ends: dict[int, End] = {}

    def note(self, score: float, weights: NDArray[np.float64], intercept: float) -> None:
        """What an epoch has come to; weights as they are kept, without their scale."""
        self.epochs += 1
        self.without = self.without + 1 if score < self.best + self.tol else 0
        self.best = max(self.best, score)
        self.last = (self.epochs, weights, intercept)
        if self.without in PATIENCES and self.without not in self.ends:
            self.ends[self.without] = (self.epochs, np.array(weights), intercept)

    def end(self, patience: int) -> End:
        """Epochs, weights and intercept; the last ones where training came to its limit of epochs."""
        return self.ends.get(patience, self.last)


class _Traced(SGDClassifier):  # type: ignore[misc]
    """Notes what each binary training looks like after every epoch."""

    def _make_validation_score_cb(
        self, validation_mask: Any, X: Any, y: Any, sample_weight: Any, classes: Any = None
    ) -> Any:
        rows, answers = X[validation_mask], y[validation_mask]
        trace = _Trace(self.tol)
        self.traces_.append(trace)
        self.steps_ = int((~validation_mask).sum())

        def score(coef: NDArray[np.float64], intercept: float) -> float:
            positive = np.asarray(rows @ coef).ravel() + intercept > 0
            right = float(np.mean(np.where(positive, classes[1], classes[0]) == answers))
            trace.note(right, coef, intercept)
            return right

        return score


class LinearGrid:
    """Chooses settings by macro-F1 in stratified folds, learns from all rows with them, and answers.

    For n rows of d dimensions and k classes one training takes some 30 epochs of about 4·n·d·k floating-point
    operations, one row after the other, and there are 30 per fold. Of sparse rows only the entries count. Rows are
    divided by the mean length of those learnt from, which leaves unit vectors as they are: steps of one size suit
    vectors of one size, and a defense that only changes the unit costs nothing.
    """

    def __init__(self, seed: int, folds: int = 5) -> None:
        self.seed, self.folds = seed % 2**32, folds

    def fit(self, vectors: Any, labels: IntArray) -> LinearGrid:
        """Choose and learn."""
        from sklearn.exceptions import ConvergenceWarning

        self.unit_, self.columns_ = _mean_length(vectors), _used_columns(vectors)
        rows = self._scaled(vectors)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.scores_ = self._tried(rows, labels)
            if not np.isfinite(self.scores_).any():
                raise CannotMeasureError("no setting of the linear classifier can be trained on these vectors")
            self.settings_ = grid()[int(np.argmax(self.scores_))]
            self.model_ = SGDClassifier(early_stopping=True, random_state=self.seed, **self.settings_)
            self.model_.fit(rows, labels)
        return self

    def predict(self, vectors: Any) -> IntArray:
        """The class of each row."""
        return np.asarray(self.model_.predict(self._scaled(vectors)), dtype=np.int64)

    def _scaled(self, vectors: Any) -> Any:
        rows = vectors if self.columns_ is None else vectors.tocsr()[:, self.columns_]
        return rows.astype(np.float64) / self.unit_

    def _tried(self, rows: Any, labels: IntArray) -> NDArray[np.float64]:
        """Mean macro-F1 of every setting of the grid over the folds; minus infinity where a training overflows."""
        order = {tuple(one.values()): place for place, one in enumerate(grid())}
        found = np.full((len(order), self.folds), -np.inf)
        for number, (rest, fold) in enumerate(StratifiedKFold(self.folds).split(rows, labels)):
            for alpha, loss, penalty in product(STRENGTHS, LOSSES, PENALTIES):
                settings = {"alpha": alpha, "loss": loss, "penalty": penalty}
                try:
                    answers = answers_by_patience(rows[rest], labels[rest], rows[fold], settings, self.seed)
                except ValueError:  # scikit-learn's word for an overflow
                    continue
                for patience, said in answers.items():
                    score = f1_score(labels[fold], said, average="macro")
                    found[order[alpha, loss, patience, penalty], number] = score
        return np.asarray(found.mean(axis=1))


def answers_by_patience(
    rows: Any, labels: IntArray, asked: Any, settings: Settings, seed: int
) -> dict[int, NDArray[np.int64]]:
    """What is said of ``asked`` after a training with each patience, read off the one with the most."""
    model = _Traced(early_stopping=True, random_state=seed, n_iter_no_change=max(PATIENCES), **settings)
    model.traces_ = []
    model.fit(rows, labels)
    weights = {p: _weights([trace.end(p) for trace in model.traces_], model) for p in PATIENCES}
    coef, _ = weights[max(PATIENCES)]
    if not np.allclose(coef, model.coef_, rtol=SAME, atol=SAME * float(np.abs(model.coef_).max())):
        return _one_by_one(rows, labels, asked, settings, seed)  # a scikit-learn that keeps its weights otherwise
    return {patience: _answers(asked, found, model.classes_) for patience, found in weights.items()}


def _weights(ends: Sequence[End], model: Any) -> Weights:
    """Of all classes.

    Shrinking by the l2 penalty is kept as a factor of its own: a product over steps t of 1 - f / (c + t - 1), where c
    follows from the strength (Bottou's heuristic) and f is the share of l2 in the penalty.
    """
    share = {"l1": 0.0, "l2": 1.0, "elasticnet": 1.0 - model.l1_ratio}[model.penalty]
    start = 1 / (np.sqrt(1 / np.sqrt(model.alpha)) * model.alpha)
    after = start + model.steps_ * np.array([epochs for epochs, _, _ in ends])
    scale = np.exp(gammaln(after - share) - gammaln(start - share) + gammaln(start) - gammaln(after))
    kept = np.array([weights for _, weights, _ in ends])
    return kept * scale[:, None], np.array([intercept for _, _, intercept in ends])


def _answers(asked: Any, weights: Weights, classes: NDArray[Any]) -> NDArray[np.int64]:
    coef, intercept = weights
    said = np.asarray(asked @ coef.T) + intercept
    best = (said[:, 0] > 0).astype(np.int64) if len(classes) == 2 else said.argmax(axis=1)
    return np.asarray(classes[best], dtype=np.int64)


def _one_by_one(rows: Any, labels: IntArray, asked: Any, settings: Settings, seed: int) -> dict[int, NDArray[np.int64]]:
    """The same with a training of its own for every patience."""
    made = {p: SGDClassifier(early_stopping=True, random_state=seed, n_iter_no_change=p, **settings) for p in PATIENCES}
    return {p: np.asarray(model.fit(rows, labels).predict(asked), dtype=np.int64) for p, model in made.items()}


def _mean_length(vectors: Any) -> float:
    from sklearn.utils.extmath import row_norms

    length = float(np.mean(row_norms(vectors.astype(np.float64))))
    return length if length > 0 else 1.0


def _used_columns(vectors: Any) -> IntArray | None:
    """Of sparse vectors: weights of the others stay zero."""
    return None if isinstance(vectors, np.ndarray) else np.unique(vectors.tocsr().indices).astype(np.int64)
