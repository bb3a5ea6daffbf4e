"""Universal Sentence Encoder lite: its files, word pieces and forward pass, and the real weights where they are."""

import math
import os
import pickle

import numpy as np
import pytest
from use_lite_maker import HEADS, PIECES, WIDE, WIDTH, pack, write_model

from unembed.encoders import WhiteBoxEncoder, build_encoder
from unembed.encoders.unigram import UnigramTokeniser
from unembed.encoders.use_lite import UseLiteEncoder
from unembed.errors import DataError, UsageError
from unembed.testing import check_encoder

torch = pytest.importorskip("torch", reason="the extra neural is not installed")

TEXTS = ["the red sea", "the seas", "the red sea", "a singing star at the sea", ""]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("use") / "dist"
    write_model(place)
    return place


@pytest.fixture(scope="module")
def encoder(folder):
    return UseLiteEncoder(str(folder), device="cpu")


def test_conforms_and_is_a_white_box(encoder):
    check_encoder(encoder, TEXTS)
    assert isinstance(encoder, WhiteBoxEncoder)
    assert encoder.card.open_weights
    assert encoder.card.dimension == WIDE
    assert encoder.vocabulary[:4] == ["<�>", "<s>", "</s>", "<extra_1>"]
    assert encoder.vocabulary[6:] == [piece for piece, _ in PIECES[6:]]
    assert encoder.word_matrix.shape == (len(PIECES), WIDTH)


def test_folder_package_folder_and_package_file_are_one_encoder(encoder, folder, tmp_path):
    packed = pack(folder, tmp_path / "model.tgz")
    for place in (folder.parent, packed):
        other = build_encoder(f"use-lite:{place}", {"device": "cpu"})
        assert other.card == encoder.card
        np.testing.assert_array_equal(other.encode(TEXTS), encoder.encode(TEXTS))


def test_other_weights_have_another_digest(encoder, tmp_path):
    write_model(tmp_path, seed=1)
    assert UseLiteEncoder(str(tmp_path)).card.digest != encoder.card.digest


def test_the_forward_pass_agrees_with_one_written_out(tmp_path):
    w = {name: array.reshape([s for s in array.shape if s > 1]) for name, array in write_model(tmp_path).items()}
    encoder = UseLiteEncoder(str(tmp_path), device="cpu")
    (ids,) = encoder.token_ids([TEXTS[3]])
    words = w["words"][ids].astype(np.float64)
    angles = np.arange(len(ids))[:, None] * w["frequencies"]
    hidden = words + (words + np.concatenate([np.sin(angles), np.cos(angles)], axis=1))

    def norm(x, name):
        spread = np.sqrt(((x - x.mean(1, keepdims=True)) ** 2).mean(1, keepdims=True) + 1e-6)
        return (x - x.mean(1, keepdims=True)) / spread * w[f"{name}.norm.scale"] + w[f"{name}.norm.bias"]

    def dense(x, name):
        return x @ w[f"{name}.kernel"] + w[f"{name}.bias"]

    layers = [words.mean(0)]
    for n in (0, 1):
        carried = dense(hidden, "widen") if n == 0 else hidden
        inner = norm(hidden, f"{n}.attend")
        q, k, v = np.split(dense(inner, f"{n}.qkv"), 3, axis=1)
        size = q.shape[1] // HEADS
        heads = []
        for h in range(HEADS):
            part = slice(h * size, (h + 1) * size)
            scores = np.exp(q[:, part] @ k[:, part].T / math.sqrt(size))
            heads.append(scores / scores.sum(1, keepdims=True) @ v[:, part])
        hidden = carried + dense(np.concatenate(heads, axis=1), f"{n}.attend.out")
        fed = np.maximum(dense(norm(hidden, f"{n}.feed"), f"{n}.feed.in"), 0)
        hidden = hidden + dense(fed, f"{n}.feed.out")
        layers.append(hidden.mean(0))
    out = np.tanh(dense(hidden.mean(0), "out"))
    np.testing.assert_allclose(encoder.encode([TEXTS[3]])[0], out / np.linalg.norm(out), atol=1e-5)
    for number, expected in enumerate(layers):
        np.testing.assert_allclose(encoder.layer_output(TEXTS, number)[3], expected, atol=1e-4)


def test_soft_words_give_what_encode_and_layers_give_and_carry_gradients(encoder):
    (ids,) = encoder.token_ids([TEXTS[3]])
    weights = torch.nn.functional.one_hot(torch.tensor([ids]), len(encoder.vocabulary)).float().requires_grad_()
    soft = encoder.encode_soft(weights)
    np.testing.assert_allclose(soft.detach().numpy(), encoder.encode([TEXTS[3]]), atol=1e-5)
    for layer in (0, 1, 2):
        found = encoder.encode_soft(weights, layer=layer).detach().numpy()
        np.testing.assert_allclose(found, encoder.layer_output([TEXTS[3]], layer), atol=1e-4)
    kept = sorted({*ids, 7, 9})
    some = encoder.encode_soft(weights[:, :, kept], tokens=kept)
    np.testing.assert_allclose(some.detach().numpy(), soft.detach().numpy(), atol=1e-6)
    soft[0, 0].backward()
    assert weights.grad.abs().sum() > 0


def test_padding_and_batches_change_nothing(folder):
    long = [" ".join(["the red sea"] * n) for n in (1, 9, 3, 40, 2)]
    one_by_one = UseLiteEncoder(str(folder), device="cpu", batch_tokens=1).encode(long)
    together = UseLiteEncoder(str(folder), device="cpu", batch_tokens=100_000).encode(long)
    np.testing.assert_allclose(one_by_one, together, atol=1e-5)


def test_longer_texts_are_cut(folder):
    short = UseLiteEncoder(str(folder), device="cpu", max_tokens=3)
    np.testing.assert_allclose(*short.encode(["the red sea", "the red sea the the"]), atol=1e-6)
    assert short.token_ids(["the red sea the the"]) == short.token_ids(["the red sea"])
    with pytest.raises(UsageError, match="1 to 128"):
        _ = UseLiteEncoder(str(folder), max_tokens=129).card


def test_a_worker_gets_parameters_and_reads_the_files_itself(encoder):
    copy = pickle.loads(pickle.dumps(encoder))
    np.testing.assert_array_equal(copy.encode(TEXTS), encoder.encode(TEXTS))


# Word pieces


def cut(text):
    tokeniser = UnigramTokeniser([(piece, score or 0.0) for piece, score in PIECES])
    return [tokeniser.pieces[row] for row in tokeniser.ids(text)]


def test_the_cut_with_the_highest_score_wins():
    assert cut("the seas") == ["▁the", "▁sea", "s"]
    assert cut("sing") == ["▁", "s", "ing"]
    assert cut("  the\n\tsea ") == ["▁the", "▁sea"]
    assert cut("") == []


def test_unknown_characters_in_a_row_are_one_unknown():
    assert cut("the 日本 sea") == ["▁the", "▁", "�", "▁sea"]
    assert cut("日a本") == ["▁", "�", "a", "�"]


def test_reserved_symbols_are_never_read_from_a_text():
    assert "<s>" not in cut("<s>")
    assert cut("ﬁ") == ["▁", "f", "i"], "compatibility forms are taken apart"


# What can be wrong with the files


def test_missing_and_damaged_files_are_named(tmp_path, folder):
    with pytest.raises(UsageError, match="no such folder"):
        _ = UseLiteEncoder(str(tmp_path / "nowhere")).card
    with pytest.raises(DataError, match=r"no model\.json"):
        _ = UseLiteEncoder(str(tmp_path)).card
    write_model(tmp_path / "part", leave_out=("out.bias",))
    with pytest.raises(DataError, match="lacks"):
        _ = UseLiteEncoder(str(tmp_path / "part")).card
    write_model(tmp_path / "short")
    (tmp_path / "short" / "group1-shard2of2").write_bytes(b"\0\0")
    with pytest.raises(DataError, match="damaged"):
        _ = UseLiteEncoder(str(tmp_path / "short")).card
    (tmp_path / "short" / "group1-shard2of2").unlink()
    with pytest.raises(UsageError, match=r"no model file at .*group1-shard2of2"):
        _ = UseLiteEncoder(str(tmp_path / "short")).card
    (tmp_path / "no.tgz").write_bytes(b"not a package")
    with pytest.raises(DataError, match=r"not a readable \.tgz"):
        _ = UseLiteEncoder(str(tmp_path / "no.tgz")).card
    whole = pack(folder, tmp_path / "whole.tgz").read_bytes()
    (tmp_path / "half.tgz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError):
        _ = UseLiteEncoder(str(tmp_path / "half.tgz")).card


def test_there_are_three_layers(encoder):
    with pytest.raises(UsageError, match="layer 3"):
        encoder.layer_output(["sea"], 3)


# The real weights

PARAPHRASES = [
    ("The cat is sleeping on the sofa.", "A cat sleeps on the couch."),
    ("How old are you?", "What is your age?"),
    ("The company lost a lot of money last year.", "Last year the firm made heavy losses."),
    ("He repaired his old bicycle.", "He fixed his old bike."),
    ("It will probably rain tomorrow.", "Rain is likely tomorrow."),
    ("She teaches mathematics at a school.", "She is a maths teacher."),
    ("The train arrived two hours late.", "The train was delayed by two hours."),
    ("I don't like spicy food.", "I dislike hot and spicy dishes."),
]


@pytest.fixture(scope="module")
def real():
    place = os.environ.get("UNEMBED_USE_LITE")
    if not place:
        pytest.skip("UNEMBED_USE_LITE names no folder or package of Universal Sentence Encoder lite")
    return UseLiteEncoder(place, device="cpu")


@pytest.mark.data
def test_real_weights_are_the_published_ones_and_give_their_vectors(real):
    assert real.card.name == "universal-sentence-encoder-lite"
    assert real.card.licence == "Apache-2.0"
    (vector,) = real.encode(["The committee postponed its decision until the following spring."])
    # What the model's original runtime gives for this sentence.
    original = [-0.03268398344516754, -0.03896714001893997, -0.06233245134353638, -0.03258192911744118]
    np.testing.assert_allclose(vector[:4], original, atol=2e-6)


@pytest.mark.data
def test_real_weights_know_paraphrases(real):
    left, right = (real.encode([pair[side] for pair in PARAPHRASES]) for side in (0, 1))
    likeness = left @ right.T
    assert (likeness.argmax(axis=1) == np.arange(len(PARAPHRASES))).all()
    assert np.diag(likeness).mean() > 0.65
    assert likeness[~np.eye(len(PARAPHRASES), dtype=bool)].mean() < 0.3
