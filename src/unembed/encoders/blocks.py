"""One file of cached vectors: text hashes, vectors, and a checksum that finds every cut or changed byte.

Layout: magic, rows and dimension (two little-endian 32-bit numbers), SHA-256 of all that follows it, the
32-byte hash of each text, then the float32 vectors.
"""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import DenseVectors
from unembed.errors import UnembedError, UsageError
from unembed.writing import written_aside

_MAGIC = b"UNEMBED1"
_HEAD = struct.Struct("<8sII32s")
_HASH = 32
ENDING = ".block"


class DamagedBlockError(UnembedError):
    """A block is cut short or changed; its vectors are computed again."""


def text_hash(text: str) -> bytes:
    """What a text is known by in the cache."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def write_block(folder: Path, hashes: list[bytes], vectors: DenseVectors) -> Path:
    """Write a block, whole or not at all.

    Its name comes from its texts, so two processes that compute the same block leave one file.
    """
    names = b"".join(hashes)
    body = np.ascontiguousarray(vectors, dtype="<f4").tobytes()
    checksum = hashlib.sha256(struct.pack("<II", *vectors.shape) + names)
    checksum.update(body)
    place = folder / (hashlib.sha256(names).hexdigest()[:32] + ENDING)
    try:
        with written_aside(place) as stream:
            stream.write(_HEAD.pack(_MAGIC, *vectors.shape, checksum.digest()) + names)
            stream.write(body)
    except UsageError as error:
        raise UsageError(f"{error}: set UNEMBED_CACHE to a folder that can be written to") from error
    return place


def read_hashes(path: Path) -> tuple[list[bytes], int]:
    """The text hashes and the dimension of a block whose every byte was checked."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD.size)
            if len(head) < _HEAD.size:
                raise DamagedBlockError(f"{path.name} is cut short")
            magic, rows, dimension, checksum = _HEAD.unpack(head)
            size = path.stat().st_size
            if magic != _MAGIC or size != _HEAD.size + rows * (_HASH + 4 * dimension):
                raise DamagedBlockError(f"{path.name} is cut short or not a block")
            found = hashlib.sha256(struct.pack("<II", rows, dimension))
            names = stream.read(rows * _HASH)
            found.update(names)
            while part := stream.read(1 << 20):
                found.update(part)
    except OSError as error:
        raise DamagedBlockError(f"{path.name} can't be read: {error.strerror}") from error
    if found.digest() != checksum:
        raise DamagedBlockError(f"{path.name} has changed since it was written")
    return [names[i : i + _HASH] for i in range(0, len(names), _HASH)], dimension


def read_rows(path: Path, count: int, dimension: int, rows: NDArray[np.intp]) -> DenseVectors:
    """Some vectors of a checked block; only the pages that hold them are read."""
    try:
        mapped = np.memmap(path, "<f4", "r", _HEAD.size + count * _HASH, (count, dimension))
    except (OSError, ValueError) as error:
        raise DamagedBlockError(f"{path.name} was removed or cut while in use") from error
    return np.asarray(mapped[rows], dtype=np.float32)
