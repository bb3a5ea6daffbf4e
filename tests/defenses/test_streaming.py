"""A defense over vectors of any size: block by block, bit for bit what one call gives."""

import sqlite3

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from unembed.collections.nearest import in_batches
from unembed.collections.stores import open_store
from unembed.collections.stores.collecting import every_vector
from unembed.defenses import DEFENSES, streaming
from unembed.defenses.base import DefenseFacts, Owned
from unembed.defenses.chain import Chain
from unembed.defenses.streaming import block_rows, defend_file, defended
from unembed.encoders.vector_files import open_vectors
from unembed.errors import CannotMeasureError, DataError, UsageError
from unembed.params import Parametrised

VECTORS = np.random.default_rng(4).standard_normal((1201, 12)).astype(np.float32)
IDS = [f"r{row}" for row in range(len(VECTORS))]
OWNED = Owned(["one apple" if row % 3 else "two" for row in range(len(VECTORS))])
PARAMS = {
    "float16": {},
    "int8": {},
    "binary": {},
    "rounding": {},
    "product-quantization": {"bytes": 3, "bits": 6},
    "truncation": {"components": 5, "kind": "principal"},
    "rotation": {},
    "subspace": {"keywords": ["apple"]},
    "ppm": {"keywords": ["apple"], "steps": 2},
    "neighbours": {"components": 4, "steps": 2},
    "gaussian": {},
    "laplace": {"sensitivity": 1.0},
    "metric-dp": {},
}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    monkeypatch.setattr(streaming, "_BLOCK_BYTES", 1)
    assert block_rows(12) == 256


@pytest.fixture(scope="module")
def fitted():
    return {name: Chain([DEFENSES.get(name)(**params)]).fit(VECTORS, 9, OWNED, IDS) for name, params in PARAMS.items()}


@pytest.mark.parametrize("name", PARAMS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(size=st.one_of(st.integers(1, 1300), st.sampled_from([1, 255, 256, 257, 1201])))
def test_a_page_of_any_size_gives_the_same_bits(fitted, name, size):
    parts = list(defended(fitted[name], in_batches(VECTORS, IDS, size)))
    assert [one for ids, _ in parts for one in ids] == IDS
    np.testing.assert_array_equal(np.concatenate([made for _, made in parts]), fitted[name].transform(VECTORS, IDS))


def test_steps_behind_one_another_give_the_same_bits_too():
    steps = [DEFENSES.get(name)(**PARAMS[name]) for name in ("rotation", "gaussian", "truncation", "int8")]
    chain = Chain(steps).fit(VECTORS, 9, ids=IDS)
    whole = chain.transform(VECTORS, IDS)
    parts = [made for _, made in defended(chain, in_batches(VECTORS, IDS, 100))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_a_file_becomes_a_file(fitted, tmp_path):
    np.save(tmp_path / "in.npy", VECTORS)
    seen = []
    told = defend_file(
        fitted["truncation"],
        open_vectors(tmp_path / "in.npy"),
        tmp_path / "new" / "out.npy",
        ids=IDS,
        progress=lambda done, total: seen.append((done, total)),
    )
    assert told == (1201, 5)
    made = np.load(tmp_path / "new" / "out.npy", mmap_mode="r")
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, fitted["truncation"].transform(VECTORS, IDS))
    assert seen == [(256, 1201), (512, 1201), (768, 1201), (1024, 1201), (1201, 1201)]
    assert (tmp_path / "new" / "out.npy").stat().st_mode & 0o077 == 0


def test_pages_of_a_store_go_through(fitted, tmp_path):
    with sqlite3.connect(tmp_path / "notes.db") as connection:
        connection.execute("CREATE TABLE notes (id TEXT PRIMARY KEY, embedding BLOB)")
        rows = [(one, vector.tobytes()) for one, vector in zip(IDS, VECTORS, strict=True)]
        connection.executemany("INSERT INTO notes VALUES (?, ?)", rows)
    connection.close()
    with open_store(f"sqlite:{tmp_path / 'notes.db'}/notes") as store:
        made = {one: vector for ids, some in defended(fitted["gaussian"], every_vector(store)) for one, vector in
                zip(ids, some, strict=True)}  # fmt: skip
    whole = fitted["gaussian"].transform(VECTORS, IDS)
    np.testing.assert_array_equal(np.stack([made[one] for one in IDS]), whole)


class Breaking(Parametrised):
    """Gives what no store can hold."""

    facts = DefenseFacts("breaking", "Breaking")
    seed: int = 0

    def fit(self, vectors, owned=None):
        return self

    def transform(self, vectors, ids):
        made = vectors.copy()
        made[np.array(ids) == "300"] = np.nan
        return made


def test_nothing_is_left_where_it_goes_wrong(tmp_path):
    np.save(tmp_path / "in.npy", VECTORS)
    chain = Chain([Breaking()]).fit(VECTORS, 1)
    with pytest.raises(CannotMeasureError, match="of row 300 can't be stored"):
        defend_file(chain, open_vectors(tmp_path / "in.npy"), tmp_path / "out.npy")
    assert [path.name for path in tmp_path.iterdir()] == ["in.npy"]


def test_the_vectors_themselves_are_never_overwritten(fitted, tmp_path):
    np.save(tmp_path / "in.npy", VECTORS)
    (tmp_path / "link.npy").hardlink_to(tmp_path / "in.npy")
    for out in ("in.npy", "link.npy"):
        with pytest.raises(UsageError, match="the vectors themselves"):
            defend_file(fitted["int8"], open_vectors(tmp_path / "in.npy"), tmp_path / out)
    np.testing.assert_array_equal(np.load(tmp_path / "in.npy"), VECTORS)


def test_ids_and_pages_that_do_not_fit_are_refused(fitted, tmp_path):
    np.save(tmp_path / "in.npy", VECTORS)
    with pytest.raises(UsageError, match="1,200 ids for 1,201 vectors"):
        defend_file(fitted["int8"], open_vectors(tmp_path / "in.npy"), tmp_path / "out.npy", ids=IDS[1:])
    for pages, error, said in [
        ([(IDS[:3], VECTORS[:2])], UsageError, "3 ids for 2 vectors"),
        ([(IDS[:2], VECTORS[:2]), (IDS[2:4], VECTORS[2:4, :7])], DataError, "12 and 7 dimensions"),
        ([(IDS[:2], csr_matrix(VECTORS[:2]))], CannotMeasureError, "sparse"),
        ([(IDS[:2], VECTORS[:2, :7])], CannotMeasureError, "dimension 12, not 7"),
    ]:
        with pytest.raises(error, match=said):
            list(defended(fitted["int8"], pages))
