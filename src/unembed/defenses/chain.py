"""Several transforms, one behind the other: what stands between an encoder and a store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack

from unembed.defenses.base import Defense
from unembed.encoders.base import Vectors
from unembed.seeds import seed_for

#: Vectors and the ids of their records in, as many vectors out.
Transform = Callable[[Vectors, Sequence[str]], Vectors]


class Chain:
    """Each step learns from what the steps before it make of the owner's vectors, and has a key of its own."""

    def __init__(self, steps: Sequence[Defense]) -> None:
        self.steps = steps

    def fit(self, vectors: Vectors, key: int) -> Chain:
        """Learn from all vectors the owner holds."""
        ids = [str(row) for row in range(int(vectors.shape[0]))]
        for place, step in enumerate(self.steps):
            step.seed = seed_for(key, step.facts.name, place)
            step.fit(vectors)
            if place + 1 < len(self.steps):
                vectors = step.transform(vectors, ids)
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """What is stored for these records."""
        for step in self.steps:
            vectors = step.transform(vectors, ids)
        return vectors


def unchanged(vectors: Vectors, ids: Sequence[str]) -> Vectors:
    """No defense."""
    return vectors


def stacked(first: Vectors, second: Vectors) -> Vectors:
    """Two collections of vectors, one below the other."""
    if issparse(first) or issparse(second):
        return csr_matrix(vstack([first, second]))
    return np.concatenate([np.asarray(first), np.asarray(second)])
