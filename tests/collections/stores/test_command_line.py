"""Stores on the command line: one command from a store to findings, and what lies there."""

import json
import subprocess
import sys
import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from store_makers import make_world

from unembed import encoder, open_collection
from unembed.cli import main

ONE_ATTACK = [
    *(
        "--game",
        "keyword",
        "--attack",
        "keyword/svm",
        "--set",
        "keyword.samples=20",
        "--threads",
        "1",
        "--curve",
        "none",
    ),
    *("--no-calibration", "--repeats", "0", "--references", "none", "--exit-zero"),
]
SECRET = "correct-horse-battery"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNEMBED_CACHE", str(tmp_path / "cache"))

    def called(*arguments):
        capsys.readouterr()
        code = main([str(one) for one in arguments])
        seen = capsys.readouterr()
        return code, seen.out, seen.err

    return called


def findings(folder):
    """All that was found, but for what it cost and the name of the place the vectors came from."""
    found = json.loads((folder / "run.json").read_text())["findings"]
    return [{key: value for key, value in one.items() if key not in ("cost", "encoder")} for one in found]


def test_the_same_records_give_the_same_findings_in_every_store(run, make, tmp_path):
    world = make_world(200)
    lines = "\n".join(f"{i},{text}" for i, text, _, _ in world.records())
    (tmp_path / "texts.csv").write_text(f"id,body\n{lines}\n")
    npy, _, _ = make("npy", world)
    code, _, err = run(
        *("audit", "--store", npy, "--texts", tmp_path / "texts.csv", "--column", "body", "--id", "id"),
        *(*ONE_ATTACK, "-d", tmp_path / "from-file", "--max-texts", 150),
    )
    assert code == 0, err
    expected = findings(tmp_path / "from-file")
    assert expected
    for kind in ("sqlite_blobs", "parquet", "chroma"):
        url, _, _ = make(kind, world.shuffled())
        code, _, err = run("audit", "--store", url, *ONE_ATTACK, "-d", tmp_path / kind, "--max-texts", 150)
        assert code == 0, err
        assert findings(tmp_path / kind) == expected, kind


def test_columns_of_the_store_are_attributes_and_groups(run, make, world):
    url, _, _ = make("lancedb", world)
    code, out, err = run("audit", "--store", url, "--attribute", "topic", "--game", "attribute", "--dry-run", "--json")
    assert code == 0, err
    assert "topic" in json.dumps(json.loads(out)["cells"])
    code, _, err = run("audit", "--store", url, "--attribute", "topics", "--dry-run")
    assert code == 2
    assert "did you mean 'topic'" in err


def test_a_password_reaches_no_output_and_no_folder(run, tmp_path):
    url = f"postgresql://someone:{SECRET}@localhost/db/notes"
    for command in (["audit", "--store", url], ["stores", url], ["stores", url, "--json"]):
        code, out, err = run(*command)
        assert code == 2
        assert "PGPASSWORD" in err
        assert SECRET not in out + err
    assert not list(tmp_path.rglob("run.json"))


def test_a_key_in_the_environment_reaches_no_output(run, monkeypatch):
    monkeypatch.setenv("QDRANT_API_KEY", SECRET)
    code, out, err = run("stores", "qdrant:http://127.0.0.1:9/notes", "--debug")
    assert code == 2
    assert SECRET not in out + err


def test_an_audit_file_names_a_store_but_gives_no_permission(run, make, world, tmp_path):
    url, _, _ = make("sqlite_blobs", world)
    (tmp_path / "audit.toml").write_text(f'games = ["keyword"]\n[data]\nstore = "{url}"\n')
    assert run("audit", tmp_path / "audit.toml", "--dry-run")[0] == 0
    (tmp_path / "audit.toml").write_text(f'[data]\nstore = "{url}"\nallow_remote = true\n')
    code, _, err = run("audit", tmp_path / "audit.toml", "--dry-run")
    assert code == 2
    assert "--allow-remote" in err
    (tmp_path / "audit.toml").write_text('games = ["keyword"]\n[data]\nstore = "qdrant:http://store.invalid/notes"\n')
    code, _, err = run("audit", tmp_path / "audit.toml", "--dry-run")
    assert "store.invalid: add --allow-remote" in err
    for named in ((), ("--encoder", "hashing"), ("--encoder", "endpoint:https://models.invalid/v1")):
        options = ("--encoder-option", "model=m") if "endpoint" in "".join(named) else ()
        code, _, err = run("audit", tmp_path / "audit.toml", "--dry-run", "--allow-remote", *named, *options)
        assert code == 2
        assert "does not answer" in err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--vectors", "v.npy"], "contradict each other"),
        (["--chunk", "20"], "chunk"),
    ],
)
def test_options_that_contradict_a_store_are_refused(run, make, world, options, said):
    url, _, _ = make("sqlite_blobs", world)
    code, _, err = run("audit", "--store", url, *options)
    assert code == 2
    assert said in err


def test_a_store_is_audited_with_the_model_that_made_its_vectors(run, tmp_path):
    texts = [text for _, text, _, _ in make_world(120).records()]
    vectors = encoder("hashing", features=64).encode(texts).toarray()
    table = pa.table({"id": range(120), "body": texts, "embedding": vectors.tolist()})
    pq.write_table(table, tmp_path / "notes.parquet")
    (tmp_path / "model.py").write_text(
        "import unembed\n\n"
        "def embed(texts):\n    return unembed.encoder('hashing', features=64).encode(texts).toarray()\n\n"
        "def other(texts):\n    return embed(texts)[:, ::-1]\n"
    )
    given = ("--store", tmp_path / "notes.parquet", *ONE_ATTACK, "-d", tmp_path / "run", "--encoder")
    code, out, err = run("audit", *given, "callable:model.py:embed", "--adversary", "outsider")
    assert code == 0, err
    assert "outsider" in out
    code, _, err = run("audit", *given, "callable:model.py:other")
    assert code == 3
    assert "another model made these vectors" in err
    code, _, err = run("audit", *given, "hashing", "--encoder-option", "features=64")
    assert code == 3
    assert "are sparse" in err


def test_a_permission_reaches_the_store_beside_an_encoder_that_asks_nobody(run):
    code, _, err = run("audit", "--store", "qdrant:http://store.invalid/notes", "--encoder", "minilm", "--allow-remote")
    assert code == 2
    assert "does not answer" in err


def test_stores_lists_every_kind_with_an_example(run):
    code, out, _ = run("stores", "--json")
    assert code == 0
    listed = {one["kind"]: one for one in json.loads(out)}
    assert {"chroma", "qdrant", "lancedb", "pgvector", "milvus", "sqlite", "duckdb", "faiss", "parquet"} <= set(listed)
    assert all(one["installed"] or "pip install" in one["install"] for one in listed.values())


def test_stores_says_what_lies_there_and_shows_no_text(run, make, world):
    url, _, _ = make("duckdb", world)
    code, out, err = run("stores", url, "--json")
    assert code == 0, err
    told = json.loads(out)
    assert (told["count"], told["dimension"], told["normalised"], told["text"]) == (120, 16, True, "body")
    assert told["encoder"] is None
    assert not any(text in out + err for text in world.texts)


def test_an_audit_whose_server_dies_is_done_by_the_same_command_afterwards(database, make, tmp_path):
    """The server is ended while a real process reads from it; nothing of the audit is left wrong behind."""
    import psycopg

    world = make_world(200)
    make("pgvector", world, table="kept")
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute("CREATE VIEW slow_read AS SELECT kept.*, pg_sleep(0.02)::text AS pause FROM kept")
    url = database.url("slow_read", id="id", text="body")
    options = [*ONE_ATTACK, "--group", "pause", "-d", str(tmp_path / "run")]
    reading = subprocess.Popen(
        [sys.executable, "-m", "unembed", "audit", "--store", url, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with psycopg.connect(database.address, autocommit=True) as connection:
        busy = "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'FETCH%unembed%'"
        for _ in range(600):
            if reading.poll() is not None or connection.execute(busy).fetchone()[0]:
                break
            time.sleep(0.1)
    database.kill()
    try:
        _, err = reading.communicate(timeout=60)
        assert reading.returncode == 2, err
        assert "run the same command again" in err
        assert len(err.strip().splitlines()) == 1
    finally:
        database.start()
    with psycopg.connect(database.address, autocommit=True) as connection:
        connection.execute("CREATE OR REPLACE VIEW slow_read AS SELECT kept.*, (kept.id % 20)::text AS pause FROM kept")
    again = subprocess.run(
        [sys.executable, "-m", "unembed", "audit", "--store", url, *options],
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert findings(tmp_path / "run")


def test_chunks_in_chroma_are_split_by_the_metadata_called_document(run, tmp_path):
    chromadb = pytest.importorskip("chromadb")
    client = chromadb.PersistentClient(str(tmp_path / "chunks"), chromadb.Settings(anonymized_telemetry=False))
    made, world = client.create_collection("notes", embedding_function=None), make_world(60)
    for number, (identity, text, _, vector) in enumerate(world.records()):
        about = {"document": f"file {number % 7}", "text": "the same for all"}
        made.add(str(identity), documents=text, embeddings=vector, metadatas=about)
    address = f"chroma:{tmp_path}/chunks/notes"
    found = open_collection(address, columns=["document"])
    assert set(found.corpus.columns["document"]) == {f"file {n}" for n in range(7)}
    assert set(found.corpus.texts) == {text for _, text, _, _ in world.records()}
    assert "documents" in run("stores", address)[1]
    code, _, err = run("audit", "--store", address, "--group", "documents", *ONE_ATTACK)
    assert code == 2
    assert "'documents' is the column of the texts" in err
    assert "document, text" in err
