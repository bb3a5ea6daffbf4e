"""Transformer encoders: layers, pooling, padding, white-box access, identity."""

from __future__ import annotations

import pickle
import shutil

import numpy as np
import pytest
from sklearn.base import clone

from unembed.encoders.base import WhiteBoxEncoder
from unembed.encoders.transformer import TransformerEncoder
from unembed.errors import DataError, UnknownNameError, UsageError

torch = pytest.importorskip("torch")

KINDS = ["bert", "roberta", "albert", "gpt2", "t5", "xlnet"]
TEXTS = ["the cat sat", "a", "the big red dog ran under the house and then slept", "a dog", "the cat sat"]


def reference(folder, text, layer, pooling):
    """The text alone, without padding, through the transformers library directly."""
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder).eval()
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    inputs = AutoTokenizer.from_pretrained(folder)(text, return_tensors="pt")
    inputs = {k: v for k, v in inputs.items() if k in ("input_ids", "attention_mask", "token_type_ids")}
    if model.config.model_type not in ("bert", "albert", "roberta", "xlnet"):
        inputs.pop("token_type_ids", None)
    with torch.no_grad():
        hidden = model(**inputs, output_hidden_states=True).hidden_states[layer][0]
    return {"mean": hidden.mean(0), "first": hidden[0], "last": hidden[-1]}[pooling].numpy()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pooling", ["mean", "first", "last"])
def test_padding_batches_and_layers_give_the_vector_of_the_text_alone(tiny_model, kind, pooling):
    folder = tiny_model(kind)
    for layer in (0, 2, -1):
        encoder = TransformerEncoder(str(folder), layer=layer, pooling=pooling, device="cpu", batch_tokens=24)
        vectors = encoder.encode(TEXTS)
        assert vectors.dtype == np.float32
        assert vectors.shape == (5, encoder.card.dimension)
        expected = np.stack([reference(folder, t, layer, pooling) for t in TEXTS])
        np.testing.assert_allclose(vectors, expected, atol=2e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_one_hot_soft_words_give_the_encoders_own_vector(tiny_model, kind):
    encoder = TransformerEncoder(str(tiny_model(kind)), normalise=True, device="cpu")
    assert isinstance(encoder, WhiteBoxEncoder)
    text = "the big dog sat"
    ids = encoder.token_ids([text])[0]
    assert [encoder.vocabulary[i] for i in ids] == text.split()
    weights = torch.nn.functional.one_hot(torch.tensor([ids]), len(encoder.vocabulary)).float()
    weights.requires_grad_()
    soft = encoder.encode_soft(weights)
    np.testing.assert_allclose(soft.detach().numpy(), encoder.encode([text]), atol=2e-5)
    soft[0, 0].backward()
    assert weights.grad is not None
    assert weights.grad.abs().sum() > 0
    lower = encoder.encode_soft(weights, layer=1).detach().numpy()
    np.testing.assert_allclose(lower, encoder.layer_output([text], 1), atol=2e-5)
    assert encoder.word_matrix.shape[0] == len(encoder.vocabulary)


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_empty_odd_and_long_texts_have_vectors(tiny_model, kind):
    encoder = TransformerEncoder(str(tiny_model(kind)), device="cpu")
    vectors = encoder.encode(["", "   ", "lone \ud800 surrogate", "cat " * 500, "\x00"])
    assert np.isfinite(vectors).all()
    assert encoder.encode([]).shape == (0, 16)
    np.testing.assert_allclose(encoder.encode(["cat " * 500]), encoder.encode(["cat " * 600]), atol=1e-6)


def test_same_list_same_bits_and_no_memory_of_earlier_calls(tiny_model):
    first = TransformerEncoder(str(tiny_model("bert")), device="cpu")
    second = TransformerEncoder(str(tiny_model("bert")), device="cpu")
    second.encode(["dog dog dog", "a mat"])
    assert first.encode(TEXTS).tobytes() == second.encode(TEXTS).tobytes()


def test_prompts_change_the_vector_by_role(tiny_model):
    encoder = TransformerEncoder(str(tiny_model("bert")), prompts={"query": "the red "}, device="cpu")
    plain = TransformerEncoder(str(tiny_model("bert")), device="cpu")
    np.testing.assert_array_equal(encoder.encode(["cat"]), plain.encode(["cat"]))
    np.testing.assert_array_equal(encoder.encode(["cat"], role="query"), plain.encode(["the red cat"]))
    assert encoder.card.cache_key("query") != plain.card.cache_key("query")


def test_every_option_that_changes_vectors_changes_the_cache_key(tiny_model):
    folder = str(tiny_model("bert"))
    variants = [{}, {"layer": 1}, {"pooling": "first"}, {"normalise": True}, {"max_tokens": 4}, {"dtype": "bfloat16"}]
    encoders = [TransformerEncoder(folder, device="cpu", **v) for v in variants]
    assert len({e.card.cache_key("document") for e in encoders}) == len(variants)
    vectors = [e.encode(TEXTS).tobytes() for e in encoders]
    assert len(set(vectors)) == len(variants)


def test_digest_follows_the_weights(new_model):
    one, other = new_model("bert", 0, "one"), new_model("bert", 1, "other")
    digest = TransformerEncoder(str(one)).card.digest
    assert TransformerEncoder(str(other)).card.digest != digest
    shutil.copy(other / "model.safetensors", one / "model.safetensors")
    assert TransformerEncoder(str(one)).card.digest == TransformerEncoder(str(other)).card.digest


def test_weights_only_bin_is_read_and_a_pickle_with_code_is_not(new_model):
    folder = new_model("bert")
    from safetensors.torch import load_file

    before = TransformerEncoder(str(folder), device="cpu").encode(TEXTS)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    np.testing.assert_array_equal(TransformerEncoder(str(folder), device="cpu").encode(TEXTS), before)

    (folder / "pytorch_model.bin").write_bytes(pickle.dumps({"x": _Trap()}))
    with pytest.raises(DataError, match="can't be loaded"):
        TransformerEncoder(str(folder), device="cpu").encode(TEXTS)
    assert not _Trap.sprung


class _Trap:
    sprung = False

    def __reduce__(self):
        return (_spring, ())


def _spring():
    _Trap.sprung = True


def test_incomplete_weights_are_refused_not_filled_with_noise(new_model):
    from safetensors.torch import load_file, save_file

    folder = new_model("bert")
    weights = load_file(folder / "model.safetensors")
    weights.pop("encoder.layer.1.attention.self.query.weight")
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(DataError, match="lack 1 parameters"):
        TransformerEncoder(str(folder), device="cpu").encode(TEXTS)


def test_mistakes_are_one_line_errors(tiny_model, tmp_path, monkeypatch):
    folder = str(tiny_model("bert"))
    with pytest.raises(UsageError, match="0 \\(embeddings\\) to 3"):
        _ = TransformerEncoder(folder, layer=4).card
    with pytest.raises(UnknownNameError, match="'mean'"):
        _ = TransformerEncoder(folder, pooling="meen").card
    with pytest.raises(UsageError, match="from 1 to 32"):
        _ = TransformerEncoder(folder, max_tokens=99).card
    with pytest.raises(UsageError, match="allow_download=true"):
        _ = TransformerEncoder("nobody/no-such-model").card
    with pytest.raises(UsageError, match="no such model folder"):
        _ = TransformerEncoder(str(tmp_path / "gone")).card
    with pytest.raises(DataError, match=r"config\.json is missing"):
        _ = TransformerEncoder(str(tmp_path)).card
    with pytest.raises(UsageError, match="device"):
        TransformerEncoder(folder, device="warp").encode(["a"])


def test_clone_and_pickle_carry_parameters_not_weights(tiny_model):
    encoder = TransformerEncoder(str(tiny_model("bert")), layer=2, device="cpu")
    vectors = encoder.encode(TEXTS)
    sent = pickle.dumps(encoder)
    assert len(sent) < 2000
    np.testing.assert_array_equal(pickle.loads(sent).encode(TEXTS), vectors)
    assert clone(encoder).get_params() == encoder.get_params()


def test_loading_leaves_the_random_state_alone(tiny_model):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    TransformerEncoder(str(tiny_model("bert")), device="cpu").encode(["a"])
    assert torch.equal(torch.rand(3), expected)
