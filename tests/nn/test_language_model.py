"""A language model: its bits are those of its probabilities, it learns what repeats, and it is the same again."""

import numpy as np
import pytest

from unembed.artifacts import Artifacts
from unembed.artifacts.language_models import LanguageModelRecipe
from unembed.errors import CannotMeasureError, UsageError
from unembed.nn.language_model import LanguageModel

SMALL = {"vocabulary": 12, "units": 16, "device": "cpu"}


def drawn(count=60, *, seed=0, most=9):
    rng = np.random.default_rng(seed)
    return [rng.integers(0, SMALL["vocabulary"], size=rng.integers(0, most)).tolist() for _ in range(count)]


@pytest.fixture(scope="module")
def model():
    return LanguageModel(**SMALL, epochs=2).fit(drawn())


def numpy_bits(model, sequence):
    """The same network written out: two LSTM layers and a softmax (gates in torch's order: in, forget, new, out)."""
    weights = {name: t.double().numpy() for name, t in model.model_.state_dict().items()}

    def sigmoid(x):
        return 1 / (1 + np.exp(-x))

    states = [(np.zeros(16), np.zeros(16)) for _ in range(2)]
    bits = []
    for before, token in zip([model.vocabulary, *sequence[:-1]], sequence, strict=True):
        x = weights["words.weight"][before]
        for layer, (h, c) in enumerate(states):
            own = {kind: weights[f"cells.{kind}_l{layer}"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")}
            gates = own["weight_ih"] @ x + own["bias_ih"] + own["weight_hh"] @ h + own["bias_hh"]
            i, f, g, o = np.split(gates, 4)
            c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
            x = sigmoid(o) * np.tanh(c)
            states[layer] = (x, c)
        scores = weights["out.weight"] @ x + weights["out.bias"]
        bits.append((np.log(np.exp(scores).sum()) - scores[token]) / np.log(2))
    return np.array(bits)


def test_the_bits_are_those_of_the_network_written_out(model):
    sequence = [3, 1, 4, 1, 5, 9, 2, 6]
    assert np.allclose(model.bits([sequence])[0], numpy_bits(model, sequence), atol=1e-4)
    assert model.log_perplexity([sequence])[0] == pytest.approx(numpy_bits(model, sequence).sum(), abs=1e-3)


def test_reading_on_token_by_token_gives_the_same(model):
    sequence = [7, 0, 11, 7]
    reading, total = model.begin(), 0.0
    for token in sequence:
        bits = model.bits_of_next(reading)
        assert np.exp2(-bits.astype(float)).sum() == pytest.approx(1, abs=1e-4)
        total += bits[0, token]
        reading = model.read(reading, [token])
    assert total == pytest.approx(model.log_perplexity([sequence])[0], abs=1e-3)
    assert model.next_words([sequence])[0][-1] == model.bits_of_next(reading)[0, :-1].argmin()


def test_a_sequence_is_answered_alike_in_any_company(model, monkeypatch):
    asked = drawn(40, seed=5)
    together, words = model.log_perplexity(asked), model.next_words(asked)
    assert np.allclose(together, [model.log_perplexity([one])[0] for one in asked], atol=1e-3)
    assert [len(w) for w in words] == [len(s) for s in asked]
    monkeypatch.setattr("unembed.nn.language_model.MOST_SCORES", 40)
    monkeypatch.setattr("unembed.nn.language_model.MOST_READ", 10)
    assert np.allclose(together, model.log_perplexity(asked), atol=1e-3)
    assert all(np.array_equal(a, b) for a, b in zip(words, model.next_words(asked), strict=True))


def test_what_repeats_is_learnt():
    turning = [[(start + i) % 12 for i in range(8)] for start in range(12)] * 8
    model = LanguageModel(**SMALL, epochs=30, learning_rate=1e-2).fit(turning)
    assert model.perplexity([turning[0][1:]]) < 2.5, "only the first token can't be known"
    assert np.array_equal(model.next_words(turning[:12]), (np.array(turning[:12]) + 1) % 12)
    assert model.perplexity(drawn(20)) > 30, "worse than guessing one of twelve: it is sure of what does not come"


def test_a_long_sequence_is_learnt_in_pieces_and_scored_whole():
    long = [[i % 12 for i in range(50)]] * 30
    cut, whole = (LanguageModel(**SMALL, epochs=60, learning_rate=2e-2, reach=reach).fit(long) for reach in (7, 100))
    for model in (cut, whole):
        bits = model.bits(long[:1])[0]
        assert len(bits) == 50
        assert bits[1:].mean() < 1
    assert cut.log_.losses != whole.log_.losses


def test_a_seed_gives_the_same_model_and_another_one_another():
    first, again, other = (LanguageModel(**SMALL, epochs=1, dropout=0.2, seed=s).fit(drawn()) for s in (1, 1, 2))
    assert np.array_equal(first.log_perplexity(drawn()), again.log_perplexity(drawn()))
    assert not np.allclose(first.log_perplexity(drawn()), other.log_perplexity(drawn()))


def test_a_model_is_an_artifact(tmp_path, model):
    recipe = LanguageModelRecipe(LanguageModel(**SMALL, epochs=2), drawn())
    made = Artifacts(tmp_path).get(recipe)
    assert np.array_equal(made.log_perplexity(drawn()), model.log_perplexity(drawn()))
    assert Artifacts(tmp_path).holds(LanguageModelRecipe(LanguageModel(**SMALL, epochs=2), drawn()))
    assert not Artifacts(tmp_path).holds(LanguageModelRecipe(LanguageModel(**SMALL, epochs=2), drawn(59)))
    assert not Artifacts(tmp_path).holds(LanguageModelRecipe(LanguageModel(**SMALL, epochs=3), drawn()))
    assert {p.suffix for p in tmp_path.rglob("files/*")} == {".safetensors"}


def test_whoever_watches_sees_a_model_after_every_epoch():
    seen = []
    asked = drawn(5, seed=9)
    final = LanguageModel(**SMALL, epochs=3, dropout=0.5).fit(
        drawn(), told=lambda model, epoch: seen.append((epoch, model.log_perplexity(asked)))
    )
    assert [epoch for epoch, _ in seen] == [1, 2, 3]
    assert np.array_equal(seen[-1][1], final.log_perplexity(asked)), "dropout must be off while it is asked"
    plain = LanguageModel(**SMALL, epochs=3, dropout=0.5).fit(drawn())
    assert np.array_equal(plain.log_perplexity(asked), final.log_perplexity(asked)), "watching must change nothing"


def test_an_empty_sequence_has_no_bits(model):
    assert model.log_perplexity([[], [3]])[0] == 0
    assert len(model.next_words([[]])[0]) == 0


@pytest.mark.parametrize("sequences", [[[0, 12]], [[-1]]])
def test_a_token_the_model_does_not_know_is_refused(model, sequences):
    with pytest.raises(UsageError, match="none of the 12"):
        model.log_perplexity(sequences)
    with pytest.raises(UsageError, match="none of the 12"):
        LanguageModel(**SMALL).fit(sequences)


def test_nothing_to_learn_from_or_to_measure_is_said(model):
    with pytest.raises(CannotMeasureError, match="no sequence"):
        LanguageModel(**SMALL).fit([])
    with pytest.raises(CannotMeasureError, match="no token"):
        model.perplexity([[]])
    with pytest.raises(UsageError, match="'reach'"):
        LanguageModel(**SMALL, reach=0).fit(drawn())
    with pytest.raises(UsageError, match="'dropout'"):
        LanguageModel(**SMALL, dropout=1.0).fit(drawn())
