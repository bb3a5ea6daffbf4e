"""``unembed presence``: texts are looked for among stored vectors."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from unembed.corpora.generators.public_text import generate_public_text
from unembed.encoders import build_encoder

LSA = ("--encoder", "lsa", "--encoder-option", "components=24")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    texts = generate_public_text(500, seed=3).texts
    (tmp_path / "all.txt").write_text("\n".join(texts))
    (tmp_path / "asked.txt").write_text("\n".join([*texts[:2], *texts[200:202]]))
    (tmp_path / "outside.txt").write_text("\n".join(texts[210:]))
    np.save(tmp_path / "stored.npy", build_encoder("lsa", {"components": 24}, fit_texts=texts).encode(texts[:200]))
    return tmp_path


def _asked(store: Path) -> tuple[object, ...]:
    return ("presence", "--vectors", store / "stored.npy", "--fit-on", store / "all.txt", *LSA)


def test_stored_texts_are_found_and_no_text_is_shown(run, store):
    given = ("--texts", store / "asked.txt", "--outsiders", store / "outside.txt")
    done = run(*_asked(store), *given, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [t["answer"] for t in found["texts"][:2]] == ["stored", "stored"]
    assert [t["nearest"] for t in found["texts"][:2]] == ["0", "1"]
    assert found["vectors"] == 200
    assert found["outsiders"] == 290
    assert not found["made_up_outsiders"]
    plain = run(*_asked(store), *given)
    assert "among 200 vectors" in plain.out
    first = (store / "asked.txt").read_text().splitlines()[0]
    assert first not in plain.out + plain.err


def test_a_store_is_looked_through_by_its_own_ids(run, store):
    with sqlite3.connect(store / "notes.db") as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, embedding BLOB)")
        rows = [(1000 + n, v.astype(np.float32).tobytes()) for n, v in enumerate(np.load(store / "stored.npy"))]
        connection.executemany("INSERT INTO notes VALUES (?, ?)", rows)
    connection.close()
    given = ("--fit-on", store / "all.txt", *LSA, "--texts", store / "asked.txt", "--outsiders", store / "outside.txt")
    done = run("presence", "--store", f"sqlite:{store / 'notes.db'}/notes", *given, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [(t["answer"], t["nearest"]) for t in found["texts"][:2]] == [("stored", "1000"), ("stored", "1001")]
    assert found["vectors"] == 200
    from_file = json.loads(run(*_asked(store), *given[6:], "--json").out)
    assert [t["similarity"] for t in found["texts"]] == [t["similarity"] for t in from_file["texts"]]


def test_made_up_outsiders_are_named(run, store):
    text = (store / "asked.txt").read_text().splitlines()[0]
    done = run(*_asked(store), "--text", text)
    assert done.code == 0, done.err
    assert "1 stored" in done.out
    assert "made-up text" in done.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "either --texts FILE or --text TEXT"),
        (("--text", "a", "--column", "b"), "--column goes with --texts"),
        (("--text", "a", "--store", "npy:stored.npy"), "either --vectors FILE or --store URL"),
        (("--text", "a", "--false-alarm", "2"), "between 0 and 1"),
    ],
)
def test_what_is_missing_or_contradicts_is_said(run, store, options, said):
    done = run(*_asked(store), *options)
    assert done.code == 2
    assert said in done.err


def test_too_few_outsiders_for_the_rate(run, store):
    few = store / "few.txt"
    few.write_text("one text\nanother text")
    done = run(*_asked(store), "--text", "a", "--outsiders", few)
    assert done.code == 2
    assert "99 are needed" in done.err
