"""Making encoders from names, options and objects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from unembed.encoders import ENCODERS, EncoderCard, build_encoder, encoder_problem
from unembed.errors import PluginError, UnknownNameError, UsageError


class LengthEncoder:
    """A user's own encoder: no base class."""

    card = EncoderCard(name="length", family="mine", digest=None, dimension=1, normalised=False)

    def encode(self, texts, *, role="document"):
        return np.array([[len(t)] for t in texts], dtype=np.float32)


def test_all_names_resolve():
    assert {"tfidf", "hashing", "lsa", "transformer", "sentence-transformer", "callable"} <= set(ENCODERS)
    assert {"vectors", "endpoint", "minilm"} <= set(ENCODERS)
    for name in ENCODERS:
        assert encoder_problem(ENCODERS.get(name)) is None


def test_listing_names_loads_nothing_heavy():
    code = (
        "import sys; from unembed.encoders import ENCODERS; from unembed.collections import COLLECTIONS;"
        "[ENCODERS.get(n) for n in ENCODERS]; [COLLECTIONS.get(n) for n in COLLECTIONS];"
        "heavy = {'torch', 'sklearn', 'pyarrow', 'transformers', 'httpx', 'scipy'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_strings_of_the_command_line_become_typed_values():
    encoder = build_encoder(
        "transformer:/some/folder",
        {"layer": "-2", "normalise": "true", "max_tokens": "none", "prompts": '{"query": "q: "}'},
    )
    assert encoder.get_params() | {"layer": -2, "normalise": True, "max_tokens": None} == encoder.get_params()
    assert encoder.prompts == {"query": "q: "}
    assert encoder.model == "/some/folder"


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"layr": 3}, UnknownNameError, "did you mean 'layer'"),
        ({"layer": "six"}, UsageError, "option 'layer'"),
        ({"layer": 1.5}, UsageError, "option 'layer'"),
        ({"layer": True}, UsageError, "must be a number"),
        ({"pooling": "men"}, UnknownNameError, "'mean'"),
        ({"normalise": "perhaps"}, UsageError, "option 'normalise'"),
        ({"prompts": "query"}, UsageError, "JSON object"),
        ({"model": "other"}, UsageError, "twice"),
    ],
)
def test_wrong_options_say_what_is_wrong(options, error, message):
    with pytest.raises(error, match=message):
        build_encoder("transformer:x/y", options)


def test_options_that_a_class_inherits_are_checked_and_converted_too():
    made = build_encoder("fasttext", {"dimension": "7", "table": "words.vec"})
    assert made.dimension == 7
    with pytest.raises(UnknownNameError, match="did you mean 'cbow'"):
        build_encoder("fasttext", {"architecture": "cbw"})


def test_missing_and_surplus_values():
    with pytest.raises(UsageError, match="needs the option model"):
        build_encoder("transformer")
    with pytest.raises(UsageError, match="after a colon"):
        build_encoder("hashing:x")
    with pytest.raises(UnknownNameError, match="did you mean 'hashing'"):
        build_encoder("hashin")


def test_objects_that_answer_are_encoders():
    encoder = LengthEncoder()
    assert build_encoder(encoder) is encoder
    with pytest.raises(UsageError, match="not an encoder"):
        build_encoder(object())
    with pytest.raises(UsageError, match="options"):
        build_encoder(encoder, {"x": 1})


def test_an_encoder_from_a_file(tmp_path: Path):
    file = tmp_path / "mine.py"
    file.write_text(
        "import numpy as np\n"
        "from unembed.encoders import EncoderCard\n"
        "class Mine:\n"
        "    def __init__(self, *, width: int = 2): self.width = width\n"
        "    @property\n"
        "    def card(self): return EncoderCard('mine', 'mine', None, self.width, False)\n"
        "    def encode(self, texts, *, role='document'):\n"
        "        return np.ones((len(texts), self.width), dtype=np.float32)\n"
        "class Half:\n"
        "    card = None\n"
        "def wrong(): return 3\n"
    )
    assert build_encoder(f"{file}:Mine", {"width": "5"}).encode(["a"]).shape == (1, 5)
    with pytest.raises(PluginError, match="encode"):
        build_encoder(f"{file}:Half")
    with pytest.raises(PluginError, match="no encode and card"):
        build_encoder(f"{file}:wrong")


def test_a_callable_from_a_file_and_from_a_module(tmp_path: Path):
    file = tmp_path / "fn.py"
    file.write_text("def embed(texts):\n    return [[len(t), 1.0] for t in texts]\n")
    encoder = build_encoder(f"callable:{file}:embed")
    np.testing.assert_array_equal(encoder.encode(["abc"]), [[3, 1]])
    assert encoder.card.digest is None
    assert build_encoder(f"callable:{file}:embed", {"version": "1"}).card.digest is not None
    with pytest.raises(UnknownNameError, match="'embed'"):
        build_encoder(f"callable:{file}:embd").encode(["a"])
    with pytest.raises(PluginError, match="can't be imported"):
        build_encoder("callable:no_such_module_here:f").encode(["a"])
    with pytest.raises(UsageError, match="module:name"):
        build_encoder("callable:nothing").encode(["a"])
