"""Each text is encoded once: vectors on disk, found by what the encoder is and what the text is.

The folder is append-only and needs no lock: a block appears complete or not at all, so several processes may
share it and may be killed at any moment. Missing texts are taken in a fixed order in blocks of fixed size,
each kept before the next begins; after a kill the rest falls into the same blocks, so the vectors are the
same to the last bit as those of an undisturbed run.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from unembed.encoders.base import DenseVectors, Encoder, EncoderCard, Vectors
from unembed.encoders.blocks import (
    ENDING,
    DamagedBlockError,
    read_hashes,
    read_rows,
    text_hash,
    write_block,
)
from unembed.errors import DataError, UnembedError, UnembedWarning
from unembed.registry import source_digest
from unembed.writing import ABANDONED_SECONDS, remove_abandoned, write_atomically

BLOCK_TEXTS = 512
_NOTE = "card.json"

Progress = Callable[[int, int], None]
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache folder holds."""

    encoders: int
    blocks: int
    bytes: int


def default_cache_folder() -> Path:
    """``UNEMBED_CACHE``, else ``unembed`` in the user's cache folder."""
    given = os.environ.get("UNEMBED_CACHE")
    if given:
        return Path(given).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "unembed"


class EmbeddingCache:
    """A folder of vectors, one sub-folder for each encoder setting and role."""

    def __init__(self, folder: str | Path | None = None) -> None:
        self.folder = Path(folder) if folder is not None else default_cache_folder()

    def shelf(self, key: str) -> Shelf:
        """The vectors kept under a key."""
        return Shelf(self.folder / "vectors" / key)

    def stats(self) -> CacheStats:
        """Number of encoder settings and blocks, and their size."""
        sizes = [_size(path) for path in self._blocks()]
        shelves = {path.parent for path in self._blocks()}
        return CacheStats(encoders=len(shelves), blocks=len(sizes), bytes=sum(sizes))

    def clear(self, older_than: float | None = None) -> CacheStats:
        """Remove vectors (those not written in the last ``older_than`` seconds); says what was removed."""
        now = time.time()
        removed: list[tuple[Path, int]] = []
        for path in list(self._blocks()):
            if older_than is None or now - _written(path) > older_than:
                removed.append((path.parent, _size(path)))
                self._remove(path)
        for shelf in self.folder.glob("vectors/*"):
            remove_abandoned(shelf, older_than=ABANDONED_SECONDS)
            if {path.name for path in shelf.iterdir()} <= {_NOTE}:
                shutil.rmtree(shelf, ignore_errors=True)
        return CacheStats(len({s for s, _ in removed}), len(removed), sum(size for _, size in removed))

    def _blocks(self) -> Iterator[Path]:
        return self.folder.glob(f"vectors/*/*{ENDING}")

    @staticmethod
    def _remove(path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise UnembedError(f"{path} can't be removed from the cache: {error.strerror}") from error


class Shelf:
    """The vectors of one encoder setting and role; new blocks of other processes are seen on ``refresh``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._place: dict[bytes, tuple[Path, int]] = {}
        self._blocks: dict[Path, tuple[int, int]] = {}

    def refresh(self) -> None:
        """Index blocks not seen yet; a damaged one is removed with a warning."""
        remove_abandoned(self.folder, older_than=ABANDONED_SECONDS)
        for path in sorted(self.folder.glob(f"*{ENDING}")):
            if path not in self._blocks:
                self._index(path)

    def __contains__(self, key: bytes) -> bool:
        return key in self._place

    def add(self, hashes: list[bytes], vectors: DenseVectors) -> None:
        """Keep one block; it is on the disk when this returns."""
        self._take(write_block(self.folder, hashes, vectors), hashes, vectors.shape[1])

    def describe(self, card: EncoderCard, role: str) -> None:
        """Leave a note for people who look into the folder; the cache itself never reads it."""
        note = self.folder / _NOTE
        if not note.exists():
            write_atomically(note, json.dumps({"role": role, **card.as_dict()}, indent=1))

    def read_into(self, out: DenseVectors, wanted: dict[bytes, list[int]]) -> list[bytes]:
        """Fill the rows wanted of each text; returns the texts whose block vanished meanwhile."""
        by_block: dict[Path, list[bytes]] = {}
        for key in wanted:
            by_block.setdefault(self._place[key][0], []).append(key)
        lost: list[bytes] = []
        for path, keys in by_block.items():
            count, dimension = self._blocks[path]
            if dimension != out.shape[1]:
                raise DataError(f"cached vectors have {dimension} dimensions where {out.shape[1]} are expected")
            try:
                found = read_rows(path, count, dimension, np.array([self._place[k][1] for k in keys]))
            except DamagedBlockError:
                lost += keys
                self._forget(path)
                continue
            for key, vector in zip(keys, found, strict=True):
                out[wanted[key]] = vector
        return lost

    def _index(self, path: Path) -> None:
        try:
            hashes, dimension = read_hashes(path)
        except DamagedBlockError as error:
            warnings.warn(
                f"cached vectors are damaged and will be computed again: {error}",
                UnembedWarning,
                stacklevel=4,
            )
            path.unlink(missing_ok=True)
            return
        self._take(path, hashes, dimension)

    def _take(self, path: Path, hashes: list[bytes], dimension: int) -> None:
        self._blocks[path] = (len(hashes), dimension)
        for row, key in enumerate(hashes):
            self._place.setdefault(key, (path, row))

    def _forget(self, path: Path) -> None:
        del self._blocks[path]
        self._place = {k: place for k, place in self._place.items() if place[0] != path}


class CachedEncoder:
    """An encoder that asks the cache first; itself an encoder, with all else the one inside can do.

    Not cached, because it would be wrong or of no use: encoders that can't be identified (no digest; said
    once), sparse ones, and stored vectors.
    """

    def __init__(
        self, encoder: Encoder, cache: EmbeddingCache | None = None, *, progress: Progress | None = None
    ) -> None:
        self.encoder = encoder
        self.cache = cache if cache is not None else EmbeddingCache()
        self.progress = progress
        self._shelves: dict[str, Shelf] = {}
        self._told = False

    @property
    def card(self) -> EncoderCard:
        """The card of the encoder inside."""
        return full_card(self.encoder)

    def __getattr__(self, name: str) -> object:
        if name.startswith("_") or name == "encoder":
            raise AttributeError(name)
        return getattr(self.encoder, name)

    def encode(self, texts: Sequence[str], *, role: str = "document") -> Vectors:
        """The vectors of texts, from the cache where it has them."""
        card = self.card
        shelf = self._shelf(role)
        if shelf is None:
            return self.encoder.encode(texts, role=role)
        rows: dict[bytes, list[int]] = {}
        for row, text in enumerate(texts):
            rows.setdefault(text_hash(text), []).append(row)
        out = np.empty((len(texts), card.dimension), dtype=np.float32)
        left = rows
        while left:
            self._complete(shelf, texts, left, role, total=len(rows))
            left = {k: rows[k] for k in shelf.read_into(out, left)}
        return out

    def missing(self, texts: Sequence[str], *, role: str = "document") -> list[str]:
        """The texts that the encoder inside will be asked: those not kept, each once, or all where none are kept."""
        shelf = self._shelf(role)
        if shelf is None:
            return list(texts)
        return list({key: text for text in texts if (key := text_hash(text)) not in shelf}.values())

    def _shelf(self, role: str) -> Shelf | None:
        """Where the vectors are kept; None where they are not."""
        card = self.card
        key = card.cache_key(role)
        if key is None and not self._told:
            self._told = True
            _log.warning("the vectors of '%s' are not cached: it can't be identified", card.name)
        if key is None or card.sparse or card.family == "vectors":
            return None
        shelf = self._shelves.setdefault(key, self.cache.shelf(key))
        shelf.refresh()
        return shelf

    def _complete(
        self, shelf: Shelf, texts: Sequence[str], rows: dict[bytes, list[int]], role: str, *, total: int
    ) -> None:
        """Encode what the shelf lacks, block by block."""
        missing = {key: texts[where[0]] for key, where in rows.items() if key not in shelf}
        done = total - len(missing)
        if self.progress:
            self.progress(done, total)
        for block in blocks(missing):
            vectors = self.encoder.encode(list(block.values()), role=role)
            if not isinstance(vectors, np.ndarray) or vectors.shape != (len(block), self.card.dimension):
                raise DataError(f"encoder '{self.card.name}' returned vectors of another shape than its card says")
            shelf.add(list(block), vectors)
            shelf.describe(self.card, role)
            done += len(block)
            if self.progress:
                self.progress(done, total)


def blocks(texts: Mapping[bytes, str]) -> Iterator[dict[bytes, str]]:
    """Texts by their hashes as they are encoded and kept together, in an order that only the texts decide."""
    order = sorted(texts, key=lambda key: (len(texts[key]), key))
    for start in range(0, len(order), BLOCK_TEXTS):
        yield {key: texts[key] for key in order[start : start + BLOCK_TEXTS]}


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def full_card(encoder: Encoder) -> EncoderCard:
    """The card; that of a plug-in with a digest of its source, because an edited file makes other vectors."""
    card = encoder.card
    source = None if isinstance(encoder, CachedEncoder) else source_digest(type(encoder))
    return card if source is None else replace(card, options=(*card.options, ("source", source)))


def inside(encoder: Encoder) -> Encoder:
    """The encoder behind a cache, or the encoder itself."""
    return encoder.encoder if isinstance(encoder, CachedEncoder) else encoder
