"""``unembed fingerprint``: names, lists, learns; a file of the user's stands beside what comes with the package."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    middle = rng.standard_normal(24) * 2
    for kind in ("first", "second", "asked"):
        np.save(tmp_path / f"{kind}.npy", (middle + rng.standard_normal((60, 24))).astype(np.float32))
    return tmp_path


def test_without_vectors_it_lists_what_is_known(run):
    done = run("fingerprint", "--json")
    assert done.code == 0
    known = json.loads(done.out)
    assert {"all-MiniLM-L6-v2", "bert-base-uncased, mean"} <= {k["name"] for k in known}


def test_learnt_from_vectors_and_found_again(run, stored):
    book = stored / "mine.json"
    done = run("fingerprint", stored / "first.npy", stored / "second.npy", "--learn", "ours", "--signatures", book)
    assert done.code == 0, done.err
    assert "Learnt 'ours', 24 dimensions, from 120 vectors" in done.out
    found = json.loads(run("fingerprint", stored / "asked.npy", "--signatures", book, "--json").out)
    assert found["name"] == "ours"
    assert found["candidates"][0]["fits"] is True
    assert found["vectors"] == 60
    plain = run("fingerprint", stored / "asked.npy", "--signatures", book)
    assert "So few vectors" not in plain.out
    assert "ours: 60 vector(s) fit ours best of 1 known encoders of 24 dimensions" in plain.out


def test_learnt_from_an_encoder_with_made_up_text(run, tmp_path, messages):
    book = tmp_path / "mine.json"
    options = ("--encoder", "lsa", "--encoder-option", "components=16", "--fit-on", messages)
    assert run("fingerprint", "--learn", "our lsa", "--signatures", book, *options).code == 0
    assert {s["name"] for s in json.loads(book.read_text())["signatures"]} == {"our lsa"}


def test_nobody_known_of_this_dimension(run, stored):
    done = run("fingerprint", stored / "asked.npy")
    assert done.code == 0
    assert "None of those known: no known encoder makes 24 dimensions" in done.out


def test_one_kind_of_text_is_said_to_be_little(run, stored):
    done = run("fingerprint", stored / "first.npy", "--learn", "ours", "--signatures", stored / "mine.json")
    assert "One kind of text only" in done.out


def test_what_contradicts_itself_is_refused(run, stored):
    book, file = stored / "mine.json", stored / "first.npy"
    wrong = [
        (("--learn", "x", file), "--signatures FILE"),
        (("--learn", "x", "--signatures", book), "either files of vectors or --encoder"),
        (("--learn", "x", file, "--encoder", "hashing", "--signatures", book), "either files of vectors or --encoder"),
        ((file, "--encoder", "hashing"), "go with --learn"),
        ((file, file), "one file of vectors"),
        ((file, "--signatures", stored / "none.json"), "no file of signatures"),
        ((file, "--false-alarm", "2"), "false-alarm"),
        ((stored / "absent.npy",), "no file of vectors"),
        (("--learn", "x", "--encoder", "hashing", "--encoder-option", "features", "--signatures", book), "NAME=VALUE"),
    ]
    for arguments, said in wrong:
        done = run("fingerprint", *arguments)
        assert done.code == 2 or done.code == 3, arguments
        assert said in done.err, (arguments, done.err)


def test_a_taken_name_needs_replace(run, stored):
    book = stored / "mine.json"
    for more, code in (((), 0), ((), 2), (("--replace",), 0)):
        done = run("fingerprint", stored / "first.npy", "--learn", "ours", "--signatures", book, *more)
        assert done.code == code, done.err
