"""One invented world written into every kind of store with the store's own client."""

import ctypes
import importlib.util
import random
import sqlite3
from dataclasses import dataclass, field

import numpy as np
import pytest

ROWS, WIDTH = 120, 16
SUBJECTS = ["the baker", "a sailor", "our neighbour", "the pilot", "an old teacher", "the gardener"]
VERBS = ["repairs", "paints", "forgets", "carries", "describes", "sells"]
THINGS = ["a blue lamp", "three clocks", "the garden gate", "a letter", "fresh bread", "an atlas", "wet boots"]
PLACES = ["near the harbour", "behind the mill", "in the north", "at the station", "under the bridge"]


@dataclass
class World:
    """Records as every store gets them; ids are whole numbers, because not every store takes other ones."""

    ids: list[int]
    texts: list
    topics: list[int]
    vectors: list = field(repr=False)

    def shuffled(self):
        order = list(range(len(self.ids)))
        random.Random(3).shuffle(order)
        return World(*([values[n] for n in order] for values in (self.ids, self.texts, self.topics, self.vectors)))

    def records(self):
        return zip(self.ids, self.texts, self.topics, self.vectors, strict=True)


def make_world(rows=ROWS):
    rng = np.random.default_rng(5)
    texts = [
        f"{SUBJECTS[n % 6]} {VERBS[(n // 6) % 6]} {THINGS[n % 7]} {PLACES[(n // 3) % 5]} on day {n}"
        for n in range(rows)
    ]
    vectors = rng.standard_normal((rows, WIDTH)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return World(list(range(rows)), texts, [n % 3 for n in range(rows)], list(vectors))


def need(*packages):
    for package in packages:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")


def chroma(folder, world):
    need("chromadb")
    import chromadb
    from chromadb.config import Settings

    client = chromadb.PersistentClient(str(folder / "chroma"), Settings(anonymized_telemetry=False))
    made = client.create_collection("notes", embedding_function=None)
    if world.ids:
        made.add(
            ids=[str(i) for i in world.ids],
            embeddings=[v.tolist() for v in world.vectors],
            documents=world.texts,
            metadatas=[{"topic": t} for t in world.topics],
        )
    return f"chroma:{folder}/chroma/notes", made, None


def qdrant(folder, world):
    need("qdrant_client")
    from qdrant_client import QdrantClient, models

    client = QdrantClient(path=str(folder / "qdrant"))
    client.create_collection("notes", models.VectorParams(size=WIDTH, distance=models.Distance.DOT))
    points = [
        models.PointStruct(id=i, vector=v.tolist(), payload={"body": text, "topic": t})
        for i, text, t, v in world.records()
    ]
    if points:
        client.upsert("notes", points)
    client.close()
    return f"qdrant:{folder}/qdrant/notes", lambda: QdrantClient(path=str(folder / "qdrant")), "notes"


def lancedb(folder, world):
    need("lancedb")
    import lancedb
    import pyarrow as pa

    schema = pa.schema(
        [("id", pa.int64()), ("body", pa.string()), ("topic", pa.int64()), ("vector", pa.list_(pa.float32(), WIDTH))]
    )
    rows = [{"id": i, "body": text, "topic": t, "vector": v} for i, text, t, v in world.records()]
    table = lancedb.connect(str(folder / "lance")).create_table("notes", rows or None, schema=schema)
    return f"lancedb:{folder}/lance/notes", table, None


def milvus(folder, world):
    need("pymilvus", "milvus_lite")
    from pymilvus import MilvusClient

    client = MilvusClient(str(folder / "milvus.db"))
    client.create_collection("notes", dimension=WIDTH, metric_type="IP")
    rows = [{"id": i, "body": text, "topic": t, "vector": v.tolist()} for i, text, t, v in world.records()]
    if rows:
        client.insert("notes", rows)
    client.close()
    return f"milvus:{folder}/milvus.db/notes", lambda: MilvusClient(str(folder / "milvus.db")), "notes"


def sqlite_blobs(folder, world):
    connection = sqlite3.connect(folder / "notes.db")
    connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, topic INTEGER, embedding BLOB)")
    rows = [(i, text, t, None if v is None else v.tobytes()) for i, text, t, v in world.records()]
    connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    return f"sqlite:{folder}/notes.db/notes", connection, "notes"


def sqlite_vec(folder, world):
    need("sqlite_vec")
    load_sqlite_vec()
    connection = sqlite3.connect(folder / "vec.db")
    connection.execute(
        f"CREATE VIRTUAL TABLE notes USING vec0(id INTEGER PRIMARY KEY, embedding FLOAT[{WIDTH}] "
        "distance_metric=cosine, topic INTEGER, +body TEXT)"
    )
    rows = [(i, v.tobytes(), t, text) for i, text, t, v in world.records()]
    connection.executemany("INSERT INTO notes (id, embedding, topic, body) VALUES (?, ?, ?, ?)", rows)
    connection.commit()
    return f"sqlite:{folder}/vec.db/notes", connection, "notes"


def load_sqlite_vec():
    """Registers sqlite-vec for all new connections of this process, also where Python can't load extensions."""
    import sqlite_vec

    library, extension = ctypes.util.find_library("sqlite3"), f"{sqlite_vec.loadable_path()}.so"
    if library is None:
        pytest.skip("SQLite is no shared library here, so sqlite-vec can't be registered")
    code = ctypes.CDLL(extension)
    ctypes.CDLL(library).sqlite3_auto_extension(ctypes.cast(code.sqlite3_vec_init, ctypes.c_void_p))
    try:
        sqlite3.connect(":memory:").execute("SELECT vec_version()")
    except sqlite3.OperationalError:
        pytest.skip("Python's SQLite is another one than the shared library")


def duckdb(folder, world):
    need("duckdb")
    import duckdb

    place = str(folder / "notes.duckdb")
    with duckdb.connect(place) as connection:
        connection.execute(f"CREATE TABLE notes (id BIGINT, body VARCHAR, topic INTEGER, embedding FLOAT[{WIDTH}])")
        rows = [(i, text, t, None if v is None else v.tolist()) for i, text, t, v in world.records()]
        if rows:
            connection.executemany("INSERT INTO notes VALUES (?, ?, ?, ?)", rows)
    return f"duckdb:{place}/notes", lambda: duckdb.connect(place, read_only=True), "notes"


def faiss(folder, world):
    need("faiss")
    import faiss

    index = faiss.IndexIDMap2(faiss.IndexFlatIP(WIDTH))
    if world.ids:
        index.add_with_ids(np.array(world.vectors), np.array(world.ids))
    faiss.write_index(index, str(folder / "notes.index"))
    return f"faiss:{folder}/notes.index", index, None


def table_of(world):
    import pyarrow as pa

    vectors = [None if v is None else v.tolist() for v in world.vectors]
    return pa.table(
        {
            "id": pa.array(world.ids, pa.int64()),
            "body": pa.array(world.texts, pa.string()),
            "topic": pa.array(world.topics, pa.int64()),
            "embedding": pa.array(vectors, pa.list_(pa.float32())),
        }
    )


def parquet(folder, world):
    import pyarrow.parquet as pq

    pq.write_table(table_of(world), folder / "notes.parquet", row_group_size=50)
    return f"parquet:{folder}/notes.parquet", None, None


def arrow(folder, world):
    import pyarrow.feather as feather

    feather.write_feather(table_of(world), folder / "notes.arrow", compression="uncompressed")
    return f"{folder}/notes.arrow", None, None


def datasets(folder, world):
    need("datasets")
    import datasets

    columns = {"id": world.ids, "body": world.texts, "topic": world.topics, "embedding": world.vectors}
    made = datasets.Dataset.from_dict(columns)
    made.save_to_disk(str(folder / "saved"))
    return f"datasets:{folder}/saved", made, None


def npy(folder, world):
    np.save(folder / "vectors.npy", np.array(world.vectors))
    return f"npy:{folder}/vectors.npy", np.array(world.vectors), None


def npz(folder, world):
    np.savez(folder / "vectors.npz", vectors=np.array(world.vectors))
    return f"{folder}/vectors.npz", None, None


def safetensors(folder, world):
    need("safetensors")
    from safetensors.numpy import save_file

    save_file({"embeddings": np.array(world.vectors)}, folder / "vectors.safetensors")
    return f"safetensors:{folder}/vectors.safetensors", None, None


def pgvector(database, world, table="notes", column=f"vector({WIDTH})"):
    """``database`` is the fixture of the running server."""
    import psycopg

    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute(f"DROP TABLE IF EXISTS {table} CASCADE")
        connection.execute(f"CREATE TABLE {table} (id bigint PRIMARY KEY, body text, topic int, embedding {column})")
        with connection.cursor() as cursor:
            cursor.executemany(
                f"INSERT INTO {table} VALUES (%s, %s, %s, %s)",
                [(i, text, t, None if v is None else str(v.tolist())) for i, text, t, v in world.records()],
            )
    return database.url(table), lambda: psycopg.connect(database.address), table


MAKERS = {
    made.__name__: made
    for made in (
        *(chroma, qdrant, lancedb, milvus, sqlite_blobs, sqlite_vec, duckdb, faiss, parquet, arrow, datasets),
        *(npy, npz, safetensors, pgvector),
    )
}
#: Stores that hold vectors and ids alone.
WITHOUT_TEXTS = ("faiss", "npy", "npz", "safetensors")
#: Stores whose ids are the numbers of rows, whatever the order of the records.
BY_ROW = ("npy", "npz", "safetensors")
