"""A fitted defense in a folder: what comes back, what is refused, and an audit of what was saved."""

import json
from pathlib import Path

import numpy as np
import pytest
from defense_audit import small_audit

from unembed.defenses.chain import Chain
from unembed.defenses.gaussian import Gaussian
from unembed.defenses.rounding import Rounding
from unembed.defenses.saving import defense_digest, load_chain, read_told, save_chain
from unembed.errors import CannotMeasureError, DataError, UsageError
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec

VECTORS = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
IDS = [f"r{i}" for i in range(40)]


@pytest.fixture
def saved(tmp_path):
    chain = Chain([Gaussian(scale=0.5), Rounding(decimals=2)]).fit(VECTORS, key=7)
    save_chain(chain, tmp_path / "kept", told={"called": "both"})
    return chain, tmp_path / "kept"


def test_what_is_loaded_gives_the_same_vectors(saved):
    chain, folder = saved
    np.testing.assert_array_equal(load_chain(folder).transform(VECTORS, IDS), chain.transform(VECTORS, IDS))
    assert read_told(folder)["told"] == {"called": "both"}


def test_another_key_is_another_defense_of_the_same_digest(saved, tmp_path):
    chain, folder = saved
    other = load_chain(folder, keys=[1, 2])
    assert not np.allclose(other.transform(VECTORS, IDS), chain.transform(VECTORS, IDS))
    save_chain(other, tmp_path / "other")
    assert defense_digest(tmp_path / "other") == defense_digest(folder)


def test_the_key_stands_in_a_file_of_its_own_for_the_owner_alone(saved):
    chain, folder = saved
    keys = folder / "key.json"
    assert keys.stat().st_mode & 0o077 == 0
    assert folder.stat().st_mode & 0o077 == 0
    assert str(chain.steps[0].seed) not in (folder / "defense.json").read_text()
    keys.unlink()
    with pytest.raises(UsageError, match="key"):
        load_chain(folder)


@pytest.mark.parametrize("name", ["defense.json", "state.safetensors", "key.json"])
@pytest.mark.parametrize(
    "damage", [lambda b: b[: len(b) // 2], lambda b: b[:-3] + bytes([b[-3] ^ 1]) + b[-2:], lambda b: b""]
)
def test_a_folder_that_was_cut_short_or_altered_is_refused(saved, name, damage):
    _, folder = saved
    place = folder / name
    place.write_bytes(damage(place.read_bytes()) if damage is not bytes else b"")
    with pytest.raises((DataError, UsageError)):
        load_chain(folder)


def test_a_folder_without_a_defense_is_refused_in_one_line(tmp_path):
    with pytest.raises(UsageError, match=r"does not hold a saved defense"):
        load_chain(tmp_path)


def test_code_of_a_file_runs_only_for_who_says_it_is_theirs(tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text(Path("examples/own_defense.py").read_text())
    from unembed.defenses import DEFENSES

    name = f"{plugin}:KeepSigns"
    chain = Chain([DEFENSES.get(name)()], [name]).fit(VECTORS, key=1)
    save_chain(chain, tmp_path / "kept")
    with pytest.raises(UsageError, match="own_code=True"):
        load_chain(tmp_path / "kept")
    again = load_chain(tmp_path / "kept", own_code=True)
    np.testing.assert_array_equal(again.transform(VECTORS, IDS), chain.transform(VECTORS, IDS))


def test_nothing_but_what_is_learnt_can_be_set_by_a_folder(saved):
    from unembed.sealed import seal, unseal

    _, folder = saved
    place = folder / "defense.json"
    document = unseal(place.read_text())
    document["steps"][0]["learnt"]["transform"] = 1
    place.write_text(seal(document))
    with pytest.raises(DataError, match="not something that a defense learns"):
        load_chain(folder)


def test_vectors_of_another_dimension_are_refused(saved):
    with pytest.raises(CannotMeasureError, match="dimension 8, not 5"):
        load_chain(saved[1]).transform(VECTORS[:, :5], IDS)


def test_a_saved_defense_audited_again_gives_the_same_findings(tmp_path):
    run = {"folder": str(tmp_path / "run"), "no_cache": True, "keep_defenses": True}
    both = [{"name": "gaussian", "scale": 1.0}, {"name": "rounding", "decimals": 2}]
    given = small_audit(tmp_path, unaware=False, defenses=[both], utility=["retrieval"], run=run)
    first, folder = audit(build_spec(given))
    assert [f.adaptive for f in first.findings] == [None, True]
    (cost,) = first.variants
    assert cost.stored_bytes == cost.plain_bytes == 4 * 24
    again = {**given, "defenses": [{"name": "saved", "folder": str(folder / cost.saved)}]}
    second, _ = audit(build_spec({**again, "run": {"folder": str(tmp_path / "again"), "no_cache": True}}))
    told = [[(f.defense, f.estimate, f.floor, f.excess, f.status) for f in run.findings] for run in (first, second)]
    assert json.dumps(told[0], default=str) == json.dumps(told[1], default=str)
    assert [u.estimate for u in first.utility] == [u.estimate for u in second.utility]
