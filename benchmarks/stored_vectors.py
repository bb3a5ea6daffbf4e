"""Vectors from the disk: cache and memory maps beside copying as many bytes in memory, and beside their checksum."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from measure import Case, Yardstick
from numpy.typing import NDArray

from unembed.encoders.base import EncoderCard
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.encoders.vector_files import open_vectors
from unembed.nn.features import CHUNK, Standardiser

ROWS, DIMENSION = 60_000, 384


class Drawn:
    """An encoder that costs nothing: what remains is the cache."""

    card = EncoderCard("drawn", "drawn", "digest", DIMENSION, False)

    def __init__(self, vectors: NDArray[np.float32]) -> None:
        self.vectors = vectors

    def encode(self, texts: Sequence[str], *, role: str = "document") -> NDArray[np.float32]:
        """The row that a text names."""
        return self.vectors[[int(text) for text in texts]]


def drawn(rows: int) -> NDArray[np.float32]:
    """Normal vectors, always the same ones."""
    return np.random.default_rng(0).standard_normal((rows, DIMENSION), dtype=np.float32)


def copying(vectors: NDArray[np.float32], passes: int = 20) -> Yardstick:
    """Reading all and writing all, often enough to be measured."""
    out = np.zeros_like(vectors)

    def run() -> None:
        for _ in range(passes):
            np.copyto(out, vectors)

    return Yardstick("copying in memory", "bytes", run, passes * vectors.nbytes / 2**20)


def reading_the_cache(folder: Path) -> Case:
    """A second audit of the same texts: every block is checked, every vector found."""
    vectors = drawn(ROWS // 3)
    texts = [str(i) for i in range(len(vectors))]
    CachedEncoder(Drawn(vectors), EmbeddingCache(folder)).encode(texts)
    raw, times = vectors.tobytes(), 5

    def checksums() -> None:
        for _ in range(times):
            hashlib.sha256(raw).digest()

    mib = vectors.nbytes / 2**20
    beside = (
        copying(vectors),
        Yardstick("SHA-256 of the same bytes", "bytes", checksums, times * mib),
    )
    return Case("MiB/s", mib, lambda: CachedEncoder(Drawn(vectors), EmbeddingCache(folder)).encode(texts), beside)


def reading_a_file(folder: Path) -> Case:
    """A pass over a memory-mapped file in chunks, every value checked."""
    vectors = drawn(ROWS)
    np.save(folder / "vectors.npy", vectors)
    stored = open_vectors(folder / "vectors.npy")

    passes = 4

    def run() -> None:
        for start in passes * list(range(0, ROWS, CHUNK)):
            stored[start : start + CHUNK]

    return Case("MiB/s", passes * vectors.nbytes / 2**20, run, (copying(vectors),))


def scaling(folder: Path) -> Case:
    """Standardising stored vectors: a pass for mean and deviation, a pass to apply them."""
    vectors = drawn(ROWS)

    def run() -> None:
        scaler = Standardiser().fit(vectors)
        for start in range(0, ROWS, CHUNK):
            scaler.transform(vectors[start : start + CHUNK])

    return Case("MiB/s", vectors.nbytes / 2**20, run, (copying(vectors),))


CASES = {"read the cache": reading_the_cache, "read a vector file": reading_a_file, "standardise vectors": scaling}
