"""Defenses beside what limits each: a copy of the same bytes, a matrix product, or drawing as many normal numbers.

A format of numbers must read every number and write one: its limit is a copy into fresh memory. A rotation and principal
components are one matrix product, and product quantization is one with all codebooks, part by part. Noise of
each record's own can't be faster than drawing as many numbers at once and adding them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measure import Case, Maker, Yardstick
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


def limits(vectors: Any) -> dict[str, Callable[[], object]]:
    """What no defense of a kind can be faster than, by the name of the defense or of the limit."""
    rng = np.random.default_rng(1)
    square = rng.standard_normal((DIMENSION, DIMENSION), dtype=np.float32)
    half = np.ascontiguousarray(square[:, : DIMENSION // 2])
    books = rng.standard_normal((BYTES, DIMENSION // BYTES, 256), dtype=np.float32)
    part, scores = vectors[:256, : DIMENSION // BYTES].copy(), np.empty((256, 256), dtype=np.float32)

    def codes() -> None:
        for _ in range(0, len(vectors), 256):
            for book in books:
                np.matmul(part, book, out=scores)

    def noise() -> None:
        made = np.random.Generator(np.random.Philox(0)).standard_normal(vectors.shape, dtype=np.float32)
        np.add(made, vectors, out=made)

    return {
        "a copy": vectors.copy,
        "product-quantization": codes,
        "truncation": lambda: vectors @ half,
        "rotation": lambda: vectors @ square,
        "gaussian": noise,
    }


def case(name: str) -> Maker:
    """One defense behind vectors in memory."""

    def make(folder: Path) -> Case:
        params, limit = MEASURED[name]
        vectors = drawn(ROWS)
        fitted = DEFENSES.get(name)(**params).fit(vectors)
        ids = [str(row) for row in range(ROWS)]
        bound = "bytes" if limit == "a copy" else "FLOPs"
        beside = Yardstick(limit, bound, limits(vectors)[limit if limit == "a copy" else name])
        return Case("vectors/s", ROWS, lambda: fitted.transform(vectors, ids), (beside,))

    return make


CASES = {f"defend, {name}": case(name) for name in MEASURED}
