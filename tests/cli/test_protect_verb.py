"""``unembed protect``: stored vectors behind a saved defense."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from unembed.defenses import DEFENSES
from unembed.defenses.chain import Chain
from unembed.defenses.saving import save_chain

VECTORS = np.random.default_rng(6).standard_normal((300, 16)).astype(np.float32)
IDS = [f"note-{row}" for row in range(300)]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", VECTORS)
    Path("ids.csv").write_text("id,other\n" + "".join(f"{one},x\n" for one in IDS))
    chain = Chain([DEFENSES.get("gaussian")(), DEFENSES.get("int8")()]).fit(VECTORS, 3, ids=IDS)
    save_chain(chain, Path("kept"))
    return tmp_path


def wanted(ids: list[str]) -> np.ndarray:
    chain = Chain([DEFENSES.get("gaussian")(), DEFENSES.get("int8")()]).fit(VECTORS, 3, ids=IDS)
    return np.asarray(chain.transform(VECTORS, ids))


def test_a_file_is_protected_by_the_ids_of_its_records(run, here):
    done = run("protect", "--defense", "kept", "--vectors", "in.npy", "--ids", "ids.csv", "--id", "id", "-o", "out.npy")
    assert done.code == 0, done.err
    assert "300 vectors of 16 numbers behind gaussian + int8: out.npy" in done.out
    assert "16 bytes per vector, of 64 before" in done.out
    np.testing.assert_array_equal(np.load("out.npy"), wanted(IDS))
    np.testing.assert_array_equal(np.load("in.npy"), VECTORS)


def test_without_ids_the_rows_are_numbered_and_that_is_said(run, here):
    done = run("protect", "--defense", "kept", "--vectors", "in.npy", "-o", "new/out.npy", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["rows"], told["dimension"], told["ids"], told["stored_bytes"]) == (300, 16, "row numbers", 16)
    assert "follows from row numbers" in done.err
    np.testing.assert_array_equal(np.load("new/out.npy"), wanted([str(row) for row in range(300)]))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--vectors", "in.npy", "-o", "in.npy"), "is there already"),
        (("--vectors", "in.npy", "-o", "out.csv"), "must end in .npy"),
        (("--vectors", "none.npy", "-o", "out.npy"), "none.npy"),
        (("--vectors", "in.npy", "-o", "out.npy", "--ids", "ids.csv"), "go together"),
        (("--vectors", "in.npy", "-o", "out.npy", "--ids", "ids.csv", "--id", "key"), "key"),
        (("--vectors", "in.npy", "-o", "out.npy", "--ids", "ids.csv", "--id", "other"), "same id"),
        (("--vectors", "in.npy", "-o", "out.npy", "--ids", "short.csv", "--id", "id"), "299 ids for 300 vectors"),
        (("--vectors", "in.npy", "-o", "out.npy", "--defense", "in.npy"), "does not hold a saved defense"),
        (("--vectors", "other.npy", "-o", "out.npy"), "fitted on vectors of dimension 16, not 5"),
        (("--vectors", "nan.npy", "-o", "out.npy"), "row 7"),
    ],
)
def test_what_can_not_work_is_one_line_and_leaves_nothing(run, here, options, said):
    Path("short.csv").write_text("id\n" + "".join(f"{one}\n" for one in IDS[:-1]))
    np.save("other.npy", VECTORS[:, :5])
    broken = VECTORS.copy()
    broken[7, 7] = np.nan
    np.save("nan.npy", broken)
    done = run("protect", "--defense", "kept", *options)
    assert done.code in (2, 3)
    assert len(done.errors) == 1
    assert said in done.errors[0]
    assert not Path("out.npy").exists()
    np.testing.assert_array_equal(np.load("in.npy"), VECTORS)


def test_a_folder_without_its_key_is_refused(run, here):
    Path("kept/key.json").unlink()
    done = run("protect", "--defense", "kept", "--vectors", "in.npy", "-o", "out.npy")
    assert done.code == 2
    assert "key of the defense is not there" in done.err
