"""Retrieval kept: are the nearest neighbours of a text still its nearest neighbours?

Recall is that of benchmarks for approximate search: a neighbour counts as found if it is as near, by the plain vectors,
as the k-th nearest. Where the variant has more texts of the same similarity than places left, as vectors of few bits
do, each of them gets its share of the places.

Beside it stand the order of the neighbours, the rank correlation of all similarities, and the same for queries that
were not defended: somebody may search a defended store with a vector as the encoder made it.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Detail, IntArray, Scores
from unembed.metrics.estimate import FloatArray, mean, ratio, undefined
from unembed.params import Parametrised
from unembed.seeds import generator
from unembed.utility.base import TaskFacts, UtilityMaterial

#: Similarities that differ by less are the same, but for rounding.
TIE = 1e-6
#: Similarities held at a time.
AT_ONCE = 2**23
#: Queries whose similarities are ranked whole: sorting takes longer than multiplying.
RANKED = 200

#: Said of queries that have another dimension than what they are looked for among.
NOT_APPLICABLE = "not applicable"

Similarities = NDArray[np.float32]


class Retrieval(Parametrised):
    """Texts of the collection are queries, defended like all others; every other text is a candidate. Exact search.

    For q queries among n texts of d dimensions that takes two products of 2·q·n·d floating-point operations, one for
    the plain vectors and one for the variant, and picking the nearest from 2·q·n similarities. With the defaults,
    10,000 texts and 384 dimensions the products are 15 GFLOP, and the whole takes 1.8 times as long as they do alone,
    in one thread. Sparse vectors multiply only where both have an entry. What stands beside the headline takes a third
    product, for queries that are not defended, and ranks all similarities of 200 queries.
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
        recall, order, near = self._of_queries(plain, variant, variant, asked)
        if (near == n - 1).all():
            raise CannotMeasureError(
                "no text is nearer to another than the rest: plain vectors do not tell texts apart"
            )
        groups = None if material.groups is None else [material.groups[i] for i in asked]

        def work_out() -> Detail:
            beside = {"ndcg_at_k": order, "recall_of_random_neighbours": near / (n - 1)}
            ranked = {"rank_correlation": _rank_correlation(plain, variant, variant, asked[:RANKED])}
            clean = ("recall_of_clean_queries", "ndcg_of_clean_queries", "rank_correlation_of_clean_queries")
            applicable = plain.shape[1] == variant.shape[1]
            if applicable:
                beside[clean[0]], beside[clean[1]], _ = self._of_queries(plain, plain, variant, asked)
                ranked[clean[2]] = _rank_correlation(plain, plain, variant, asked[:RANKED])
            some = None if groups is None else groups[:RANKED]
            found = {name: mean(values, groups=groups) for name, values in beside.items()}
            found |= {name: mean(values, groups=some) for name, values in ranked.items()}
            return Detail(found if applicable else found | {name: undefined(method=NOT_APPLICABLE) for name in clean})

        return Scores(np.column_stack([recall, np.ones(len(recall))]), ratio, groups, work_out)

    def _of_queries(
        self, plain: Vectors, queries: Vectors, variant: Vectors, asked: IntArray
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        """What ``_kept`` says of all queries, some at a time; ``queries`` are looked for among ``variant``."""
        blocks = np.array_split(asked, -(-len(asked) * plain.shape[0] // AT_ONCE))
        found = [self._kept(_similar(plain, plain, rows), _similar(queries, variant, rows)) for rows in blocks]
        recall, order, near = (np.concatenate(part) for part in zip(*found, strict=True))
        return recall, order, near

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


def _similar(queries: Vectors, vectors: Vectors, rows: IntArray) -> Similarities:
    """The cosine of some texts with all, and minus infinity with themselves."""
    product = queries[rows] @ vectors.T
    similar = np.asarray(product if isinstance(product, np.ndarray) else product.toarray(), dtype=np.float32)
    similar[np.arange(len(rows)), rows] = -np.inf
    return similar


def _rank_correlation(plain: Vectors, queries: Vectors, variant: Vectors, asked: IntArray) -> FloatArray:
    """Spearman's, for each query, of its similarities with all other texts among plain and among defended vectors.

    Where the variant finds all texts alike it is 0; where the plain vectors do there is none.
    """
    from scipy.stats import rankdata

    others = np.arange(plain.shape[0]) != asked[:, None]
    ranks = []
    for first, second in ((plain, plain), (queries, variant)):
        similar = _similar(first, second, asked)[others].reshape(len(asked), -1)
        found = rankdata(np.round(similar / TIE), axis=1)
        ranks.append(found - found.mean(axis=1, keepdims=True))
    true, kept = ranks
    lengths = np.linalg.norm(true, axis=1) * np.linalg.norm(kept, axis=1)
    shared = np.divide((true * kept).sum(axis=1), lengths, out=np.zeros(len(asked)), where=lengths > 0)
    return np.asarray(np.where(true.any(axis=1), shared, np.nan))


def _nearest(similar: Similarities, k: int) -> IntArray:
    """The columns of the k largest, the largest first."""
    some = np.argpartition(similar, -k, axis=1)[:, -k:]
    order = np.argsort(-np.take_along_axis(similar, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
