"""A signature: how the vectors of one encoder lie, in a few kilobytes and without any text.

Pan (Appendix D) trains one classifier on vectors of all candidates. A classifier has to be trained anew for every
encoder that is added, and calls everything by one of the names it knows. Here each encoder has a density of its own:
directions follow a Student distribution with a mean, ``AXES`` main axes and a variance for each column; shapes a
normal one. Evidence of several vectors adds up, a new signature leaves the others as they are, and a low density under
all of them means "none of those I know".

How low is low is learnt with the signature, from two kinds of scores (mean log density per column):

- *own*: of the encoder's vectors of one kind of text under the density of the other kinds, for the kind that fits
  worst. On text of a new kind the encoder scores about as low.
- *strangers*: of vectors that are none of the encoder's: its own with columns in another order, turned at random,
  vectors without any structure, and narrow cones round a random direction, as networks make them.

Cost of scoring: n · d · AXES multiply-adds. A signature of 384 dimensions is 14 kB in half precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Any

import numpy as np

from unembed.attacks.fingerprint.directions import SHAPE_STEP, directions, shapes
from unembed.errors import CannotMeasureError
from unembed.metrics.estimate import FloatArray
from unembed.seeds import generator

AXES = 16
#: Share of every column's variance that is taken to be the same for all: the text learnt from does not show all.
SHRINKAGE = 0.3
#: Degrees of freedom of the Student distribution: a vector unlike all others does not outweigh the rest.
TAIL = 20.0
#: No single feature of the shape speaks louder than twenty deviations.
MOST_SAID = 400.0
STRANGERS = 8
#: Text of a new kind may lower the encoder's own scores by so much, and by this share of their distance to strangers'.
ALLOWANCE, SHARE_ALLOWED = 0.04, 0.1
FEWEST_VECTORS = 20


@dataclass(frozen=True)
class Level:
    """Scores of many vectors: their mean, how far single vectors and whole sets of vectors stray from it."""

    mean: float
    within: float
    between: float

    def bound(self, n: int, rate: float, side: int) -> float:
        """The score that sets of ``n`` vectors pass on the given side (+1 above, -1 below) at this rate."""
        spread = float(np.hypot(self.between, self.within / np.sqrt(n)))
        return self.mean + side * NormalDist().inv_cdf(1 - rate) * spread


@dataclass(frozen=True, eq=False)
class Signature:
    """One encoder: its name, its dimension, the density of its vectors, and what scores to expect."""

    name: str
    dimension: int
    mean: FloatArray
    axes: FloatArray
    """Main axes, each as long as its deviation, ``[AXES, columns]``."""
    rest: FloatArray
    """Variance of each column beside the axes."""
    shape_mean: FloatArray
    shape_deviation: FloatArray
    own: Level
    strangers: tuple[Level, ...]
    facts: dict[str, Any] = field(default_factory=dict)

    def score(self, vectors: Any) -> FloatArray:
        """Mean log density per column, one number per vector; the higher, the likelier it is this encoder's."""
        return self.score_directions(directions(vectors))

    def score_directions(self, rows: FloatArray) -> FloatArray:
        """The same for what :func:`directions` gives."""
        columns = len(self.mean)
        lower, log_volume = self._factor
        scaled = (rows - self.mean) / np.sqrt(self.rest)
        along = np.linalg.solve(lower, (self.axes / np.sqrt(self.rest)) @ scaled.T)
        distance = np.maximum((scaled**2).sum(axis=1) - (along**2).sum(axis=0), 0)
        density = -(TAIL + columns) / 2 * np.log1p(distance / TAIL) - log_volume / 2
        off = ((shapes(rows) - self.shape_mean) / self.shape_deviation) ** 2
        shape = -np.minimum(off, MOST_SAID).sum(axis=1) / 2 - np.log(self.shape_deviation).sum()
        return np.asarray((density + shape) / columns)

    @cached_property
    def _factor(self) -> tuple[FloatArray, float]:
        """The small matrix of Woodbury's identity, factored, and the log determinant of the whole covariance."""
        scaled = self.axes / np.sqrt(self.rest)
        lower = np.linalg.cholesky(np.eye(len(self.axes)) + scaled @ scaled.T).astype(np.float64)
        return lower, float(np.log(self.rest).sum() + 2 * np.log(np.diag(lower)).sum())

    def needed(self, n: int, false_alarm: float) -> float:
        """The mean score that ``n`` vectors need to be taken for this encoder's.

        Strangers reach it at the stated rate at most; the encoder's own vectors miss it as rarely, unless strangers
        score as high as they do.
        """
        highest = max(level.bound(n, false_alarm, 1) for level in self.strangers)
        gap = max(0.0, self.own.mean - max(level.mean for level in self.strangers))
        return max(highest, self.own.bound(n, false_alarm, -1) - ALLOWANCE - SHARE_ALLOWED * gap)


def fit_signature(name: str, dimension: int, kinds: Sequence[FloatArray], facts: dict[str, Any]) -> Signature:
    """The signature of an encoder from directions of its vectors, one array for each kind of text.

    One kind alone is cut in two: the signature then does not know how other text would change it, and says so.
    """
    facts = {**facts, "vectors": int(sum(len(k) for k in kinds)), "kinds of text": len(kinds)}
    if len(kinds) == 1:
        order = generator(0, "fingerprint", "halves").permutation(len(kinds[0]))
        kinds = [kinds[0][np.sort(half)] for half in np.array_split(order, 2)]
    if min(len(k) for k in kinds) < FEWEST_VECTORS:
        raise CannotMeasureError(
            f"a signature needs at least {2 * FEWEST_VECTORS} vectors, {FEWEST_VECTORS} of each kind of text; those "
            "that are all zeros don't count"
        )
    elsewhere = []
    for i, kind in enumerate(kinds):
        others = np.concatenate([k for j, k in enumerate(kinds) if j != i])
        elsewhere.append(_density(name, dimension, others).score_directions(kind))
    everything = np.concatenate(kinds)
    plain = _density(name, dimension, everything)
    return Signature(
        name,
        dimension,
        plain.mean,
        plain.axes,
        plain.rest,
        plain.shape_mean,
        plain.shape_deviation,
        _level([min(elsewhere, key=np.mean)]),
        _strangers(plain, everything),
        facts,
    )


def _density(name: str, dimension: int, rows: FloatArray) -> Signature:
    mean = rows.mean(axis=0)
    centred = rows - mean
    total = centred.var(axis=0)
    _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
    axes = axes[:AXES] * (sizes[:AXES] / np.sqrt(len(rows)))[:, None]
    beside = np.maximum(total - (axes**2).sum(axis=0), 0)
    rest = (1 - SHRINKAGE) * beside + SHRINKAGE * total.mean() + 1e-9
    seen = shapes(rows)
    deviation = np.sqrt(seen.var(axis=0) + SHAPE_STEP**2)
    nowhere = Level(0.0, 0.0, 0.0)
    # Kept in half precision, so the scores to expect are those of what is kept.
    kept = [np.asarray(part, dtype=np.float16).astype(np.float64) for part in (mean, axes)]
    slim = np.maximum(np.asarray(rest, dtype=np.float32).astype(np.float64), 1e-12)
    return Signature(name, dimension, kept[0], kept[1], slim, seen.mean(axis=0), deviation, nowhere, (nowhere,))


def _strangers(signature: Signature, rows: FloatArray) -> tuple[Level, ...]:
    """Scores of encoders of no relation: columns in another order, space turned, no structure, cones."""
    rng = generator(0, "fingerprint", "strangers", signature.dimension)
    columns = rows.shape[1]
    chosen = rows[rng.permutation(len(rows))[:200]]
    mixed, turned, blank, cones = [], [], [], []
    for _ in range(STRANGERS):
        mixed.append(chosen[:, rng.permutation(columns)])
        turned.append(chosen @ np.linalg.qr(rng.standard_normal((columns, columns)))[0])
        noise = rng.standard_normal((100, columns))
        blank.append(noise)
        middle = rng.standard_t(3, size=columns)
        cones.append(noise + middle * (rng.uniform(0.5, 2) * np.sqrt(columns) / np.linalg.norm(middle)))
    return tuple(
        _level([signature.score_directions(directions(vectors)) for vectors in kind])
        for kind in (mixed, turned, blank, cones)
    )


def _level(sets: Sequence[FloatArray]) -> Level:
    """Mean of all, deviation within a set, deviation of the sets' means."""
    means = np.array([s.mean() for s in sets])
    within = float(np.sqrt(np.mean([s.var() for s in sets])))
    return Level(float(means.mean()), within, float(means.std(ddof=1)) if len(means) > 1 else 0.0)
