"""Defenses beside what limits each: a copy of the same bytes, a matrix product, or drawing as many normal numbers.

A format of numbers must read every number and write one: its limit is a copy into fresh memory. A rotation and
principal components are one matrix product, and product quantization is one with all codebooks, part by part. Noise of
each record's own can't be faster than drawing as many numbers at once and adding them.

float16 and int8 stay below half of their limit: numpy makes a pass over the cache for each of their five operations.
Product quantization does too: the choice of the best among 256 scores takes as long as the products that make them.
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

ROWS = 40_000
#: Bytes of the codes in product quantization, one for eight numbers.
BYTES = DIMENSION // 8

#: Each defense as it is measured, and what limits it.
MEASURED: dict[str, tuple[dict[str, Any], str]] = {
    "float16": ({}, "a copy"),
    "int8": ({}, "a copy"),
    "binary": ({}, "a copy"),
    "product-quantization": ({"bytes": BYTES}, "its matrix products"),
    "truncation": ({"components": DIMENSION // 2, "kind": "principal"}, "its matrix product"),
    "rotation": ({}, "its matrix product"),
    "gaussian": ({}, "as many normal numbers at once"),
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

    kinds = {
        "product-quantization": codes,
        "truncation": lambda vectors: vectors @ half,
        "rotation": lambda vectors: vectors @ square,
        "gaussian": noise,
    }
    return kinds.get(name, np.copy)


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
        params, limit = MEASURED[name]
        vectors = drawn(ROWS)
        fitted = DEFENSES.get(name)(**params).fit(vectors)
        ids = [str(row) for row in range(ROWS)]
        least = limit_of(name)
        beside = [Yardstick(limit, "bytes" if least is np.copy else "FLOPs", lambda: least(vectors))]
        if name == "product-quantization":
            beside.append(faiss_codes(vectors))
        return Case("vectors/s", ROWS, lambda: fitted.transform(vectors, ids), tuple(beside))

    return make


CASES = {f"defend, {name}": case(name) for name in MEASURED}
