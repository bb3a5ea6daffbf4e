"""Collections from files, generators and lists: what is under audit, read alike wherever it lies."""

import numpy as np
import pytest

from unembed.collections import COLLECTIONS, Collection, Wanted, collection_of, open_collection
from unembed.encoders.vectors import VectorsEncoder
from unembed.errors import DataError, UnknownNameError, UsageError
from unembed.testing import check_collection

ROWS = 30


@pytest.fixture
def place(tmp_path):
    texts = "\n".join(f"text number {i},{i % 3}" for i in range(ROWS))
    (tmp_path / "texts.csv").write_text(f"text,topic\n{texts}\n")
    np.save(tmp_path / "vectors.npy", np.random.default_rng(0).standard_normal((ROWS, 5)).astype(np.float32))
    return tmp_path


def test_all_kinds_conform(place):
    files = Wanted(str(place / "texts.csv"), "text", ("topic",))
    stored = Wanted(str(place / "texts.csv"), "text", vectors=str(place / "vectors.npy"))
    made = Wanted("generator:messages", columns=("topic",), max_rows=20)
    for wanted in (files, stored, made):
        check_collection(open_collection(wanted))
    check_collection(collection_of(["a", "b"], ids=["x", "y"], topic=[1, 2]))


def test_a_sample_keeps_each_text_with_its_vector(place):
    wanted = Wanted(str(place / "texts.csv"), "text", vectors=str(place / "vectors.npy"), max_rows=7)
    found = open_collection(wanted)
    rows = [int(text.split()[-1]) for text in found.corpus.texts]
    expected = np.load(place / "vectors.npy")[rows]
    np.testing.assert_array_equal(found.stored.vectors_for(found.corpus.ids), expected)
    assert not found.can_encode


def test_rows_and_vectors_must_be_as_many(place):
    np.save(place / "few.npy", np.ones((ROWS - 1, 5), dtype=np.float32))
    with pytest.raises(DataError, match="29 vectors for 30 rows"):
        open_collection(Wanted(str(place / "texts.csv"), "text", vectors=str(place / "few.npy")))
    with pytest.raises(UsageError, match="leave the id column out"):
        open_collection(Wanted(str(place / "texts.csv"), "text", id="topic", vectors=str(place / "vectors.npy")))


def test_a_column_that_nobody_makes_is_an_error():
    with pytest.raises(UnknownNameError):
        open_collection(Wanted("generator:messages", columns=("nonsense",), max_rows=20))
    with pytest.raises(UnknownNameError):
        open_collection(Wanted("generator:nonsense"))


def test_a_colon_in_a_file_name_is_no_kind(place):
    (place / "a:b.txt").write_text("one\ntwo\n")
    assert open_collection(Wanted(str(place / "a:b.txt"))).corpus.texts == ["one", "two"]


def test_a_store_is_one_function(place, monkeypatch):
    (place / "own_store.py").write_text(
        "import numpy as np\n"
        "from unembed.collections import collection_of\n"
        "from unembed.encoders.vectors import VectorsEncoder\n"
        "def open_it(wanted):\n"
        "    return collection_of([wanted.place, 'another'], stored=VectorsEncoder(np.eye(2, dtype=np.float32)))\n"
    )
    monkeypatch.syspath_prepend(place)
    COLLECTIONS.register("mine", "own_store:open_it")
    found = open_collection(Wanted("mine:shelf 3"))
    assert found.corpus.texts == ["shelf 3", "another"]
    check_collection(found)


class TestTheSuiteCanFail:
    def stored(self, vectors):
        return collection_of(["a", "b"], stored=VectorsEncoder(np.asarray(vectors, dtype=np.float32)))

    def test_equal_ids(self):
        with pytest.raises(AssertionError, match="same id"):
            check_collection(collection_of(["a", "b"], ids=["x", "x"]))

    def test_nothing_to_attack(self):
        with pytest.raises(AssertionError, match="none can be made"):
            check_collection(Collection(collection_of(["a"]).corpus, can_encode=False))

    def test_vectors_in_the_order_they_lie(self):
        class Deaf:
            card = VectorsEncoder(np.eye(2, dtype=np.float32)).card

            def vectors_for(self, ids):
                return np.eye(2, dtype=np.float32)

        with pytest.raises(AssertionError, match="order of the ids"):
            check_collection(collection_of(["a", "b"], stored=Deaf()))
