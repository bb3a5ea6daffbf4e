"""Vectors without texts: the command says what can't be measured, tells what the vectors show, and ends with 3."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import Result

Run = Callable[..., Result]


@pytest.fixture
def vectors(tmp_path: Path) -> np.ndarray:
    """300 vectors of length two; dimension 5 says nothing, rows 10 and 11 are the same."""
    made = np.random.default_rng(0).standard_normal((300, 64)).astype(np.float32)
    made[:, 5] = 0
    made[11] = made[10]
    made *= 2 / np.linalg.norm(made, axis=1, keepdims=True)
    np.save(tmp_path / "v.npy", made)
    return made


def address(kind: str, folder: Path, vectors: np.ndarray) -> tuple[str, str]:
    if kind == "vectors":
        return "--vectors", str(folder / "v.npy")
    if kind == "npy":
        return "--store", f"npy:{folder / 'v.npy'}"
    with sqlite3.connect(folder / "notes.db") as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, year INTEGER, embedding BLOB)")
        connection.executemany(
            "INSERT INTO notes VALUES (?, 2020, ?)", [(n, v.tobytes()) for n, v in enumerate(vectors)]
        )
    connection.close()
    return "--store", f"sqlite:{folder / 'notes.db'}/notes"


@pytest.mark.parametrize("kind", ["vectors", "npy", "sqlite"])
def test_an_audit_of_vectors_alone_tells_what_they_show(
    run: Run, tmp_path: Path, vectors: np.ndarray, kind: str
) -> None:
    done = run("audit", *address(kind, tmp_path, vectors), "--json", "-d", tmp_path / "run")
    assert done.code == 3
    (said,) = done.errors
    assert "no attack can be judged without texts" in said
    assert "--texts FILE" in said
    told = json.loads(done.out)
    assert told["measured"] is False
    assert (told["count"], told["dimension"], told["dtype"], told["looked_at"]) == (300, 64, "float32", 300)
    assert told["normalised"] is False
    assert told["shortest"] == pytest.approx(2, abs=1e-4) == told["longest"]
    assert told["dead_dimensions"] == [5]
    assert told["near_duplicates"] == {"similarity": 0.98, "groups": 1, "vectors": 2}
    assert told["encoder"] is None
    assert "64 dimensions" in told["encoder_reason"]
    assert any("--encoder NAME" in line for line in told["next"])
    assert not (tmp_path / "run").exists()


def test_people_read_the_same_and_a_gate_does_not_pass(run: Run, tmp_path: Path, vectors: np.ndarray) -> None:
    for more in (["--max-excess", "1"], ["--exit-zero"], ["--dry-run"]):
        done = run("audit", "--vectors", tmp_path / "v.npy", "-d", tmp_path / "run", *more)
        assert done.code == 3
        assert "2 vectors in one group" in done.out
        assert "--texts FILE --encoder NAME" in done.out
    quiet = run("audit", "--vectors", tmp_path / "v.npy", "--quiet")
    assert (quiet.code, quiet.out, len(quiet.errors)) == (3, "", 1)


def test_both_verbs_describe_a_store_alike(run: Run, tmp_path: Path, vectors: np.ndarray) -> None:
    url = address("sqlite", tmp_path, vectors)
    audited, described = (json.loads(run(*verb, "--json").out) for verb in (("audit", *url), ("stores", url[1])))
    assert described == {key: value for key, value in audited.items() if key not in ("measured", "reason", "next")}


def test_numbers_that_are_not_finite_are_refused(run: Run, tmp_path: Path, vectors: np.ndarray) -> None:
    vectors[7, 3] = np.nan
    np.save(tmp_path / "v.npy", vectors)
    done = run("audit", "--vectors", tmp_path / "v.npy")
    assert done.code == 2
    assert "row 7" in done.err
