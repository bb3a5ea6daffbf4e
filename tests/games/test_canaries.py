"""Exposure on a model that was trained here: exact by every text, by a sample, and by the search for the likeliest."""

from itertools import product

import numpy as np
import pytest

from unembed.attacks.membership.canary_exposure import CanaryExposure
from unembed.errors import CannotMeasureError
from unembed.games.canaries import exposures, make_canaries, pattern_of, planted, told
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.language_answers import about_canaries, about_texts, zlib_bits
from unembed.games.membership_model import MembershipModelGame, dealt
from unembed.games.model_answers import OF_CANARIES, OF_TEXTS, Answered
from unembed.nn.language_model import LanguageModel
from unembed.nn.language_search import bits_of_every, likeliest

FORMATS = [f"{word} {{code:digits3}}" for word in ("tin", "oak", "sea", "hat", "ink", "elm")]
LETTERS = " 0123456789abcdefghijklmnopqrstuvwxyz"


def tokens(text):
    return [LETTERS.index(letter) for letter in text]


@pytest.fixture(scope="module")
def canaries():
    return make_canaries(FORMATS, (0, 2, 60), 2, seed=3)


@pytest.fixture(scope="module")
def model(canaries):
    """A small model of noise, with canaries planted."""
    rng = np.random.default_rng(0)
    noise = ["".join(rng.choice(list(LETTERS), size=8)) for _ in range(150)]
    texts = [tokens(text) for text in [*noise, *planted(canaries)]]
    return LanguageModel(vocabulary=len(LETTERS), units=48, epochs=14, learning_rate=1e-2, device="cpu").fit(texts)


@pytest.fixture(scope="module")
def ask(model):
    return lambda texts: model.log_perplexity([tokens(text) for text in texts])


def every_text(canary):
    head, digits = canary.text[:4], LETTERS[1:11]
    return [head + "".join(row) for row in product(digits, repeat=3)]


def test_what_is_planted_often_is_exposed_and_what_is_not_planted_is_not(ask, canaries):
    exact = exposures(ask, canaries, 1000, seed=0)
    mean = {k: np.mean([one.bits.value for one in exact if one.canary.times == k]) for k in (0, 60)}
    assert mean[60] > 8.5
    assert mean[0] < 5
    assert all(one.most == pytest.approx(np.log2(1000)) for one in exact)


def test_the_exact_rank_is_that_of_all_texts_however_they_are_scored(model, ask, canaries):
    exact = exposures(ask, canaries, 1000, seed=0)
    for one in exact:
        every = every_text(one.canary)
        assert list(pattern_of(one.canary.format).every()) == every
        shared = bits_of_every(model, [[t] for t in tokens(one.canary.text[:4])] + [list(range(1, 11))] * 3)
        alone = ask(every)
        assert np.allclose(shared, alone, atol=1e-3)
        rank = (alone <= alone[every.index(one.canary.text)]).sum()
        assert one.bits.value == pytest.approx(np.log2(1000) - np.log2(rank), abs=0.2)


def test_a_sample_agrees_with_the_exact_exposure_within_its_interval(ask, canaries):
    exact = exposures(ask, canaries, 1000, seed=0)
    held = []
    for seed in range(8):
        for one, all_ in zip(exposures(ask, canaries, 300, seed=seed), exact, strict=True):
            assert one.bits.low <= one.bits.value <= one.bits.high <= one.most
            held.append(one.bits.low - 1e-9 <= all_.bits.value <= one.bits.high + 1e-9)
            assert told(one)
    assert np.mean(held) > 0.85


def test_a_search_writes_out_what_is_known_by_heart(model, ask, canaries):
    for one in exposures(ask, canaries, 1000, seed=0):
        found = likeliest(model, [[t] for t in tokens(one.canary.text[:4])] + [list(range(1, 11))] * 3)[0]
        assert (found.tokens == tuple(tokens(one.canary.text))) == (one.bits.value == one.most)


def test_other_planted_canaries_of_a_format_are_not_held_against_one():
    canaries = make_canaries(["pin {code:digits2}"], (5, 5, 5), 1, seed=0)
    secret = {c.text for c in canaries}
    found = exposures(lambda texts: [0.0 if t in secret else 1.0 for t in texts], canaries, 100, seed=0)
    assert [one.bits.value for one in found] == pytest.approx([np.log2(98)] * 3)


def test_planted_canaries_are_told_from_others_in_a_game(ask, canaries):
    many = make_canaries(FORMATS, (0, 60), 30, seed=4)
    rank = np.array([1 if c.times else 1 + i * 33 for i, c in enumerate(many)])
    rows = np.stack([np.zeros(60), np.full(60, 7), np.log2(rank), np.full(60, np.log2(1000))], axis=1)
    members = np.array([c.times > 0 for c in many])
    deal = dealt(OF_CANARIES, None, Answered(rows, members, np.zeros(60, dtype=np.int64)))
    guess = CanaryExposure(false_alarm=0.05).fit(deal.knowledge).run(deal.vectors)
    assert isinstance(guess, InOrOutGuess)
    scores = MembershipModelGame(answers="canaries").judge(deal.truth, guess, 0)
    assert scores.point > 0.95
    found = exposures(ask, canaries, 1000, seed=0)
    table = about_canaries(found, ask([c.text for c in canaries]), [7] * len(canaries))
    exposure = OF_CANARIES.read(table, "possible") - OF_CANARIES.read(table, "rank")
    assert np.allclose(exposure, [one.bits.value for one in found], atol=1e-5)


def test_rows_about_texts_hold_what_their_columns_say(ask):
    table = about_texts(["tin oak", "sea"], ask, lambda texts: [float(len(t)) for t in texts], [7, 3])
    assert np.allclose(OF_TEXTS.read(table, "log_perplexity"), ask(["tin oak", "sea"]), atol=1e-4)
    assert OF_TEXTS.read(table, "second").tolist() == OF_TEXTS.read(table, "tokens").tolist() == [7, 3]
    assert OF_TEXTS.read(table, "zlib").tolist() == [zlib_bits("tin oak"), zlib_bits("sea")]
    assert zlib_bits("tin " * 50) < 2 * zlib_bits("tin oak sea hat")
    with pytest.raises(CannotMeasureError, match="not the 'rank'"):
        OF_TEXTS.read(table, "rank")
