"""Input no inversion attack can use: an error in one sentence, never an empty guess that looks like safety."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from unembed.attacks import ATTACKS
from unembed.attacks.inversion.word_classifier import best_thresholds
from unembed.corpora.corpus import Corpus
from unembed.encoders.base import EncoderCard
from unembed.errors import CannotMeasureError, UnembedError
from unembed.games.base import Material
from unembed.games.inversion import InversionGame
from unembed.games.threat import ADVERSARIES, Capability
from unembed.runner.plan import ask, make_plan
from unembed.runner.prepare import Sides
from unembed.runner.spec import build_spec
from unembed.testing.toys import toy_corpus, toy_material

INVERSION = [n for n in ATTACKS.names() if ATTACKS.get(n).facts.game == "inversion"]
WHITE_BOX = [n for n in INVERSION if Capability.WEIGHTS in ATTACKS.get(n).facts.requires]
#: Fewer rounds than the defaults: these tests are about the input.
SMALL = {"epochs": 1, "min_steps": 2, "steps": 2, "iterations": 2}


def attack_of(name):
    made = ATTACKS.get(name)(seed=0)
    return made.set_params(**{k: v for k, v in SMALL.items() if k in made.get_params()})


def deal_for(name, **changes):
    material = toy_material(adversary=ADVERSARIES["weights" if name in WHITE_BOX else "insider"], known=60, targets=10)
    return InversionGame().deal(Material(**{**vars(material), **changes}))


@pytest.mark.parametrize("name", INVERSION)
def test_vectors_of_another_width(name):
    deal = deal_for(name)
    fitted = attack_of(name).fit(deal.knowledge)
    for width in (deal.vectors.shape[1] - 1, deal.vectors.shape[1] + 1):
        with pytest.raises(UnembedError, match="dimensions"):
            fitted.run(np.zeros((3, width), dtype=np.float32))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", INVERSION)
def test_targets_that_are_not_numbers(name, bad):
    deal = deal_for(name)
    fitted = attack_of(name).fit(deal.knowledge)
    spoiled = np.array(deal.vectors)
    spoiled[1, 2] = bad
    with pytest.raises(UnembedError, match="NaN"):
        fitted.run(spoiled)


@pytest.mark.parametrize("name", INVERSION)
def test_pairs_that_are_not_numbers(name):
    deal = deal_for(name)
    spoiled = np.array(deal.knowledge.vectors)
    spoiled[5, 0] = np.nan
    with pytest.raises(UnembedError, match="NaN"):
        attack_of(name).fit(replace(deal.knowledge, vectors=spoiled)).run(deal.vectors)


@pytest.mark.parametrize("name", WHITE_BOX)
def test_no_weights_where_they_are_needed(name):
    deal = deal_for(name)
    with pytest.raises(UnembedError):
        attack_of(name).fit(replace(deal.knowledge, encoder=None)).run(deal.vectors)


@pytest.mark.parametrize("name", WHITE_BOX)
def test_a_closed_encoder_is_listed_as_not_tested(name):
    sides = Sides(toy_corpus(20), {"inside": toy_corpus(40, seed=1)}, [])
    card = EncoderCard("closed", "endpoint", "digest", 48, True, open_weights=False)
    spec = build_spec({"data": {"texts": "x"}, "games": ["inversion"], "attacks": [name], "curve": []})
    plan = make_plan(spec, sides, ask(spec, sides), card, "")
    assert not plan.cells
    assert [s for s in plan.skipped if s.missing == [Capability.WEIGHTS.value]]


def test_a_vocabulary_of_no_words():
    material = toy_material(known=60, targets=10)
    empty = Material(**{**vars(material), "known": Corpus.of(["?"] * 60)})
    with pytest.raises(CannotMeasureError, match="no word that occurs"):
        InversionGame().deal(empty)


def test_targets_without_a_word_the_adversary_knows():
    material = toy_material(known=60, targets=10)
    for strange in ("zzz yyy", "...", "the of and"):
        foreign = Material(**{**vars(material), "target": Corpus.of([f"{strange} {i}" for i in range(10)])})
        with pytest.raises(CannotMeasureError, match="none of the 10 targets"):
            InversionGame().deal(foreign)


def test_one_target_without_a_known_word_is_scored_as_missed():
    material = toy_material(known=60, targets=10)
    texts = ["zzz yyy", *material.target.texts[1:]]
    deal = InversionGame().deal(Material(**{**vars(material), "target": Corpus.of(texts)}))
    scores = InversionGame().judge(deal.truth, deal.truth.labels.astype(np.float32), 0)
    assert scores.parts[0].tolist() == [0, 0, 2]
    assert scores.secondary["content_recall"].value < 1


def test_pairs_and_targets_of_two_encoders():
    material = toy_material(known=60, targets=10)
    mixed = Material(**{**vars(material), "target_vectors": material.target_vectors[:, :-1]})
    with pytest.raises(CannotMeasureError, match="47 dimensions, those of the pairs 48"):
        InversionGame().deal(mixed)


def test_thresholds_where_no_attack_is_sure_of_any_word():
    """Rare words may leave no confidence above the least probability: that is an answer, not a failure."""
    nothing, truth = csr_matrix((4, 6), dtype=np.float32), csr_matrix(np.eye(4, 6, dtype=np.float32))
    thresholds, reached = best_thresholds(nothing, truth, np.array([True, True, True, False, False, False]))
    assert reached == 0
    assert thresholds.tolist() == [0.5] * 6
