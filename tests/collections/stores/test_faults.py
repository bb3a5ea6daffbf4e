"""What can be wrong with a store: one line each, exit 2 or 3, no secret and no text in it."""

import sqlite3
import traceback

import numpy as np
import pytest
from store_makers import WIDTH, World, make_world, need

from unembed.collections import Wanted, from_client, open_collection
from unembed.collections.stores import open_store, store_of
from unembed.errors import CannotMeasureError, DataError, RemoteNotAllowedError, UnembedError, UsageError

SECRET = "correct-horse-battery"


def spoilt(change):
    world = make_world(40)
    change(world)
    return world


def read(url):
    return open_collection(Wanted("", None, store=url))


def one_line(caught, *absent):
    said = str(caught.value)
    assert "\n" not in said
    assert caught.value.exit_code in (2, 3)
    for word in (SECRET, *absent):
        assert word not in said
        assert word not in "".join(traceback.format_exception_only(caught.value))
    return said


@pytest.mark.parametrize(
    "kind", ["chroma", "qdrant", "lancedb", "milvus", "sqlite_blobs", "duckdb", "parquet", "datasets", "pgvector"]
)
def test_an_empty_collection_can_not_be_measured(kind, make):
    url, _, _ = make(kind, World([], [], [], []))
    with pytest.raises(UnembedError) as caught:
        read(url)
    assert caught.value.exit_code in (2, 3)
    one_line(caught)


@pytest.mark.parametrize("kind", ["sqlite_blobs", "duckdb", "parquet", "datasets", "pgvector"])
def test_rows_without_a_vector_are_refused_unless_they_are_skipped(kind, make):
    def change(world):
        world.vectors[7] = world.vectors[21] = None

    url, _, _ = make(kind, spoilt(change))
    with pytest.raises(DataError, match="2 of 40 rows have no vector") as caught:
        read(url)
    one_line(caught)
    found = read(f"{url}{'&' if '?' in url else '?'}missing=skip")
    assert len(found.corpus) == 38
    assert found.facts["rows without a vector skipped"] == 2


@pytest.mark.parametrize(("kind", "more"), [("sqlite_blobs", {}), ("parquet", {}), ("pgvector", {"column": "vector"})])
def test_vectors_of_two_lengths_are_refused(kind, more, make):
    def change(world):
        world.vectors[30] = world.vectors[30][:5]

    url, _, _ = make(kind, spoilt(change), **more)
    with pytest.raises(DataError, match=f"5 and {WIDTH} dimensions") as caught:
        read(url)
    one_line(caught)


@pytest.mark.parametrize("kind", ["sqlite_blobs", "duckdb", "parquet", "faiss"])
def test_nan_is_refused_with_the_row(kind, make, tmp_path):
    def change(world):
        world.vectors[12] = world.vectors[12].copy()
        world.vectors[12][3] = np.nan

    world = spoilt(change)
    url, _, _ = make(kind, world)
    if kind == "faiss":
        (tmp_path / "texts.txt").write_text("\n".join(world.texts))
        wanted = Wanted(str(tmp_path / "texts.txt"), store=url)
    else:
        wanted = Wanted("", None, store=url)
    with pytest.raises(DataError, match="row 12: NaN") as caught:
        open_collection(wanted)
    one_line(caught)


@pytest.mark.parametrize("kind", ["lancedb", "duckdb", "parquet", "datasets"])
@pytest.mark.parametrize("most", [None, 10])
def test_ids_that_repeat_are_refused(kind, most, make):
    def change(world):
        world.ids[9] = 8

    url, _, _ = make(kind, spoilt(change))
    with pytest.raises(DataError, match="same id more than once") as caught:
        open_collection(Wanted("", None, store=url, max_rows=most))
    one_line(caught)


class TestOtherNumbers:
    """Numbers that are not float32 are read as what they are."""

    def test_half_precision_in_arrow(self, tmp_path, world):
        import pyarrow as pa
        import pyarrow.parquet as pq

        halves = [v.astype(np.float16) for v in world.vectors]
        table = pa.table({"text": world.texts, "v": pa.array(halves, pa.list_(pa.float16()))})
        pq.write_table(table, tmp_path / "half.parquet")
        found = read(f"{tmp_path}/half.parquet")
        np.testing.assert_array_equal(found.stored.vectors_for(["5"])[0], halves[5].astype(np.float32))
        assert found.facts["stored as"] == "float16"

    def test_bits_in_postgresql(self, database):
        import psycopg

        with psycopg.connect(database.address, autocommit=True) as connection:
            connection.execute("DROP TABLE IF EXISTS bits")
            connection.execute("CREATE TABLE bits (id text PRIMARY KEY, note text, v bit(12))")
            for n in range(20):
                connection.execute("INSERT INTO bits VALUES (%s, %s, %s)", (f"n{n}", f"note {n}", f"{n:012b}"))
        found = read(database.url("bits", text="note"))
        np.testing.assert_array_equal(found.stored.vectors_for(["n5"])[0], [0] * 9 + [1, 0, 1])

    def test_bits_in_faiss(self):
        need("faiss")
        import faiss

        index = faiss.IndexBinaryFlat(16)
        index.add(np.arange(40, dtype=np.uint8).reshape(20, 2))
        found = from_client(index, texts={str(n): f"note {n}" for n in range(20)})
        assert set(np.unique(found.stored.vectors_for(found.corpus.ids))) == {0.0, 1.0}


class TestSecrets:
    @pytest.mark.parametrize(
        "url",
        [
            f"postgresql://someone:{SECRET}@localhost/db/notes",
            f"qdrant:http://:{SECRET}@localhost:6333/notes",
            f"chroma:http://{SECRET}@localhost:8000/notes",
            f"milvus:http://root:{SECRET}@localhost:19530/notes",
            f"qdrant:http://localhost:6333/notes?api_key={SECRET}",
            f"postgresql://someone@localhost/db/notes?password={SECRET}",
            f"milvus:http://localhost:19530/notes?token={SECRET}",
        ],
    )
    def test_a_password_in_an_address_is_refused_with_the_variable_to_set(self, url):
        with pytest.raises(UsageError, match=r"environment variable [A-Z_]+$") as caught:
            open_store(url)
        one_line(caught)

    def test_a_wrong_password_is_one_line(self, database, monkeypatch):
        import psycopg

        with psycopg.connect(database.address, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS reader")
            connection.execute("CREATE ROLE reader LOGIN PASSWORD 'another'")
        rules = database.folder / "pg_hba.conf"
        before = rules.read_text()
        try:
            rules.write_text(f"local all reader scram-sha-256\n{before}")
            with psycopg.connect(database.address, autocommit=True) as connection:
                connection.execute("SELECT pg_reload_conf()")
            monkeypatch.setenv("PGPASSWORD", SECRET)
            with pytest.raises(DataError, match="PGPASSWORD") as caught:
                open_store(database.url("notes").replace("postgres@", "reader@"))
            one_line(caught)
        finally:
            rules.write_text(before)

    @pytest.mark.parametrize("kind", ["qdrant", "chroma", "milvus"])
    def test_another_machine_needs_permission(self, kind):
        with pytest.raises(RemoteNotAllowedError, match=r"store\.example: add --allow-remote"):
            open_store(f"{kind}:http://store.example:1234/notes")

    def test_another_machine_in_the_environment_needs_it_too(self, monkeypatch):
        monkeypatch.setenv("PGHOST", "store.example")
        with pytest.raises(RemoteNotAllowedError):
            open_store("postgresql:///db/notes")


class TestPostgres:
    def test_it_is_opened_read_only(self, database, world, make):
        import psycopg

        url, _, _ = make("pgvector", world)
        with open_store(url) as store, pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            store._connection.execute("DELETE FROM notes")

    def test_a_database_without_the_extension_says_so(self, database):
        import psycopg

        with psycopg.connect(database.address, autocommit=True) as connection:
            connection.execute("DROP DATABASE IF EXISTS plain")
            connection.execute("CREATE DATABASE plain")
        with psycopg.connect(database.address.replace("/postgres?", "/plain?"), autocommit=True) as connection:
            connection.execute("CREATE TABLE notes (id int PRIMARY KEY, body text)")
        with pytest.raises(DataError, match="no extension pgvector") as caught:
            open_store(database.url("notes").replace("/postgres/", "/plain/"))
        one_line(caught)

    def test_a_table_without_a_key_asks_for_one(self, database):
        import psycopg

        with psycopg.connect(database.address, autocommit=True) as connection:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            connection.execute("DROP TABLE IF EXISTS keyless")
            connection.execute("CREATE TABLE keyless (number int, body text, v vector(2))")
            connection.execute("INSERT INTO keyless VALUES (1, 'first note', '[1,2]'), (2, 'second note', '[3,4]')")
        with pytest.raises(UsageError, match=r"\?id=COLUMN"):
            open_store(database.url("keyless"))
        assert read(database.url("keyless", id="number")).corpus.ids == ["1", "2"]

    def test_a_query_that_takes_too_long_is_given_up(self, database, world, make):
        import psycopg

        make("pgvector", world, table="quick")
        with psycopg.connect(database.address, autocommit=True) as connection:
            connection.execute("CREATE OR REPLACE VIEW slow AS SELECT *, pg_sleep(0.2)::text AS pause FROM quick")
        with pytest.raises(DataError, match=r"\?timeout=SECONDS") as caught:
            read(database.url("slow", timeout=1, id="id", text="pause"))
        one_line(caught)

    def test_a_server_that_dies_in_the_middle_is_one_line_and_read_again_afterwards(self, database, world, make):
        url, _, _ = make("pgvector", world)
        with open_store(url) as store:
            pages = store.scan(["body"], batch=5)
            next(pages)
            database.kill()
            try:
                with pytest.raises(DataError, match="run the same command again") as caught:
                    list(pages)
                one_line(caught, *world.texts)
            finally:
                database.start()
        assert len(read(url).corpus) == len(world.ids)


class TestTexts:
    def test_a_store_without_texts_says_what_can_not_be_measured(self, make, world):
        url, _, _ = make("npy", world)
        with pytest.raises(CannotMeasureError, match="--texts FILE --id COLUMN"):
            read(url)

    def test_rows_and_texts_must_be_as_many(self, make, world, tmp_path):
        url, _, _ = make("npy", world)
        (tmp_path / "texts.txt").write_text("\n".join(world.texts[:-1]))
        with pytest.raises(DataError, match="120 vectors for 119 rows"):
            open_collection(Wanted(str(tmp_path / "texts.txt"), store=url))

    def test_ids_that_never_meet_are_an_error(self, make, world, tmp_path):
        url, _, _ = make("chroma", world)
        (tmp_path / "texts.csv").write_text("key,text\nn1,one note\nn2,another note\n")
        with pytest.raises(DataError, match="none of its ids"):
            open_collection(Wanted(str(tmp_path / "texts.csv"), "text", id="key", store=url))

    def test_empty_texts_are_made_up_for_by_further_rows(self, make):
        world = make_world(100)
        for n in range(0, 100, 2):
            world.texts[n] = " "
        url, _, _ = make("sqlite_blobs", world)
        found = open_collection(Wanted("", None, store=url, max_rows=40))
        assert len(found.corpus) == 40
        assert all(int(one) % 2 for one in found.corpus.ids)


HOLDERS = {
    "qdrant": "from qdrant_client import QdrantClient; held = QdrantClient(path=sys.argv[1])",
    "milvus": "from pymilvus import MilvusClient; held = MilvusClient(sys.argv[1])",
    "duckdb": "import duckdb; held = duckdb.connect(sys.argv[1])",
}


class TestHeld:
    """A store that another process holds is one line, whatever its client prints about it."""

    @pytest.mark.parametrize("kind", sorted(HOLDERS))
    def test_it_says_so(self, kind, make, world, capfd):
        import subprocess
        import sys

        # Milvus Lite keeps a file open in the process that made it, so that process is another one.
        maker = f"import sys; {HOLDERS[kind]}; print('held', flush=True); sys.stdin.read()"
        url, _, _ = make(kind, world) if kind != "milvus" else (f"milvus:{make.folder}/held.db/notes", None, None)
        place = url.partition(":")[2].rpartition("/")[0]
        command = [sys.executable, "-c", maker, place]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            try:
                assert other.stdout.readline().strip() == "held"
                capfd.readouterr()
                with pytest.raises(DataError, match="another process") as caught:
                    open_store(url)
                one_line(caught)
                assert capfd.readouterr() == ("", "")
            finally:
                other.stdin.close()


class TestSqlite:
    def test_it_is_opened_read_only(self, make, world):
        url, _, _ = make("sqlite_blobs", world)
        with open_store(url) as store, pytest.raises(sqlite3.OperationalError, match="readonly"):
            store._connection.execute("DELETE FROM notes")

    def test_a_file_of_another_kind_is_one_line(self, tmp_path):
        (tmp_path / "notes.db").write_text("not a database")
        with pytest.raises(DataError, match="not an SQLite file"):
            open_store(f"sqlite:{tmp_path}/notes.db/notes")

    def test_a_condition_can_not_carry_sql(self, make, world):
        url, _, _ = make("sqlite_blobs", world)
        found = open_store(f"{url}?where=body=x' OR '1'='1")
        assert found.describe().count == 0


def test_an_object_of_no_store_is_refused():
    with pytest.raises(UsageError, match="belongs to no known store"):
        store_of(object())


@pytest.mark.parametrize("url", ["", "notes", "elsewhere:notes", "npy:", "parquet:x?nonsense=1", "npy:x?timeout=soon"])
def test_an_address_that_says_nothing_is_one_line(url):
    with pytest.raises(UnembedError) as caught:
        open_store(url)
    one_line(caught)
