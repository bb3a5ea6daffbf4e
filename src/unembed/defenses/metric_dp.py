"""Metric local differential privacy on the vector: noise whose density falls with its length (Corò 2022, 3.5.2).

The mechanism is that of Feyisetan et al. 2020, "Privacy- and Utility-Preserving Textual Analysis via Calibrated
Multivariate Perturbations"; the thesis names such noise on text vectors as a countermeasure and does not measure it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.defenses.base import DefenseFacts, Owned, check_dimension, check_finite, dense, drawn
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.params import Parametrised

_WHAT = "noise on every number"


class MetricDp(Parametrised):
    """Adds noise z with a density proportional to exp(-ε‖z‖): any direction, a length drawn from Gamma(d, 1/ε).

    Two vectors at distance r are ε·r-indistinguishable: nothing that is stored is more than exp(ε·r) times as likely
    for one as for the other. Nearby vectors are hidden among each other and distant ones are not, so ``epsilon`` means
    nothing without the distances of the vectors. The noise has a mean length of d/ε. A record that is released again
    under the same key has the same noise; under k keys the guarantee is k·ε.

    Args:
        epsilon: ε for each unit of Euclidean distance.
        seed: The key.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="metric-dp",
        title="Metric local differential privacy",
        paper="coro2022",
        section="3.5.2",
        departures="the thesis names the countermeasure and gives no parameters; the noise goes onto the vector of a "
        "whole text, and not onto that of each word",
        keyed="noise",
        version=2,
    )

    epsilon: float = 200.0
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Nothing but the dimension: the guarantee may not depend on the vectors."""
        self.check_parameters()
        self.dimension_ = int(dense(vectors, _WHAT).shape[1])
        self.guarantee_ = (
            f"metric local differential privacy: vectors at Euclidean distance r are {self.epsilon:g}·r-"
            "indistinguishable, for one release or any number of them under one key"
        )
        return self

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if not 0 < self.epsilon < math.inf:
            raise UsageError(f"'epsilon' of the defense 'metric-dp' must be above 0, not {self.epsilon}")

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Vectors with their records' noise."""
        check_dimension(self.facts.name, self.dimension_, vectors)
        rows = check_finite(dense(vectors, _WHAT), self.facts.name)

        def draw(source: np.random.Generator, row: NDArray[np.float32]) -> None:
            source.standard_normal(out=row[:-1], dtype=np.float32)
            row[-1] = source.standard_gamma(self.dimension_)

        found = drawn(ids, self.dimension_ + 1, self.seed, draw)
        added, radius = found[:, :-1], found[:, -1] / np.float32(self.epsilon)
        made = added * (radius / np.sqrt(np.einsum("ij,ij->i", added, added)))[:, None]
        made += rows
        return made
