"""The same texts and vectors in every kind of store, audited by one command each: are the findings equal?

Usage: python benchmarks/stores.py TEXTS.parquet FOLDER [--rows 5000] [--only KIND …] [audit options …]

Writes the texts with the default encoder's vectors into each store with the store's own client, runs
``unembed audit --store URL --quick`` on it and compares its findings, bit for bit, with those from the ``.npy`` file.
Prints counts and times only, never a text.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

Table = tuple[list[int], list[str], list[int], Any]
QUICK = ["--quick", "--attribute", "label", "--references", "none", "--curve", "none", "--threads", "1", "--json"]


def read(source: Path, rows: int, folder: Path) -> Table:
    """Ids, texts, labels and the default encoder's vectors, which are kept in the folder."""
    table = pq.read_table(source).slice(0, rows)
    texts = table.column("text").to_pylist()
    labels = pa.compute.dictionary_encode(table.column("category")).combine_chunks().indices.to_pylist()
    made = folder / "vectors.npy"
    if not made.exists():
        from unembed.encoders import build_encoder

        np.save(made, build_encoder("minilm").encode(texts))
    columns = {"id": list(range(len(texts))), "text": texts, "label": pa.array(labels, pa.int64())}
    pq.write_table(pa.table(columns), folder / "texts.parquet")
    return list(range(len(texts))), texts, labels, np.load(made)


def write(kind: str, folder: Path, table: Table) -> str:
    """Fill a store with its own client; returns its address."""
    ids, texts, labels, vectors = table
    width = vectors.shape[1]
    if kind == "chroma":
        import chromadb
        from chromadb.config import Settings

        client = chromadb.PersistentClient(str(folder / kind), Settings(anonymized_telemetry=False))
        made = client.create_collection("notes", embedding_function=None)
        for n in range(0, len(ids), 2000):
            part = slice(n, n + 2000)
            about = [{"label": label} for label in labels[part]]
            made.add([str(i) for i in ids[part]], vectors[part], about, texts[part])
        return f"chroma:{folder}/chroma/notes"
    if kind == "qdrant":
        from qdrant_client import QdrantClient, models

        client = QdrantClient(path=str(folder / kind))
        client.create_collection("notes", models.VectorParams(size=width, distance=models.Distance.DOT))
        payload = [{"text": text, "label": label} for text, label in zip(texts, labels, strict=True)]
        client.upload_collection("notes", vectors, payload, ids)
        client.close()
        return f"qdrant:{folder}/qdrant/notes"
    if kind == "lancedb":
        import lancedb

        rows = pa.table(
            {
                "id": ids,
                "text": texts,
                "label": labels,
                "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), width),
            }
        )
        lancedb.connect(str(folder / kind)).create_table("notes", rows)
        return f"lancedb:{folder}/lancedb/notes"
    if kind == "milvus":
        from pymilvus import MilvusClient

        client = MilvusClient(str(folder / "milvus.db"))
        client.create_collection("notes", dimension=width, metric_type="IP")
        records = [
            {"id": i, "text": text, "label": label, "vector": vector.tolist()}
            for i, text, label, vector in zip(ids, texts, labels, vectors, strict=True)
        ]
        for n in range(0, len(ids), 1000):
            client.insert("notes", records[n : n + 1000])
        client.close()
        return f"milvus:{folder}/milvus.db/notes"
    if kind == "sqlite":
        import sqlite3

        with contextlib.closing(sqlite3.connect(folder / "notes.db")) as connection:
            connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT, label INTEGER, vector BLOB)")
            blobs = [vector.tobytes() for vector in vectors]
            connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", zip(ids, texts, labels, blobs, strict=True))
            connection.commit()
        return f"sqlite:{folder}/notes.db/notes"
    if kind == "duckdb":
        import duckdb

        with duckdb.connect(str(folder / "notes.duckdb")) as connection:
            rows = pa.table({"id": ids, "text": texts, "label": labels, "vector": list(vectors)})
            connection.register("arriving", rows)
            connection.execute(
                f"CREATE TABLE notes AS SELECT id, text, label, vector::FLOAT[{width}] AS vector FROM arriving"
            )
        return f"duckdb:{folder}/notes.duckdb/notes"
    if kind == "faiss":
        import faiss

        index = faiss.IndexFlatIP(width)
        index.add(vectors)
        faiss.write_index(index, str(folder / "notes.index"))
        return f"faiss:{folder}/notes.index"
    if kind == "parquet":
        pq.write_table(
            pa.table({"id": ids, "text": texts, "label": labels, "vector": list(vectors)}), folder / "n.parquet"
        )
        return f"parquet:{folder}/n.parquet"
    if kind == "datasets":
        import datasets

        made = datasets.Dataset.from_dict({"id": ids, "text": texts, "label": labels, "vector": vectors})
        made.save_to_disk(str(folder / "saved"))
        return f"datasets:{folder}/saved"
    return f"npy:{folder}/vectors.npy"


@contextlib.contextmanager
def pgvector(folder: Path, table: Table) -> Iterator[str]:
    """The address of a table in a server that runs as long as it is used."""
    import pgserver
    import psycopg

    server = pgserver.get_server(str(folder / "pg"), cleanup_mode="stop")
    ids, texts, labels, vectors = table
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        width = vectors.shape[1]
        connection.execute(f"CREATE TABLE notes (id bigint PRIMARY KEY, text text, label int, vector vector({width}))")
        with connection.cursor().copy("COPY notes FROM STDIN") as copy:
            for row in zip(ids, texts, labels, (str(v.tolist()) for v in vectors), strict=True):
                copy.write_row(row)
    yield f"postgresql://postgres@/postgres/notes?host={folder / 'pg'}"
    server.cleanup()


def audit(url: str, folder: Path, kind: str, options: list[str]) -> tuple[Any, float]:
    """The findings without what they cost, and how long the command took."""
    beside = ["--texts", str(folder / "texts.parquet"), "--column", "text", "--id", "id"]
    command = ["audit", "--store", url, *(beside if kind in ("npy", "faiss") else ["--column", "text"])]
    out = folder / "runs" / kind
    if kind == "chroma":
        command[-1] = "document"
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "unembed", *command, *QUICK, "--exit-zero", "-d", str(out), *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{kind}: {done.stderr[-500:]}")
    found = json.loads((out / "run.json").read_text())["findings"]
    for one in found:
        one.pop("cost", None)
        one.pop("encoder", None)  # the name of the place
    return found, time.perf_counter() - started


def filled(kind: str) -> str:
    """The address of a store, filled in a process of its own: some clients hold a store as long as they live."""
    command = [sys.executable, *sys.argv[:3], "--fill", kind]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()[-1]


def main() -> None:
    """Fill, audit, compare."""
    kinds = [
        "npy",
        "chroma",
        "qdrant",
        "lancedb",
        "milvus",
        "sqlite",
        "duckdb",
        "faiss",
        "parquet",
        "datasets",
        "pgvector",
    ]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rows", type=int, default=5000)
    parser.add_argument("--only", nargs="*", default=kinds)
    parser.add_argument("--fill", help="only fill this store, as the benchmark does in a process of its own")
    told, options = parser.parse_known_args()
    told.folder.mkdir(parents=True, exist_ok=True)
    table = read(told.texts, told.rows, told.folder)
    if told.fill:
        print(write(told.fill, told.folder, table))
        return
    expected = None
    for kind in dict.fromkeys(["npy", *told.only]):
        started = time.perf_counter()
        with pgvector(told.folder, table) if kind == "pgvector" else contextlib.nullcontext(filled(kind)) as url:
            written = time.perf_counter() - started
            found, seconds = audit(url, told.folder, kind, options)
        expected = found if expected is None else expected
        same = json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
        print(
            f"{kind:10} {len(found):3} findings, {'equal' if same else 'DIFFERENT'}; {written:5.1f}s {seconds:6.1f}s",
            flush=True,
        )


if __name__ == "__main__":
    main()
