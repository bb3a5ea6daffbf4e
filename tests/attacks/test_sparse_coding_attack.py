"""inversion/sparse-coding: reads words off the word matrix, says when it can't."""

from dataclasses import replace

import numpy as np
import pytest

from unembed.attacks.inversion.sparse_coding import SparseCoding, word_means
from unembed.corpora.corpus import Corpus
from unembed.encoders.base import WhiteBoxEncoder
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Material
from unembed.games.inversion import InversionGame, PieceGuess
from unembed.games.play import play
from unembed.games.threat import ADVERSARIES
from unembed.testing.toys import LeakyEncoder, SpoiledEncoder, toy_material

GAME = InversionGame()


def deal(encoder=None, **more):
    return GAME.deal(toy_material(adversary=ADVERSARIES["weights"], encoder=encoder, **more))


def f1(dealt, guess):
    return GAME.judge(dealt.truth, guess, 0).estimate().value


def test_the_toy_encoder_is_a_white_box():
    encoder = LeakyEncoder()
    assert isinstance(encoder, WhiteBoxEncoder)
    texts = ["apple bridge candle", "window"]
    ids = encoder.token_ids(texts)
    assert [[encoder.vocabulary[i] for i in row] for row in ids] == [t.split() for t in texts]
    np.testing.assert_allclose(
        word_means(texts, encoder, encoder.word_matrix)(np.arange(2)), encoder.encode(texts), atol=1e-6
    )


@pytest.mark.parametrize("encoder", [LeakyEncoder(), SpoiledEncoder()])
def test_a_soft_pass_gives_what_encode_gives(encoder):
    import torch

    text = "apple bridge candle"
    weights = torch.nn.functional.one_hot(torch.tensor(encoder.token_ids([text])), len(encoder.vocabulary)).float()
    np.testing.assert_allclose(encoder.encode_soft(weights).numpy(), encoder.encode([text]), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(
        encoder.encode_soft(weights, layer=0).numpy(), encoder.layer_output([text], 0), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("encoder", [LeakyEncoder(), SpoiledEncoder()])
def test_reads_everything_where_nothing_is_hidden(encoder):
    dealt = deal(encoder)
    guess = SparseCoding(device="cpu").fit(dealt.knowledge).run(dealt.vectors)
    assert isinstance(guess, PieceGuess)
    assert f1(dealt, guess) > 0.95
    assert GAME.judge(dealt.truth, guess, 0).secondary["piece_f1"].value > 0.95


def test_both_solvers_read_the_same_words():
    dealt = deal(known=200, targets=20)
    settings = {"penalty": 0.5, "threshold": 0.05, "device": "cpu"}
    ours, paper = (
        SparseCoding(solver=solver, **settings).fit(dealt.knowledge).run(dealt.vectors).words.toarray() > 0
        for solver in ("accelerated", "paper")
    )
    assert (ours == paper).mean() > 0.99


def test_given_values_are_used_and_tuned_ones_found():
    dealt = deal(known=200, targets=20)
    given = SparseCoding(penalty=0.1, threshold=0.01, device="cpu").fit(dealt.knowledge)
    assert (given.penalty_, given.threshold_) == (0.1, 0.01)
    half = SparseCoding(penalty=0.1, device="cpu").fit(dealt.knowledge)
    assert half.penalty_ == 0.1
    assert half.threshold_ > 0
    tuned = SparseCoding(device="cpu").fit(dealt.knowledge)
    assert tuned.tuned_f1_ >= half.tuned_f1_ - 1e-9


def test_an_encoder_without_weights_is_not_applicable():
    dealt = deal(known=50, targets=5)
    with pytest.raises(CannotMeasureError, match="not applicable"):
        SparseCoding(device="cpu").fit(replace(dealt.knowledge, encoder=None))


def test_bad_input_is_named():
    dealt = deal(known=50, targets=5)
    with pytest.raises(UsageError, match="solver"):
        SparseCoding(solver="magic", device="cpu").fit(dealt.knowledge)
    with pytest.raises(UsageError, match="penalty"):
        SparseCoding(penalty="low", device="cpu").fit(dealt.knowledge)
    with pytest.raises(CannotMeasureError, match="texts"):
        SparseCoding(device="cpu").fit(replace(dealt.knowledge, texts=()))
    attack = SparseCoding(device="cpu").fit(dealt.knowledge)
    with pytest.raises(CannotMeasureError, match="dimensions"):
        attack.run(dealt.vectors[:, :7])
    with pytest.raises(CannotMeasureError, match="NaN"):
        attack.run(np.full_like(dealt.vectors, np.nan))


def test_no_targets_no_guess():
    dealt = deal(known=100, targets=5)
    guess = SparseCoding(device="cpu").fit(dealt.knowledge).run(dealt.vectors[:0])
    assert guess.words.shape == (0, len(dealt.knowledge.vocabulary))


@pytest.mark.slow
def test_reads_words_from_the_default_encoder():
    from unembed.corpora.generators.messages import generate_messages
    from unembed.encoders.minilm import MiniLmEncoder

    encoder = MiniLmEncoder(device="cpu")
    texts = list(dict.fromkeys(generate_messages(700, seed=1).texts))
    known, target = Corpus.of(texts[:400], name="known"), Corpus.of(texts[400:440], name="target")
    material = Material(
        target=target,
        known=known,
        target_vectors=encoder.encode(target.texts),
        known_vectors=encoder.encode(known.texts),
        encode=encoder.encode,
        adversary=ADVERSARIES["weights"],
        seed=0,
        encoder=encoder,
    )
    played = play(GAME, SparseCoding(penalty=0.05, device="cpu"), GAME.deal(material), seed=0)
    assert played.check.passed
    assert played.excess.low > 0.05
