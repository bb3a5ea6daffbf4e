"""Stored vectors and the encoder that made them: the right one is accepted, everything else is refused by its name."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from unembed.cli import main
from unembed.corpora.generators import GENERATORS
from unembed.encoders import build_encoder
from unembed.errors import CannotMeasureError
from unembed.runner.agreement import Agreement, agreement
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec

COUNT = 160
MODEL = """
import hashlib
import numpy as np

PROMPT = ""

def _word(word):
    seed = int(hashlib.sha256(word.encode()).hexdigest()[:8], 16)
    return np.random.default_rng(seed).normal(size=32).astype(np.float32)

def embed(texts):
    sums = [np.sum([_word(w) for w in (PROMPT + t).lower().split()], axis=0) for t in texts]
    return np.stack([s / np.linalg.norm(s) for s in sums])
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts, a model as a file, and its vectors."""
    folder = tmp_path_factory.mktemp("stored")
    texts = GENERATORS.get("messages")(COUNT, seed=3).texts
    (folder / "texts.txt").write_text("\n".join(" ".join(t.split()) for t in texts), encoding="utf-8")
    (folder / "model.py").write_text(MODEL, encoding="utf-8")
    (folder / "prompted.py").write_text(MODEL.replace('PROMPT = ""', 'PROMPT = "query: find "'), encoding="utf-8")
    (folder / "other.py").write_text(MODEL.replace("word.encode()", "word[::-1].encode()"), encoding="utf-8")
    lines = (folder / "texts.txt").read_text(encoding="utf-8").splitlines()
    np.save(folder / "vectors.npy", build_encoder(f"callable:{folder / 'model.py'}:embed", {}).encode(lines))
    return folder


def play(world: Path, out: Path, vectors: str = "vectors.npy", encoder: str | None = "model.py", **more: object):
    data = {"texts": str(world / "texts.txt"), "vectors": str(world / vectors)}
    named = {"encoder": {"name": f"callable:{world / encoder}:embed"}} if encoder else {}
    small = {"games": ["inversion"], "attacks": ["inversion/mlc"], "curve": [], "repeats": 0, "calibrate": False}
    spec = {"data": data, **named, **small, "references": [], "threads": 1, "run": {"folder": str(out)}, **more}
    return audit(build_spec(spec))[0]


def test_with_the_right_model_the_outsider_plays_on_the_stored_vectors(world: Path, tmp_path: Path) -> None:
    run = play(world, tmp_path / "run")
    assert {f.adversary for f in run.findings} >= {"outsider", "insider"}
    (target,) = [card for card in run.data if card.role == "target"]
    assert target.facts["texts encoded again"] == 20
    assert float(target.facts["median cosine to the stored vectors"]) == pytest.approx(1, abs=1e-3)


def test_the_insider_reads_the_same_with_and_without_the_model(world: Path, tmp_path: Path) -> None:
    only = {"adversaries": ["insider"]}
    alone = play(world, tmp_path / "alone", encoder=None, **only)
    beside = play(world, tmp_path / "beside", **only)
    assert alone.findings[0].cost.pairs == beside.findings[0].cost.pairs
    assert {c.identity.key for c in alone.cells}.isdisjoint(c.identity.key for c in beside.cells)


@pytest.mark.parametrize(("encoder", "said"), [("prompted.py", "prompt"), ("other.py", "another model")])
def test_a_model_that_did_not_make_them_is_refused(world: Path, tmp_path: Path, encoder: str, said: str) -> None:
    with pytest.raises(CannotMeasureError, match=rf"median cosine of 20 texts .* {said}"):
        play(world, tmp_path / "run", encoder=encoder)


def test_rows_in_another_order_are_refused(world: Path, tmp_path: Path) -> None:
    np.save(world / "shuffled.npy", np.roll(np.load(world / "vectors.npy"), 7, axis=0))
    with pytest.raises(CannotMeasureError, match="different orders"):
        play(world, tmp_path / "run", vectors="shuffled.npy")


def test_vectors_of_another_length_or_dimension_are_refused(world: Path, tmp_path: Path) -> None:
    vectors = np.load(world / "vectors.npy")
    np.save(world / "long.npy", vectors * 5)
    np.save(world / "short.npy", vectors[:, :16])
    with pytest.raises(CannotMeasureError, match="5 times as long"):
        play(world, tmp_path / "long", vectors="long.npy")
    with pytest.raises(CannotMeasureError, match=r"16 dimensions, those of .* 32"):
        play(world, tmp_path / "short", vectors="short.npy")


def test_half_precision_is_the_same_model(world: Path, tmp_path: Path) -> None:
    np.save(world / "half.npy", np.load(world / "vectors.npy").astype(np.float16))
    assert play(world, tmp_path / "run", vectors="half.npy").findings


def test_without_a_model_the_outsider_is_left_out_and_the_way_in_is_named(world: Path, tmp_path: Path) -> None:
    run = play(world, tmp_path / "run", encoder=None)
    assert {f.adversary for f in run.findings} == {"insider"}
    (reason,) = [s.reason for s in run.skipped if s.adversary == "outsider" and s.what == "all attacks"]
    assert "--encoder" in reason


@pytest.fixture(scope="module")
def database(world: Path) -> str:
    """The same texts and vectors as a table of SQLite."""
    lines = (world / "texts.txt").read_text(encoding="utf-8").splitlines()
    rows = [
        (n, text, v.tobytes()) for n, (text, v) in enumerate(zip(lines, np.load(world / "vectors.npy"), strict=True))
    ]
    with sqlite3.connect(world / "notes.db") as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT, embedding BLOB)")
        connection.executemany("INSERT INTO notes VALUES (?, ?, ?)", rows)
    connection.close()
    return f"sqlite:{world / 'notes.db'}/notes"


def audited(world: Path, url: str, encoder: str, out: Path) -> int:
    one = ("--game", "inversion", "--attack", "inversion/mlc", "--curve", "none", "--references", "none")
    fast = ("--threads", "1", "--repeats", "0", "--no-calibration", "--quiet", "--exit-zero", "-d", str(out))
    return main(["audit", "--store", url, "--encoder", f"callable:{world / encoder}:embed", *one, *fast])


@pytest.mark.parametrize("kind", ["sqlite", "npy"])
def test_with_the_right_model_the_outsider_plays_on_a_store(
    world: Path, database: str, tmp_path: Path, kind: str
) -> None:
    if kind == "sqlite":
        assert audited(world, database, "model.py", tmp_path / "run") == 0
        run = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
        adversaries, cards = {f["adversary"] for f in run["findings"]}, run["data"]
        facts = next(card["facts"] for card in cards if card["role"] == "target")
    else:
        beside = {"texts": str(world / "texts.txt"), "store": f"npy:{world / 'vectors.npy'}"}
        played = play(world, tmp_path / "run", data=beside)
        adversaries = {f.adversary for f in played.findings}
        facts = next(card.facts for card in played.data if card.role == "target")
    assert adversaries >= {"outsider", "insider"}
    assert float(facts["median cosine to the stored vectors"]) == pytest.approx(1, abs=1e-3)


def test_with_another_model_a_store_is_refused_in_one_line(
    world: Path, database: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert audited(world, database, "other.py", tmp_path / "run") == 3
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error:")]
    assert len(said) == 1
    assert "the median cosine of 20 texts encoded again is" in said[0]
    assert "another model" in said[0]


def test_zero_vectors_agree_with_nothing() -> None:
    made = np.eye(4, dtype=np.float32)
    found = agreement(made, np.zeros((6, 4), dtype=np.float32))
    assert isinstance(found, Agreement)
    assert found.cosine == 0
    assert found.problem
