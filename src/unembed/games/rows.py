"""Row operations that are the same for dense vectors, sparse ones, and texts in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse, vstack

from unembed.encoders.base import Vectors
from unembed.seeds import generator

V = TypeVar("V", Vectors, NDArray[np.int64])


def text_rows(texts: Sequence[str]) -> Any:
    """Texts as rows that can be chosen like vectors, which they stand for where a yardstick plays."""
    rows = np.empty(len(texts), dtype=object)
    rows[:] = list(texts)
    return rows


def hold_back(n: int, seed: int, most: int = 500) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """A third of the rows, at most ``most``, to be asked about, and the rest to learn from."""
    order = generator(seed, "held back").permutation(n)
    count = min(max(n // 3, 1), most)
    return np.sort(order[:count]), np.sort(order[count:])


def some_rows(rows: V | None, kept: NDArray[np.int64]) -> V | None:
    """Some rows of vectors or numbers, where there are any."""
    return None if rows is None else rows[kept]


def stack_rows(parts: Sequence[Vectors]) -> Vectors:
    """Vectors one below the other."""
    if any(issparse(p) for p in parts):
        return csr_matrix(vstack(parts))
    return np.concatenate([np.asarray(p, dtype=np.float32) for p in parts])


def dense_rows(vectors: Vectors) -> NDArray[np.float32]:
    """Vectors as one array of float32, sparse ones too."""
    dense: Any = vectors.toarray() if issparse(vectors) else vectors  # type: ignore[union-attr]
    return np.asarray(dense, dtype=np.float32)


def random_like(vectors: Vectors, rng: np.random.Generator) -> Vectors:
    """Random vectors that look like the given ones and know nothing: the floor with random vectors.

    Dense: normal, with each column's mean and deviation. Sparse: every row keeps its values but gets the
    columns of randomly drawn entries. Texts: every text keeps its length but gets words drawn from all of them.
    """
    if vectors.dtype == object:
        return _random_texts([str(text) for text in vectors], rng)
    if issparse(vectors):
        sparse: csr_matrix = vectors
        columns = rng.choice(sparse.indices, size=sparse.nnz) if sparse.nnz else sparse.indices
        # copy: summing duplicates works in place, and the caller's vectors must stay as they are
        drawn = csr_matrix((sparse.data, columns, sparse.indptr), shape=sparse.shape, copy=True)
        drawn.sum_duplicates()
        return drawn
    dense = np.asarray(vectors, dtype=np.float32)
    noise = rng.standard_normal(dense.shape, dtype=np.float32)
    return noise * dense.std(axis=0) + dense.mean(axis=0)


def _random_texts(texts: Sequence[str], rng: np.random.Generator) -> Any:
    cut = [text.split() for text in texts]
    pool = [word for words in cut for word in words]
    return text_rows([" ".join(pool[i] for i in rng.integers(0, max(len(pool), 1), size=len(words))) for words in cut])
