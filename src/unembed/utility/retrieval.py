"""Retrieval kept: are the nearest neighbours of a text still its nearest neighbours?

Recall is that of benchmarks for approximate search: a neighbour counts as found if it is as near, by the plain vectors,
as the k-th nearest. Where the variant has more texts of the same similarity than places left, as vectors of few bits
do, each of them gets its share of the places.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Detail, IntArray, Scores
from unembed.metrics.estimate import FloatArray, mean, ratio
from unembed.params import Parametrised
from unembed.seeds import generator
from unembed.utility.base import TaskFacts, UtilityMaterial

#: Similarities that differ by less are the same, but for rounding.
TIE = 1e-6
#: Similarities held at a time.
AT_ONCE = 2**23

Similarities = NDArray[np.float32]


class Retrieval(Parametrised):
    """Texts of the collection are queries, defended like all others; every other text is a candidate. Exact search.

    For q queries among n texts of d dimensions that takes two products of 2·q·n·d floating-point operations, one for
    the plain vectors and one for the variant, and picking the nearest from 2·q·n similarities. With the defaults,
    10,000 texts and 384 dimensions the products are 15 GFLOP, and the whole takes 1.8 times as long as they do alone,
    in one thread. Sparse vectors multiply only where both have an entry.
    """

    facts: ClassVar[TaskFacts] = TaskFacts(
        name="retrieval",
        title="Nearest neighbours kept",
        metric="recall_at_k",
        metric_meaning="share of the k nearest neighbours of a text (by cosine among the plain vectors) that are still "
        "among its k nearest; plain vectors score 1 by definition",
        requires=frozenset({"plain vectors"}),
        plain_score=1.0,
    )

    k: int = 10
    queries: int = 1000

    def score(self, material: UtilityMaterial) -> Scores:
        """Recall, one row per query; the order of the neighbours and what random ones score beside it."""
        n = len(material.corpus)
        self._check(n)
        asked = np.sort(generator(material.seed, "retrieval").permutation(n)[: self.queries])
        plain, variant = _directions(material.plain), _directions(material.vectors)
        blocks = np.array_split(asked, -(-len(asked) * n // AT_ONCE))
        found = [self._kept(_similar(plain, rows), _similar(variant, rows)) for rows in blocks]
        recall, order, near = (np.concatenate(part) for part in zip(*found, strict=True))
        if (near == n - 1).all():
            raise CannotMeasureError(
                "no text is nearer to another than the rest: plain vectors do not tell texts apart"
            )
        groups = None if material.groups is None else [material.groups[i] for i in asked]

        def work_out() -> Detail:
            return Detail(
                {
                    "ndcg_at_k": mean(order, groups=groups),
                    "recall_of_random_neighbours": mean(near / (n - 1), groups=groups),
                }
            )

        return Scores(np.column_stack([recall, np.ones(len(recall))]), ratio, groups, work_out)

    def _check(self, n: int) -> None:
        for name in ("k", "queries"):
            if getattr(self, name) < 1:
                raise UsageError(
                    f"'{name}' of the utility task 'retrieval' must be at least 1, not {getattr(self, name)}"
                )
        if n < self.k + 2:
            raise CannotMeasureError(f"{n} texts are too few to look for the {self.k} nearest: lower k or add texts")

    def _kept(self, plain: Similarities, variant: Similarities) -> tuple[FloatArray, FloatArray, IntArray]:
        """For each query: recall, nDCG by the plain ranks, and how many texts are as near as the k-th nearest."""
        ranks, found = _nearest(plain, self.k), _nearest(variant, self.k)
        good = plain >= np.take_along_axis(plain, ranks[:, -1:], axis=1) - TIE
        gap = variant - np.take_along_axis(variant, found[:, -1:], axis=1)
        sure, tied = gap > TIE, np.abs(gap) <= TIE
        places = self.k - sure.sum(axis=1)
        hits = (good & sure).sum(axis=1) + (good & tied).sum(axis=1) * places / tied.sum(axis=1)
        gains = np.zeros_like(plain)
        np.put_along_axis(gains, ranks, np.arange(self.k, 0, -1, dtype=np.float32), axis=1)
        discount = 1 / np.log2(np.arange(self.k) + 2)
        ideal = float(np.arange(self.k, 0, -1) @ discount)
        return hits / self.k, np.take_along_axis(gains, found, axis=1) @ discount / ideal, good.sum(axis=1)


def _directions(vectors: Vectors) -> Vectors:
    """Rows of length 1; a row of zeros stays one and is like no other."""
    from sklearn.preprocessing import normalize

    rows: Vectors = normalize(vectors.astype(np.float32))
    return rows


def _similar(vectors: Vectors, rows: IntArray) -> Similarities:
    """The cosine of some texts with all, and minus infinity with themselves."""
    product = vectors[rows] @ vectors.T
    similar = np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float32)
    similar[np.arange(len(rows)), rows] = -np.inf
    return similar


def _nearest(similar: Similarities, k: int) -> IntArray:
    """The columns of the k largest, the largest first."""
    some = np.argpartition(similar, -k, axis=1)[:, -k:]
    order = np.argsort(-np.take_along_axis(similar, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
