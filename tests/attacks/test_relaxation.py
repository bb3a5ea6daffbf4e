"""Soft words through the model (Song eq. 3-5): the gradient is right, and the words come back."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tiny_bert import deal_for, tiny_bert

from unembed.attacks.inversion.relaxation import Relaxation, error_scale
from unembed.encoders.transformer import TransformerEncoder
from unembed.errors import CannotMeasureError, UnknownNameError, UsageError
from unembed.metrics import sets
from unembed.testing.toys import LeakyEncoder

torch = pytest.importorskip("torch")
soft_words = pytest.importorskip("unembed.attacks.inversion.soft_words")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny_bert(tmp_path_factory.mktemp("bert"))


def encoder_at(folder, layer=-1, **options):
    return TransformerEncoder(folder, layer=layer, device="cpu", **options)


def piece_f1(deal, guess):
    return float(sets.f1(sets.set_counts(deal.truth.pieces, guess.pieces).sum(axis=0)))


@pytest.mark.parametrize("layer", [0, 1, 2])
@pytest.mark.parametrize("options", [{}, {"normalise": True}, {"pooling": "first"}], ids=str)
def test_gradient_of_equation_5_through_a_transformer_is_the_numerical_one(folder, layer, options):
    encoder = encoder_at(folder, layer, **options)
    encoder._core.model.double()
    size = len(encoder.vocabulary)
    rng = np.random.default_rng(layer)
    z = torch.from_numpy(rng.standard_normal((2, 3, size)) * 0.1).requires_grad_()
    aims = torch.from_numpy(rng.standard_normal((2, 32)))
    scale = torch.from_numpy(rng.uniform(0.5, 2, 32))

    def losses(z):
        return soft_words.objective(encoder.encode_soft, z / 0.05, aims, scale)

    assert torch.autograd.gradcheck(losses, (z,), eps=1e-6, atol=1e-6, rtol=1e-4)
    if layer and not options:
        (gradient,) = torch.autograd.grad(losses(z).sum(), z)
        assert gradient.abs().min() > 0, "every word of every position has a say"


@pytest.mark.parametrize("candidates", ["all", "own"])
def test_words_come_back_from_a_shallow_layer(folder, candidates):
    deal = deal_for(encoder_at(folder, 0))
    attack = Relaxation(candidates=candidates, seed=2).fit(deal.knowledge)
    guess = attack.run(deal.vectors)
    assert piece_f1(deal, guess) > 0.9
    counts = sets.set_counts(deal.truth.labels, guess.words)
    assert float(sets.f1(counts.sum(axis=0))) > 0.9
    assert guess.words.data.max() <= 1
    assert (attack.recovered_.steps < attack.steps).any(), "converged texts stop by themselves"


def test_own_candidates_leave_out_words_the_adversary_never_saw():
    deal = deal_for(LeakyEncoder())
    encoder = deal.knowledge.encoder
    column = int(deal.truth.pieces.indices[0])
    unseen = encoder.vocabulary[column]
    some = replace(deal.knowledge, texts=[t for t in deal.knowledge.texts if unseen not in t])
    own = Relaxation(seed=2).fit(some)
    assert column not in own.pieces_
    assert len(own.pieces_) == len(encoder.vocabulary) - 1
    assert not own.run(deal.vectors).pieces[:, column].nnz
    assert Relaxation(seed=2, candidates="all").fit(some).run(deal.vectors).pieces[:, column].nnz


def test_the_letter_of_the_paper_works_and_needs_more_steps(folder):
    deal = deal_for(encoder_at(folder, 0), targets=6)
    letter = {"candidates": "all", "scaling": "none", "learning_rate": 0.001, "temperature": 0.05}
    paper = Relaxation(**letter, steps=1500, tolerance=0.001, seed=2).fit(deal.knowledge)
    guess = paper.run(deal.vectors)
    assert piece_f1(deal, guess) > 0.9
    ours = Relaxation(seed=2).fit(deal.knowledge)
    ours.run(deal.vectors)
    assert ours.recovered_.steps.mean() < paper.recovered_.steps.mean() / 2


def test_only_the_ratio_of_learning_rate_and_temperature_matters(folder):
    deal = deal_for(encoder_at(folder, 1), targets=5)
    one, other = (
        Relaxation(learning_rate=0.4 * t, temperature=t, steps=50, seed=1).fit(deal.knowledge) for t in (0.05, 0.2)
    )
    one.run(deal.vectors)
    other.run(deal.vectors)
    np.testing.assert_allclose(one.recovered_.objective, other.recovered_.objective, rtol=1e-2)


def test_place_and_company_of_a_target_do_not_matter(folder):
    deal = deal_for(encoder_at(folder, 0), targets=8)
    attack = Relaxation(seed=2).fit(deal.knowledge)
    together = attack.run(deal.vectors).pieces
    backwards = attack.run(deal.vectors[::-1]).pieces[::-1]
    alone = attack.set_params(batch_size=1).run(deal.vectors).pieces
    for other in (backwards, alone):
        assert ((together != 0) != (other != 0)).nnz == 0
        np.testing.assert_allclose(together.toarray(), other.toarray(), atol=1e-2)


def test_restarts_keep_the_text_nearest_to_the_vector(folder):
    encoder = encoder_at(folder, 2)
    deal = deal_for(encoder, targets=6)
    once, often = (Relaxation(seed=2, steps=50, scaling="none", restarts=n).fit(deal.knowledge) for n in (1, 4))
    once.run(deal.vectors)
    often.run(deal.vectors)
    assert (often.recovered_.steps > once.recovered_.steps).all()
    assert (often.recovered_.distance <= once.recovered_.distance).all()
    assert (often.recovered_.distance < once.recovered_.distance).any()


def test_threshold_names_words_by_their_weight_over_all_positions(folder):
    deal = deal_for(encoder_at(folder, 0))
    guess = Relaxation(threshold=0.4, length=6, seed=2).fit(deal.knowledge).run(deal.vectors)
    assert guess.pieces.data.min() >= 0.4
    counts = sets.set_counts(deal.truth.pieces, guess.pieces).sum(axis=0)
    assert float(sets.precision(counts)) > 0.7


def test_length_is_the_usual_one_of_the_adversarys_texts_unless_given(folder):
    deal = deal_for(encoder_at(folder, 0))
    assert Relaxation().fit(deal.knowledge).length_ == 4
    assert Relaxation(length=7).fit(deal.knowledge).length_ == 7


def test_memory_bounds_the_texts_at_once():
    cpu = torch.device("cpu")
    assert soft_words.texts_at_once(20, 30_000, cpu) * soft_words.COPIES * 4 * 20 * 30_000 <= soft_words.CPU_BYTES
    assert soft_words.texts_at_once(10**6, 10**6, cpu) == 1


def test_error_scale_caps_dimensions_that_would_decide_alone():
    rng = np.random.default_rng(0)
    vectors = rng.standard_normal((500, 9)).astype(np.float32)
    vectors[:, 0] = 3.0
    vectors[:, 1] *= 1e5
    scale = error_scale(vectors, "capped")
    assert scale[0] == 0
    assert 5 < scale[1] * vectors[:, 1].std() < 20
    np.testing.assert_array_equal(scale[2:], 1)
    np.testing.assert_array_equal(error_scale(vectors, "none"), np.ones(9))
    np.testing.assert_allclose((vectors * error_scale(vectors, "each"))[:, 1:].std(axis=0), 1, rtol=1e-2)


def test_closed_encoder_is_not_applicable():
    deal = deal_for(LeakyEncoder(), adversary="insider")
    with pytest.raises(CannotMeasureError, match="not applicable"):
        Relaxation().fit(deal.knowledge)


def test_bad_vectors_and_parameters_are_one_line_errors(folder):
    deal = deal_for(encoder_at(folder, 0), targets=3)
    attack = Relaxation().fit(deal.knowledge)
    with pytest.raises(CannotMeasureError, match="7 dimensions, the attack expects 32"):
        attack.run(np.zeros((2, 7), dtype=np.float32))
    broken = deal.vectors.copy()
    broken[1, 1] = np.nan
    with pytest.raises(CannotMeasureError, match="NaN"):
        attack.run(broken)
    assert attack.run(deal.vectors[:0]).words.shape == (0, len(deal.knowledge.vocabulary))
    with pytest.raises(UnknownNameError, match="own"):
        Relaxation(candidates="onw").fit(deal.knowledge)
    with pytest.raises(UnknownNameError, match="capped"):
        Relaxation(scaling="caped").fit(deal.knowledge)
    with pytest.raises(UsageError, match="temperature must be above 0"):
        Relaxation(temperature=0).fit(deal.knowledge)
    with pytest.raises(CannotMeasureError, match="no token"):
        Relaxation().fit(replace(deal.knowledge, texts=["" for _ in deal.knowledge.texts]))
