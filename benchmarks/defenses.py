"""Defenses beside what limits each: a copy of the same bytes, matrix products, or drawing as many random numbers.

A format of numbers and rounding must read every number and write one: their limit is a copy into fresh memory. A
rotation and principal components are one matrix product, a projection two narrow ones, a mapping those of its network,
and product quantization is one with all codebooks, part by part. Noise of each record's own can't be faster than
drawing as many numbers at once and adding them; a Laplace number takes two exponential ones. ``pii-removal`` is not
here: it changes texts and leaves vectors as they are.

float16 and int8 stay below half of their limit: numpy makes a pass over the cache for each of their five operations.
Product quantization does too: the choice of the best among 256 scores takes as long as the products that make them,
because numpy's ends in branches that no processor foresees.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import Case, Maker, Yardstick
from numpy.typing import NDArray
from stored_vectors import DIMENSION, drawn

from unembed.defenses import DEFENSES
from unembed.defenses.base import Owned
from unembed.defenses.chain import Chain

ROWS = 40_000
#: Bytes of the codes in product quantization, one for eight numbers.
BYTES = DIMENSION // 8
#: Words of the texts, for defenses that hide words.
WORDS = tuple(f"word{letter}" for letter in "abcdefghij")
#: Vectors that a network is fitted on: what it learns costs nothing to apply.
FITTED_ON = 2_000

#: Each defense as it is measured, and what limits it.
MEASURED: dict[str, tuple[dict[str, Any], str]] = {
    "float16": ({}, "a copy"),
    "int8": ({}, "a copy"),
    "binary": ({}, "a copy"),
    "rounding": ({}, "a copy"),
    "product-quantization": ({"bytes": BYTES}, "its matrix products"),
    "truncation": ({"components": DIMENSION // 2, "kind": "principal"}, "its matrix product"),
    "rotation": ({}, "its matrix product"),
    "subspace": ({"keywords": WORDS}, "its matrix products"),
    "ppm": ({"keywords": WORDS, "steps": 1}, "its matrix products"),
    "neighbours": ({"steps": 1}, "its matrix products"),
    "gaussian": ({}, "as many normal numbers at once"),
    "laplace": ({"sensitivity": 1.0}, "as many exponential numbers at once"),
    "metric-dp": ({}, "as many normal numbers at once"),
}


def limit_of(name: str) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
    """The work that no defense of this kind can do without, on whatever vectors it is given."""
    rng = np.random.default_rng(1)
    square = rng.standard_normal((DIMENSION, DIMENSION), dtype=np.float32)
    half = np.ascontiguousarray(square[:, : DIMENSION // 2])
    books = rng.standard_normal((BYTES, DIMENSION // BYTES, 256), dtype=np.float32)
    part, scores = books[0].T.copy(), np.empty((256, 256), dtype=np.float32)

    def codes(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        for _ in range(0, len(vectors), 256):
            for book in books:
                np.matmul(part, book, out=scores)
        return vectors

    def noise(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        made = np.random.Generator(np.random.Philox(0)).standard_normal(vectors.shape, dtype=np.float32)
        return np.add(made, vectors, out=made)

    def differences(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        source = np.random.Generator(np.random.Philox(0))
        made = source.standard_exponential(vectors.shape, dtype=np.float32)
        made -= source.standard_exponential(vectors.shape, dtype=np.float32)
        return np.add(made, vectors, out=made)

    def through(inner: int, outer: int) -> Callable[[NDArray[np.float32]], NDArray[np.float32]]:
        """Two products, 256 rows at a time, so that what lies between them stays in the cache."""
        into = rng.standard_normal((DIMENSION, inner), dtype=np.float32)
        out_of = rng.standard_normal((inner, outer), dtype=np.float32)

        def products(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
            made = np.empty((len(vectors), outer), dtype=np.float32)
            for start in range(0, len(vectors), 256):
                np.matmul(vectors[start : start + 256] @ into, out_of, out=made[start : start + 256])
            return made

        return products

    kinds = {
        "product-quantization": codes,
        "truncation": lambda vectors: vectors @ half,
        "rotation": lambda vectors: vectors @ square,
        "subspace": through(round(0.05 * DIMENSION), DIMENSION),
        "ppm": through(200, DIMENSION),
        # The straight part of the map, as wide as what comes out, is left away: 4 % of the work.
        "neighbours": through(1024, DIMENSION // 8),
        "gaussian": noise,
        "laplace": differences,
        "metric-dp": noise,
    }
    return kinds.get(name, np.copy)


def fitted(name: str, vectors: NDArray[np.float32]) -> Chain:
    """The defense as it is measured, fitted on vectors of texts that each hold one of the words."""
    if name in ("subspace", "ppm", "neighbours"):
        vectors = vectors[:FITTED_ON]
    texts = [WORDS[row % len(WORDS)] for row in range(len(vectors))]
    return Chain([DEFENSES.get(name)(**MEASURED[name][0])]).fit(vectors, 1, Owned(texts))


def faiss_codes(vectors: NDArray[np.float32]) -> Yardstick:
    """The same codes by the library that most stores use, there and back."""
    import faiss

    faiss.omp_set_num_threads(1)
    theirs = faiss.ProductQuantizer(DIMENSION, BYTES, 8)
    theirs.cp.niter = 2
    theirs.train(vectors[:10_000])
    return Yardstick("faiss", "reference", lambda: theirs.decode(theirs.compute_codes(vectors)))


def case(name: str) -> Maker:
    """One defense behind vectors in memory."""

    def make(folder: Path) -> Case:
        limit = MEASURED[name][1]
        vectors = drawn(ROWS)
        chain = fitted(name, vectors)
        ids = [str(row) for row in range(ROWS)]
        least = limit_of(name)
        beside = [Yardstick(limit, "bytes" if least is np.copy else "FLOPs", lambda: least(vectors))]
        if name == "product-quantization":
            beside.append(faiss_codes(vectors))
        return Case("vectors/s", ROWS, lambda: chain.transform(vectors, ids), tuple(beside))

    return make


CASES = {f"defend, {name}": case(name) for name in MEASURED}
