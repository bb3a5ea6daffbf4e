"""The sparse linear reader of Mahloujifar's Algorithm 1: which few answers tell whether somebody's data were used.

Step 7 minimises, over lines l through the answers σ of the shadow models,

    Σ_in (1 − l(σ))² + Σ_out (1 + l(σ))² + λ‖l‖₁ ,   λ = 1/√k for k models on either side.

Answers are standardised first, and the sum is taken as a mean over models: the paper names neither, and as printed λ
would mean something else for each number of models. Its query set has at most 50 pairs; where λ leaves more, it is
raised until it does not.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError
from unembed.metrics.spread import FloatArray

#: Answers asked of the target at most.
MOST_PAIRS = 50
#: An answer that more than this share of the models can't give is not used.
MOST_UNKNOWN = 0.05


@dataclass(frozen=True)
class Reader:
    """A line through standardised answers: above 0 means in. An answer that a model can't give counts as its mean."""

    centre: FloatArray
    scale: FloatArray
    weights: FloatArray
    offset: float

    @property
    def asked(self) -> NDArray[np.int64]:
        """The answers that count."""
        return np.flatnonzero(self.weights)

    def score(self, answers: FloatArray) -> FloatArray:
        """One number per model."""
        return np.asarray(standardised(answers, self.centre, self.scale) @ self.weights + self.offset)


def usable(answers: FloatArray) -> NDArray[np.bool_]:
    """Answers that nearly every model gives, and that are not the same for all."""
    known = answers != 0
    return np.asarray(((~known).mean(axis=0) <= MOST_UNKNOWN) & (np.ptp(answers, axis=0) > 0))


def moments(answers: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and deviation of each answer over the models that give it."""
    known = answers != 0
    count = np.maximum(known.sum(axis=0), 1)
    centre = answers.sum(axis=0) / count
    spread = np.sqrt((known * (answers - centre) ** 2).sum(axis=0) / count)
    return centre, np.where(spread > 0, spread, 1.0)


def standardised(answers: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    """Answers in deviations from their mean; 0 where there is none."""
    return np.asarray(np.where(answers != 0, (answers - centre) / scale, 0.0))


def fitted(
    answers: FloatArray,
    members: NDArray[np.bool_],
    *,
    penalty: float | None = None,
    most: int = MOST_PAIRS,
    scaled: bool = True,
) -> Reader:
    """Solve the problem above for the answers of the shadow models; ``penalty`` is λ, where it is not 1/√k.

    Answers that are not ``scaled`` keep their deviations: λ then holds those back that hardly vary between models.
    """
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import Lasso, lasso_path

    told = np.flatnonzero(usable(answers))
    if not len(told):
        raise CannotMeasureError("the shadow models know no two neighbouring words of this user: nothing can be asked")
    centre, scale = moments(answers)
    if not scaled:
        scale = np.ones_like(scale)
    inputs = standardised(answers, centre, scale)[:, told]
    labels = np.where(members, 1.0, -1.0)
    if penalty is None:
        penalty = 1 / np.sqrt(max(1, min(members.sum(), (~members).sum())))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a line that is nearly the best is as good here
        # scikit-learn halves the mean of the squares, so its weight of the penalty is half of ours.
        line = Lasso(alpha=penalty / 2, max_iter=2000).fit(inputs, labels)
        weights, offset = line.coef_, float(line.intercept_)
        if np.count_nonzero(weights) > most:
            _, paths, _ = lasso_path(inputs, labels - labels.mean(), alphas=np.geomspace(1, penalty / 2, 30))
            fits = np.flatnonzero((paths != 0).sum(axis=0) <= most)
            weights = paths[:, fits[-1]]
            offset = float(labels.mean() - inputs.mean(axis=0) @ weights)
    spread = np.zeros(answers.shape[1])
    spread[told] = weights
    return Reader(centre, scale, spread, offset)
