"""Defenses behind an encoder: what they do to vectors, one behind the other, and who is told what of them."""

import numpy as np
import pytest
from defense_audit import small_audit
from scipy.sparse import csr_matrix

from unembed.corpora.generators.messages import generate_messages
from unembed.defenses import DEFENSES
from unembed.defenses.base import noise
from unembed.defenses.chain import Chain
from unembed.defenses.gaussian import Gaussian
from unembed.defenses.rounding import Rounding
from unembed.defenses.saved import Saved
from unembed.errors import CannotMeasureError, UsageError
from unembed.runner.execute import audit
from unembed.runner.prepare import LEARNT
from unembed.runner.spec import build_spec
from unembed.testing import check_defense

VECTORS = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
IDS = [f"r{i}" for i in range(40)]


@pytest.mark.parametrize("name", sorted(name for name in DEFENSES if DEFENSES.get(name) is not Saved))
def test_all_conform(name):
    check_defense(DEFENSES.get(name))


def test_rounding_keeps_sparse_vectors_sparse():
    sparse = csr_matrix(np.where(VECTORS > 1, VECTORS, 0))
    made = Rounding(decimals=1).fit(sparse).transform(sparse, IDS)
    np.testing.assert_array_equal(made.toarray(), np.round(sparse.toarray(), 1))
    with pytest.raises(CannotMeasureError, match="sparse"):
        Gaussian().fit(sparse)


def test_noise_follows_key_and_id_alone():
    np.testing.assert_array_equal(noise(IDS, 8, 1)[::-1], noise(IDS[::-1], 8, 1))
    assert not np.allclose(noise(IDS, 8, 1), noise(IDS, 8, 2))


def test_noise_is_in_units_of_what_the_numbers_vary_by():
    many = np.random.default_rng(1).standard_normal((2000, 16)).astype(np.float32) * 7
    ids = [str(i) for i in range(2000)]
    added = np.asarray(Gaussian(scale=0.5, seed=3).fit(many).transform(many, ids)) - many
    assert added.std() == pytest.approx(3.5, rel=0.02)


def test_a_step_learns_from_what_the_step_before_it_makes():
    steps = [Gaussian(scale=3.0), Gaussian(scale=1.0)]
    Chain(steps).fit(VECTORS, key=5)
    assert steps[1].deviation_ > 2 * steps[0].deviation_
    assert steps[0].seed != steps[1].seed


@pytest.fixture(scope="module")
def defended(tmp_path_factory):
    """An audit of vectors that hold everything, behind rounding that takes all and behind two steps."""
    folder = tmp_path_factory.mktemp("defended")
    given = small_audit(
        folder,
        defenses=[{"name": "rounding", "decimals": -2}, [{"name": "gaussian", "scale": 0.1}, "rounding"]],
        utility=["retrieval", {"name": "column", "column": "topic"}],
    )
    return audit(build_spec(given))[0], given


def test_every_variant_is_attacked_by_who_knows_it_and_by_who_does_not(defended):
    run, _ = defended
    found = {(f.defense, f.adaptive): f for f in run.findings}
    assert set(found) == {(None, None)} | {
        (name, known) for name in ("rounding(decimals=-2)", "gaussian(scale=0.1) + rounding") for known in (False, True)
    }
    assert found[None, None].status == "leak"
    assert found["rounding(decimals=-2)", True].status != "leak"
    assert found["gaussian(scale=0.1) + rounding", True].status == "leak"
    assert [v.variant for v in run.verdict.variants] == ["rounding(decimals=-2)", "gaussian(scale=0.1) + rounding"]


def test_what_is_left_of_use_stands_in_the_result_and_is_kept(defended):
    run, given = defended
    scores = {(u.task, u.variant): u for u in run.utility}
    assert len(scores) == 6
    assert scores["retrieval", None].estimate.value == 1
    assert scores["retrieval", "rounding(decimals=-2)"].estimate.value < 0.2
    assert scores["column", "rounding(decimals=-2)"].loss.low > 0
    again, _ = audit(build_spec(given))
    assert again.utility == run.utility


def test_the_cards_say_what_a_fitted_encoder_learnt_from(defended):
    run, _ = defended
    cards = {card.role: card for card in run.data}
    assert cards["target"].facts[LEARNT] == cards["target"].rows
    assert cards["adversary"].facts[LEARNT] == cards["adversary"].rows


def test_the_training_texts_of_an_encoder_can_be_named(tmp_path):
    texts = [" ".join(text.split()) for text in generate_messages(120, seed=4).texts]
    (tmp_path / "all.txt").write_text("\n".join(texts))
    (tmp_path / "trained.txt").write_text("\n".join(texts[:40]))
    given = {
        "data": {"texts": str(tmp_path / "all.txt")},
        "encoder": {"name": "hashing", "features": 4096},
        "games": ["inversion"],
        "adversaries": ["insider"],
        "references": [],
        "calibrate": False,
        "repeats": 0,
        "training": {"texts": str(tmp_path / "trained.txt")},
        "run": {"folder": str(tmp_path / "run"), "no_cache": True},
    }
    run, _ = audit(build_spec(given))
    learnt = {card.role: card.facts.get(LEARNT, 0) for card in run.data}
    assert 0 < learnt["target"] + learnt["adversary"] <= 40


@pytest.mark.parametrize(
    "wrong", [{"device": "cdua"}, {"run": {"jobs": -7}}, {"params": {"attribute/linear": {"C": 1}}}]
)
def test_the_library_refuses_what_the_command_line_refuses(wrong, tmp_path):
    data = {"texts": "generator:messages", "max_texts": 60, "attributes": ["topic"]}
    with pytest.raises(UsageError):
        audit(build_spec({"data": data, "encoder": {"name": "hashing"}, **wrong}))
