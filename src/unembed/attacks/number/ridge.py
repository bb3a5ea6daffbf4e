"""Ridge regression from vectors to a quantity (Song 4, Alg. 3, with a regressor for the classifier).

The strength is chosen by the error on each labelled vector when it alone is left out, which ridge regression knows
in closed form. The number of a stranger lies between those the adversary has seen, so answers are kept there.

Cost: one product of n · d · min(n, d) multiply-adds and one eigendecomposition of the smaller side, all in float64.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.encoders.base import Vectors
from unembed.games.number import NumberGuess, NumberKnowledge
from unembed.games.threat import Capability
from unembed.metrics.estimate import FloatArray
from unembed.nn.features import Standardiser
from unembed.params import Parametrised

#: Strengths tried, as shares of the inputs' mean eigenvalue.
STRENGTHS = tuple(float(s) for s in np.logspace(-4, 4, 33))


class NumberRidge(Parametrised):
    """Standardised inputs, one linear map, strength by the error left out one by one."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="number/ridge",
        game="number",
        title="Inference of a quantity with ridge regression",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        paper="song2020",
        section="4, Alg. 3",
        departures="The paper infers classes; here the classifier is a regressor. Inputs are standardised, and the "
        "strength is chosen on the labelled vectors.",
        default=False,
    )

    strength: float | None = None
    seed: int = 0

    def fit(self, knowledge: NumberKnowledge) -> Self:
        """Solve for every strength from one eigendecomposition and keep the best."""
        self.scaler_ = Standardiser().fit(knowledge.vectors)
        inputs = self.scaler_.transform(knowledge.vectors).astype(np.float64)
        numbers = knowledge.numbers
        self.mean_, self.middle_ = inputs.mean(axis=0), float(numbers.mean())
        self.range_ = float(numbers.min()), float(numbers.max())
        left, sizes, right = _thin_svd(inputs - self.mean_)
        along = left.T @ (numbers - self.middle_)
        unit = float((sizes**2).mean()) or 1.0
        tried = STRENGTHS if self.strength is None else (self.strength,)
        errors = []
        for strength in tried:
            keep = sizes**2 / (sizes**2 + strength * unit)
            misses = numbers - self.middle_ - left @ (keep * along)
            # Leaving a row out changes its own residual by this factor; the intercept takes 1 / n of it.
            own = np.clip((left**2) @ keep + 1 / len(numbers), 0, 1 - 1e-9)
            errors.append(float(np.abs(misses / (1 - own)).mean()))
        self.strength_ = tried[int(np.argmin(errors))]
        shrunk = np.divide(sizes, sizes**2 + self.strength_ * unit, out=np.zeros_like(sizes), where=sizes > 0)
        self.weights_ = right @ (shrunk * along)
        return self

    def run(self, vectors: Vectors) -> NumberGuess:
        """One number per vector."""
        inputs = self.scaler_.transform(vectors).astype(np.float64)
        return np.asarray(np.clip((inputs - self.mean_) @ self.weights_ + self.middle_, *self.range_))


def _thin_svd(inputs: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Left vectors ``[n, k]``, singular values and right vectors ``[d, k]`` through the smaller Gram matrix."""
    n, d = inputs.shape
    if n > d:
        right, sizes, left = _thin_svd(inputs.T)
        return left, sizes, right
    values, left = np.linalg.eigh(inputs @ inputs.T)
    sizes = np.sqrt(np.maximum(values, 0))
    kept = sizes > 1e-7 * float(sizes.max(initial=0.0))  # directions below are rounding
    right = np.divide(inputs.T @ left, sizes, out=np.zeros((d, n)), where=kept)
    return left, np.where(kept, sizes, 0.0), right
