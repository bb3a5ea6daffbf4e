"""Can vectors behind a secret map be brought back: who is dealt what, and what counts as brought back."""

from dataclasses import replace

import numpy as np
import pytest

from unembed.attacks.recovery.procrustes import Procrustes
from unembed.attacks.recovery.unpaired import Unpaired
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.play import play, status_of
from unembed.games.recovery import RecoveryGame, RecoveryTruth
from unembed.games.threat import ADVERSARIES
from unembed.testing.toys import behind_a_map, toy_material

GAME = RecoveryGame()


def world(adversary="insider", known=1500, targets=1500):
    return behind_a_map(toy_material(adversary=ADVERSARIES[adversary], known=known, targets=targets))


def test_pairs_are_for_who_is_inside():
    inside, outside = (GAME.deal(world(who, 100, 60)) for who in ("insider", "outsider"))
    np.testing.assert_array_equal(inside.knowledge.pairs, world(known=100, targets=60).known_vectors)
    assert (inside.pairs, outside.pairs, outside.knowledge.pairs) == (100, 0, None)
    np.testing.assert_array_equal(outside.knowledge.vectors, world(known=100, targets=60).plain_known_vectors)
    with pytest.raises(CannotMeasureError, match="holds no stored vector"):
        Procrustes().fit(outside.knowledge)


def test_the_plain_vectors_are_right_and_the_stored_ones_are_not():
    deal = GAME.deal(world(targets=300))
    plain = deal.truth.plain[deal.truth.made_from]
    assert GAME.judge(deal.truth, plain, 0).estimate().value == 1
    assert GAME.judge(deal.truth, plain, 0).secondary["cosine"].value == pytest.approx(1)
    assert GAME.judge(deal.truth, deal.vectors, 0).estimate().value < 0.05
    constant = GAME.prior_guess(deal.knowledge, len(plain))
    assert GAME.judge(deal.truth, constant, 0).estimate().value == pytest.approx(1 / 300, abs=1e-9)


def test_a_vector_that_comes_back_to_another_one_is_not_recovered():
    plain = np.eye(30, dtype=np.float32)
    truth = RecoveryTruth(plain, np.arange(30))
    assert GAME.judge(truth, plain[::-1].copy(), 0).estimate().value == 0
    assert [example.recovered for example in GAME.examples(truth, plain, [0, 3])] == [["its own"], ["its own"]]
    assert GAME.examples(truth, plain[::-1].copy(), [1])[0].recovered == ["another"]
    with pytest.raises(CannotMeasureError, match="shape"):
        GAME.judge(truth, plain[:, :5], 0)


def test_more_pairs_bring_back_more():
    deal = GAME.deal(world(known=200, targets=400))
    shares = [
        GAME.judge(deal.truth, Procrustes(pairs=m, seed=1).fit(deal.knowledge).run(deal.vectors), 0).estimate().value
        for m in (3, 10, 30)
    ]
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] > 0.95


def test_an_outsider_brings_them_back_without_a_pair():
    played = play(GAME, Unpaired(seed=1), GAME.deal(world("outsider")), 1)
    assert played.excess.low > 0.8
    assert status_of(played)[:2] == ("leak", "high")


def test_an_attack_that_finds_nothing_must_work_on_a_map_of_its_own():
    """Vectors with no shape: nothing comes back of the adversary's own either, and that is no proof of safety."""
    rng = np.random.default_rng(0)
    target, known = rng.standard_normal((2, 600, 48)).astype(np.float32)
    shapeless = toy_material(adversary=ADVERSARIES["outsider"], known=600, targets=600)
    deal = GAME.deal(behind_a_map(replace(shapeless, target_vectors=target, known_vectors=known)))
    played = play(GAME, Unpaired(seed=1), deal, 1)
    assert played.estimate.value < 0.02
    assert status_of(played)[0] == "could-not-measure"


def test_the_rehearsal_asks_about_vectors_whose_pairs_were_taken_away():
    for who in ("insider", "outsider"):
        knowledge = GAME.deal(world(who, 400, 60)).knowledge
        less, vectors, truth = GAME.rehearsal(knowledge, 3)
        assert len(less.vectors) == len(vectors) == len(truth.plain) == 200
        assert not {row.tobytes() for row in truth.plain} & {row.tobytes() for row in less.vectors}
        assert (less.pairs is None) == (who == "outsider")
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), np.linalg.norm(truth.plain, axis=1), rtol=1e-4)


def test_it_is_not_asked_without_a_map_or_of_few_targets():
    with pytest.raises(CannotMeasureError, match="no secret map"):
        GAME.deal(toy_material())
    with pytest.raises(CannotMeasureError, match="targets"):
        GAME.deal(world(targets=10))
    with pytest.raises(UsageError, match="asked"):
        RecoveryGame(asked=3).deal(world(targets=60))
    with pytest.raises(UsageError, match="pairs"):
        Procrustes(pairs=0).fit(GAME.deal(world(targets=60)).knowledge)
