"""Every text of a form, the likeliest of them, and texts that a model writes."""

from itertools import product

import numpy as np
import pytest

from unembed.errors import UsageError
from unembed.nn.language_model import LanguageModel
from unembed.nn.language_search import bits_of_every, likeliest, written

FORM = [[10], [11], [0, 1, 2, 3], [4], [0, 1, 2, 3, 5], [2, 3]]


@pytest.fixture(scope="module")
def model():
    """Has learnt one text of the form by heart, among others of other forms."""
    rng = np.random.default_rng(0)
    others = [rng.integers(0, 12, size=8).tolist() for _ in range(100)]
    learnt = [[10, 11, 2, 4, 5, 3]] * 40
    return LanguageModel(vocabulary=12, units=24, epochs=40, learning_rate=1e-2, device="cpu").fit(others + learnt)


def test_every_text_has_the_bits_it_has_alone(model, monkeypatch):
    monkeypatch.setattr("unembed.nn.language_search.AT_ONCE", 7)
    every = [list(tokens) for tokens in product(*FORM)]
    assert np.allclose(bits_of_every(model, FORM), model.log_perplexity(every), atol=1e-3)


@pytest.mark.parametrize("at_once", [1, 3, 4096])
def test_the_likeliest_are_the_best_of_all_in_order(model, monkeypatch, at_once):
    monkeypatch.setattr("unembed.nn.language_search.AT_ONCE", at_once)
    every = [tuple(tokens) for tokens in product(*FORM)]
    best = np.argsort(model.log_perplexity(every))[:5]
    found = likeliest(model, FORM, 5)
    assert [one.tokens for one in found] == [every[i] for i in best]
    assert found[0].tokens == (10, 11, 2, 4, 5, 3), "what was learnt by heart"
    assert found[0].bits == pytest.approx(model.log_perplexity([found[0].tokens])[0], abs=1e-3)
    assert len(likeliest(model, FORM, 1000)) == len(every)


def test_a_model_writes_what_it_learnt_and_a_hot_start_more_than_that(model):
    texts = written(model, 400, 12, seed=1)
    learnt = [10, 11, 2, 4, 5, 3]
    assert texts.count(learnt) > 20
    assert all(len(text) <= 12 and set(text) <= set(range(12)) for text in texts)
    assert written(model, 400, 12, seed=1) == texts
    hot = written(model, 400, 12, seed=1, hot=10.0)
    assert len({t[0] for t in hot if t}) == 12
    assert hot.count(learnt) < texts.count(learnt)
    assert all(text[:2] == [10, 11] for text in written(model, 30, 6, prompts=[[10, 11]], seed=0))
    assert written(model, 50, 6, top=1, prompts=[[10, 11]]) == [learnt] * 50


def test_drawn_tokens_are_as_frequent_as_the_model_says(model):
    first = [text[0] for text in written(model, 4000, 1, top=13, seed=3) if text]
    shares = np.bincount(first, minlength=12) / 4000
    said = np.exp2(-model.bits_of_next(model.begin())[0, :12])
    assert np.abs(shares - said).max() < 0.03


def test_a_form_without_a_choice_is_refused(model):
    for form in ([], [[1], []]):
        with pytest.raises(UsageError, match="a token for every place"):
            bits_of_every(model, form)
    with pytest.raises(UsageError, match="no prompt"):
        written(model, 3, 5, prompts=[])
    with pytest.raises(UsageError, match="'hot'"):
        written(model, 3, 5, hot=0.5)
