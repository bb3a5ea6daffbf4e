"""Vectors that a caller holds: arrays of any library as one table of numbers, found by the ids of their texts."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import DenseVectors, EncoderCard, first_unusable
from unembed.encoders.vectors import VectorsEncoder
from unembed.errors import DataError, UsageError


def dense(given: Any, what: str = "vectors") -> NDArray[Any]:
    """Vectors as an array of their own precision, one row each; what no attack can measure with is refused."""
    if isinstance(given, str | bytes | Mapping):
        raise UsageError(f"{what}: expected an array with a row per text, not a {type(given).__name__}")
    if hasattr(given, "toarray"):
        raise UsageError(f"{what}: a sparse matrix is given; turn it into an array, or name its encoder")
    if callable(getattr(given, "detach", None)):
        given = given.detach().cpu()
        given = given.float() if "bfloat16" in str(given.dtype) else given
    elif not hasattr(given, "__array__"):
        given = list(given)
    try:
        array = np.asarray(given)
        if array.dtype == object and array.ndim == 1:
            array = np.stack([np.asarray(row) for row in array]) if len(array) else array
    except (ValueError, TypeError):
        raise DataError(f"{what}: the rows have different lengths") from None
    if array.dtype.kind not in "fiu" and array.size:
        raise DataError(f"{what}: expected real numbers, not {array.dtype}")
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(f"{what}: an array of shape {array.shape}; expected (rows, dimension)")
    with np.errstate(over="ignore"):
        bad = first_unusable(array.astype(np.float32))
    if bad is not None:
        raise DataError(f"{what}, row {bad[0]}: {bad[1]}")
    return array


class _Hashing:
    """A file that keeps a digest of what is written to it."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, part: bytes) -> None:
        self.digest.update(part)


def file_digest_of(array: NDArray[Any]) -> str:
    """The digest of the ``.npy`` file that would hold the array: vectors are the same wherever they come from."""
    sink = _Hashing()
    np.lib.format.write_array(sink, array, allow_pickle=False)
    return sink.digest.hexdigest()


@dataclass(frozen=True)
class StoredRows:
    """Vectors by the ids of their texts; ``rows`` says where each lies."""

    holder: VectorsEncoder
    card: EncoderCard
    rows: Mapping[str, int]

    def vectors_for(self, ids: Sequence[str]) -> DenseVectors:
        """The vectors of these texts, in this order."""
        return self.holder.vectors_for_rows([self.rows[i] for i in ids])


def stored_rows(vectors: Any, name: str, rows: Mapping[str, int], count: int) -> StoredRows:
    """The vectors of ``count`` rows, from an array or from a file; ``rows`` by id are those in use."""
    if isinstance(vectors, np.ndarray):
        holder = VectorsEncoder(vectors, name=name)
        card = replace(holder.card, digest=file_digest_of(vectors))
    else:
        holder = VectorsEncoder(vectors)
        card = holder.card
    if len(holder) != count:
        raise DataError(f"there are {len(holder):,} vectors for {count:,} texts: there must be one per text, in order")
    return StoredRows(holder, card, rows)
