"""Normal noise on every number: in units of what the numbers vary by, or as much as a guarantee asks for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np

from unembed.defenses.accounting import gaussian_sigma
from unembed.defenses.base import DefenseFacts, Owned, check_dimension, check_finite, dense, noise
from unembed.encoders.base import DenseVectors, Vectors
from unembed.errors import UsageError
from unembed.params import Parametrised

_WHAT = "noise on every number"


class Gaussian(Parametrised):
    """Adds normal noise, drawn once for each record: it follows from the key and the record's id.

    With ``scale`` its deviation is that many times the mean deviation of a dimension over the owner's vectors, and no
    privacy guarantee is claimed. With ``epsilon``, ``delta`` and ``clip`` vectors longer than ``clip`` are shortened to
    it, so that replacing one record moves its vector by at most twice ``clip``, and the deviation is the smallest that
    is (ε, δ)-differentially private for that (Balle and Wang 2018). A record that is released again under the same
    key has the same noise, so releases cost nothing more; what releases under different keys cost is told by
    :func:`unembed.defenses.accounting.gaussian_epsilon`.

    Args:
        scale: Deviation in units of what the numbers vary by; 1 unless ``epsilon`` is given.
        epsilon: ε of the guarantee.
        delta: δ of the guarantee.
        clip: Longest vector that is kept as it is; the guarantee needs it.
        seed: The key.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="gaussian", title="Normal noise on every number", keyed="noise", version=2
    )

    scale: float | None = None
    epsilon: float | None = None
    delta: float = 1e-5
    clip: float | None = None
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn how much the numbers vary, or how much noise the guarantee needs."""
        self.check_parameters()
        rows = check_finite(dense(vectors, _WHAT), self.facts.name)
        self.dimension_ = int(rows.shape[1])
        self.deviation_ = float(rows.std(axis=0, dtype=np.float64).mean())
        if self.epsilon is None or self.clip is None:
            self.sigma_ = self.deviation_ * (1.0 if self.scale is None else self.scale)
            self.guarantee_ = "none: how much noise there is follows from the vectors and not from a guarantee"
            return self
        self.sigma_ = gaussian_sigma(self.epsilon, self.delta, 2 * self.clip)
        self.guarantee_ = (
            f"({self.epsilon:g}, {self.delta:g})-differential privacy of each vector: any other vector of a length of "
            f"at most {self.clip:g} in its place would give nearly the same; for one release, or any number of them "
            "under one key"
        )
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Vectors with their records' noise."""
        check_dimension(self.facts.name, self.dimension_, vectors)
        added = noise(ids, self.dimension_, self.seed)
        added *= np.float32(self.sigma_)
        rows = dense(vectors, _WHAT)
        added += rows if self.clip is None else _shortened(check_finite(rows, self.facts.name), self.clip)
        return added

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if self.scale is not None and not 0 <= self.scale < math.inf:
            raise UsageError(f"'scale' of the defense 'gaussian' must not be negative, not {self.scale}")
        if self.epsilon is None:
            if self.clip is not None:
                raise UsageError("'clip' of the defense 'gaussian' goes with 'epsilon': give both")
            return
        if self.scale is not None:
            raise UsageError("the defense 'gaussian' takes 'scale' or 'epsilon', not both")
        if self.clip is None:
            raise UsageError(
                "'epsilon' of the defense 'gaussian' needs 'clip', the longest vector that is kept as it is"
            )
        if not 0 < self.epsilon < math.inf or not 0 < self.delta < 1 or not 0 < self.clip < math.inf:
            raise UsageError("the defense 'gaussian' needs 'epsilon' and 'clip' above 0 and 'delta' between 0 and 1")


def _shortened(rows: DenseVectors, clip: float) -> DenseVectors:
    """Rows longer than ``clip`` scaled down to it."""
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1)
    factor = np.minimum(1.0, clip / np.maximum(lengths, np.finfo(np.float64).tiny))
    return np.asarray(rows * factor[:, None], dtype=np.float32)
