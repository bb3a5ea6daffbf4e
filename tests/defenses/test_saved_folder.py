"""A saved defense: whole or refused, its key apart."""

import json

import numpy as np
import pytest

from unembed.defenses import DEFENSES
from unembed.defenses.chain import Chain
from unembed.defenses.saving import defense_digest, load_chain, read_told, save_chain
from unembed.errors import DataError, UsageError

VECTORS = np.random.default_rng(5).standard_normal((300, 10)).astype(np.float32)
IDS = [f"r{row}" for row in range(len(VECTORS))]
NAMES = ("rotation", "product-quantization", "gaussian", "int8")


@pytest.fixture
def saved(tmp_path):
    chain = Chain([DEFENSES.get(name)() for name in NAMES]).fit(VECTORS, 77, ids=IDS)
    save_chain(chain, tmp_path / "kept", told={"note": "first"})
    return chain, tmp_path / "kept"


def test_it_comes_back_to_the_bit_and_says_what_it_is(saved):
    chain, folder = saved
    np.testing.assert_array_equal(load_chain(folder).transform(VECTORS, IDS), chain.transform(VECTORS, IDS))
    told = read_told(folder)
    assert [step["name"] for step in told["steps"]] == list(NAMES)
    assert told["told"] == {"note": "first"}


def test_what_may_be_shown_holds_neither_key_nor_rotation(saved):
    chain, folder = saved
    shown = (folder / "defense.json").read_text() + (folder / "state.safetensors").read_bytes().decode("latin-1")
    for step in chain.steps:
        assert str(step.seed) not in shown
    assert json.loads((folder / "key.json").read_text())["keys"] == [step.seed for step in chain.steps]
    assert (folder / "key.json").stat().st_mode & 0o077 == 0
    assert read_told(folder)["steps"][0]["arrays"] == []
    other = chain.with_key(78)
    save_chain(other, folder.parent / "other")
    assert defense_digest(folder.parent / "other") == defense_digest(folder)


def test_without_its_key_it_says_what_it_is_and_works_with_another(saved):
    chain, folder = saved
    (folder / "key.json").unlink()
    assert len(read_told(folder)["steps"]) == len(NAMES)
    with pytest.raises(UsageError, match="the key of the defense is not there"):
        load_chain(folder)
    with pytest.raises(UsageError, match="needs as many keys"):
        load_chain(folder, keys=[1])
    assert not np.array_equal(
        load_chain(folder, keys=[1, 2, 3, 4]).transform(VECTORS, IDS), chain.transform(VECTORS, IDS)
    )


@pytest.mark.parametrize("name", ["defense.json", "state.safetensors", "key.json"])
def test_a_file_that_was_cut_short_is_refused(saved, name):
    place = saved[1] / name
    data = place.read_bytes()
    for length in (0, 1, len(data) // 2, len(data) - 2):
        place.write_bytes(data[:length])
        with pytest.raises(DataError):
            load_chain(saved[1])


@pytest.mark.parametrize("name", ["defense.json", "state.safetensors"])
def test_a_file_that_was_altered_is_refused(saved, name):
    place = saved[1] / name
    data = place.read_bytes()
    for at in range(0, len(data), max(1, len(data) // 40)):
        changed = bytearray(data)
        changed[at] ^= 1
        place.write_bytes(bytes(changed))
        with pytest.raises(DataError):
            load_chain(saved[1])


@pytest.mark.parametrize("key", ["7", "[1, 2]", '["a", 1, 2, 3]', "[1, 2, 3, true]", "{}", "\xff"])
def test_what_is_no_key_is_refused(saved, key):
    (saved[1] / "key.json").write_bytes(key.encode("latin-1"))
    with pytest.raises(DataError, match=r"is not (the|a) key"):
        load_chain(saved[1])
