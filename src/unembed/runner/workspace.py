"""The work folder of a run: both sides' texts and vectors on disk, so that cells can run in any process.

Vectors travel by memory map, never by value. The folder holds the user's texts and is deleted when the
run is complete; until then it lets an interrupted run go on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.corpus import Corpus
from unembed.corpora.training import TrainingSide
from unembed.encoders.base import DenseVectors, Vectors
from unembed.errors import CannotMeasureError
from unembed.writing import write_atomically, written_aside

_TRAINING = "training.json"


def save_corpus(corpus: Corpus, path: Path) -> None:
    """Ids, texts and columns as Parquet; column values as JSON, so that mixed types survive."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"id": pa.array(corpus.ids), "text": pa.array(corpus.texts)}
    for name, values in corpus.columns.items():
        columns[f"column:{name}"] = pa.array([json.dumps(v, default=str) for v in values])
    facts = {"name": corpus.name, "fingerprint": corpus.fingerprint}
    table = pa.table(columns).replace_schema_metadata(facts)
    with written_aside(path) as file:
        pq.write_table(table, file, compression="zstd")


def load_corpus(path: Path, fingerprint: str | None = None) -> Corpus:
    """What ``save_corpus`` wrote; another corpus than the one with this ``fingerprint`` is refused."""
    corpus, found = _load_corpus(path, path.stat().st_mtime_ns)
    if fingerprint not in (None, found):
        raise CannotMeasureError("the work folder holds the texts of another audit: run the same command again")
    return corpus


@lru_cache(maxsize=8)
def _load_corpus(path: Path, stamp: int) -> tuple[Corpus, str]:
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    facts = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    columns = {
        c.removeprefix("column:"): [json.loads(v) for v in table[c].to_pylist()]
        for c in table.column_names
        if c.startswith("column:")
    }
    corpus = Corpus(table["text"].to_pylist(), table["id"].to_pylist(), columns, facts.get("name", "corpus"))
    return corpus, facts.get("fingerprint", "")


def save_vectors(vectors: Vectors, path: Path) -> None:
    """Dense vectors as ``.npy``, sparse ones as ``.npz``."""
    from scipy.sparse import issparse, save_npz

    if issparse(vectors):
        with written_aside(path.with_suffix(".npz")) as file:
            save_npz(file, vectors)
    else:
        with written_aside(path.with_suffix(".npy")) as file:
            np.save(file, np.asarray(vectors, dtype=np.float32))


def save_vectors_in_parts(parts: Iterable[DenseVectors], shape: tuple[int, int], path: Path) -> None:
    """Dense vectors that come a few rows at a time, without holding them all."""
    with written_aside(path.with_suffix(".npy")) as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for part in parts:
            file.write(np.ascontiguousarray(part, dtype="<f4").data)


def load_vectors(path: Path) -> Vectors:
    """A read-only memory map, or the sparse matrix."""
    dense = path.with_suffix(".npy")
    if dense.exists():
        return np.asarray(np.load(dense, mmap_mode="r", allow_pickle=False))
    from scipy.sparse import csr_matrix, load_npz

    return csr_matrix(load_npz(path.with_suffix(".npz")))


def save_seen(seen: NDArray[np.int64] | None, path: Path) -> None:
    """Up to which character each text of a corpus is read; nothing where that is not known or all are read whole."""
    place = path.with_suffix(".seen.npy")
    if seen is None:
        place.unlink(missing_ok=True)
    else:
        with written_aside(place) as file:
            np.save(file, seen)


def load_seen(path: Path) -> NDArray[np.int64] | None:
    """What ``save_seen`` wrote."""
    place = path.with_suffix(".seen.npy")
    return np.load(place, allow_pickle=False).astype(np.int64) if place.exists() else None


def save_training(training: TrainingSide | None, work: Path) -> None:
    """Which texts the encoder learnt from, by digest; nothing where that is not known."""
    if training is not None:
        write_atomically(work / _TRAINING, json.dumps(sorted(training.digests)))


def load_training(work: Path) -> TrainingSide | None:
    """What ``save_training`` wrote."""
    place = work / _TRAINING
    return TrainingSide(frozenset(json.loads(place.read_text(encoding="utf-8")))) if place.exists() else None
