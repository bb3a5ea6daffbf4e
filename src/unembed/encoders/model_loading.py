"""Opening a Hugging Face model folder with the transformers library: no foreign code, no pickled objects."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from unembed.encoders.base import Seen
from unembed.encoders.model_folders import require_weights
from unembed.errors import DataError, MissingExtraError
from unembed.files import read_json

# fmt: off
#: Models that number positions from the padding id on, and so have fewer than the table has rows.
_SHIFTED_POSITIONS = frozenset((
    "camembert", "data2vec-text", "ibert", "longformer", "mpnet", "roberta", "roberta-prelayernorm", "xlm-roberta",
    "xlm-roberta-xl",
))
# fmt: on
#: Taken where neither the model nor its tokenizer states a limit.
_DEFAULT_MAX_TOKENS = 512
#: Texts that are tokenised at a time: the tokens of all of them would fill the memory.
_TEXTS_AT_ONCE = 1024


@dataclass(frozen=True)
class ModelFacts:
    """What a model's configuration says, known without loading the weights."""

    dimension: int
    layers: int
    max_tokens: int
    limited: bool


def read_facts(folder: Path) -> ModelFacts:
    """Dimension, number of layers and longest input of the model in a folder."""
    config = _text_config(folder)
    try:
        dimension, layers = int(config.hidden_size), int(config.num_hidden_layers)
    except (AttributeError, TypeError):
        raise DataError(f"{folder}/config.json does not state a hidden size and a number of layers") from None
    limits = []
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        shifted = config.model_type in _SHIFTED_POSITIONS
        limits.append(positions - (config.pad_token_id + 1 if shifted else 0))
    stated = _tokenizer_settings(folder).get("model_max_length")
    if isinstance(stated, int) and 0 < stated < 10**6:
        limits.append(stated)
    return ModelFacts(dimension, layers, min(limits, default=_DEFAULT_MAX_TOKENS), bool(limits))


def load_body(folder: Path, *, dtype: str, device: str) -> Any:
    """The model without heads, in evaluation mode; the encoder half of an encoder-decoder."""
    torch, transformers = _libraries()
    safe = require_weights(folder)
    try:
        with quiet_transformers(), torch.random.fork_rng(devices=[]):
            model, report = transformers.AutoModel.from_pretrained(
                folder,
                use_safetensors=safe,
                weights_only=True,
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
            )
    except Exception as error:  # the library raises many kinds; each means that this folder can't be used
        raise DataError(f"the model in {folder} can't be loaded: {first_line(error)}") from error
    missing = [key for key in report["missing_keys"] if "pooler" not in key]
    if missing:
        raise DataError(f"the weights in {folder} lack {len(missing)} parameters of the model, e.g. {missing[0]}")
    if model.config.is_encoder_decoder:
        model = model.get_encoder()
    model.config.use_cache = False
    return model.to(device=device, dtype=getattr(torch, dtype)).eval().requires_grad_(False)


class FolderTokeniser:
    """The tokenizer of a model folder, as the hot path needs it; padding is done there, not here."""

    def __init__(self, folder: Path) -> None:
        _, transformers = _libraries()
        try:
            with quiet_transformers():
                self._tokenizer = transformers.AutoTokenizer.from_pretrained(
                    folder, trust_remote_code=False, local_files_only=True
                )
        except Exception as error:  # as above
            raise DataError(f"the tokenizer in {folder} can't be loaded: {first_line(error)}") from error
        special = (self._tokenizer.pad_token_id, self._tokenizer.eos_token_id, self._tokenizer.bos_token_id)
        self.pad_id = next((int(i) for i in special if i is not None), 0)
        # A text without a token (the empty one, for GPT-2) is read as the end-of-text token alone.
        self._nothing = next((int(i) for i in reversed(special) if i is not None), 0)
        self._typed = "token_type_ids" in self._tokenizer.model_input_names

    def tokens(self, texts: Sequence[str], max_tokens: int) -> tuple[list[list[int]], list[list[int]] | None]:
        """Token ids with special tokens, cut at ``max_tokens``, and segment ids where the model has them."""
        if self._tokenizer.is_fast:
            return self._quick_tokens(texts, max_tokens)
        found = self._tokenizer(
            list(texts),
            truncation=True,
            max_length=max_tokens,
            padding=False,
            return_attention_mask=False,
            return_token_type_ids=self._typed,
        )
        ids = [i or [self._nothing] for i in found["input_ids"]]
        return ids, [s or [0] for s in found["token_type_ids"]] if self._typed else None

    def _quick_tokens(self, texts: Sequence[str], max_tokens: int) -> tuple[list[list[int]], list[list[int]] | None]:
        """The same from the compiled tokenizer: it works on all cores, the wrapper around it on one."""
        compiled = self._tokenizer.backend_tokenizer
        compiled.no_padding()
        compiled.enable_truncation(max_tokens, direction=self._tokenizer.truncation_side)
        found = compiled.encode_batch_fast(list(texts))
        ids = [text.ids or [self._nothing] for text in found]
        return ids, [text.type_ids or [0] for text in found] if self._typed else None

    def seen(self, texts: Sequence[str], max_tokens: int, prefix: str = "") -> Seen:
        """How much of each text is left after the cut at ``max_tokens``."""
        return seen_by(self._tokenizer, texts, max_tokens, prefix)

    def around(self, prefix: str) -> tuple[list[int], list[int]]:
        """The ids before and after the words of a text."""
        probe = self._tokenizer("a", return_special_tokens_mask=True)
        marks, ids = list(probe["special_tokens_mask"]), list(probe["input_ids"])
        first = marks.index(0)
        last = len(marks) - marks[::-1].index(0)
        prompt = self._tokenizer(prefix, add_special_tokens=False)["input_ids"] if prefix else []
        return ids[:first] + list(prompt), ids[last:]

    def vocabulary(self, size: int) -> list[str]:
        """The tokens by id; rows of the embedding table that no token uses are called ``[row i]``."""
        names = [f"[row {i}]" for i in range(size)]
        for token, index in self._tokenizer.get_vocab().items():
            if index < size:
                names[index] = token
        return names


def seen_by(tokenizer: Any, texts: Sequence[str], max_tokens: int, prefix: str = "") -> Seen:
    """What a tokenizer of the transformers library keeps of texts that follow a prompt.

    The compiled tokenizers hand over what they cut off and where each token stands, so one pass is enough. The
    others only count.
    """
    count = _cut_and_rest if tokenizer.is_fast else _counted
    rows = [
        row
        for start in range(0, len(texts), _TEXTS_AT_ONCE)
        for row in count(tokenizer, [prefix + t for t in texts[start : start + _TEXTS_AT_ONCE]], max_tokens, prefix)
    ]
    tokens, read, ends = np.array(rows, dtype=np.int64).reshape(-1, 3).T
    kept = "last" if tokenizer.truncation_side == "left" else "first"
    characters = None
    if tokenizer.is_fast and kept == "first":
        whole = np.array([len(text) for text in texts], dtype=np.int64)
        characters = np.where(read < tokens, np.minimum(ends, whole), whole)
    return Seen(max_tokens, tokens, read, characters, kept)  # type: ignore[arg-type]


def _cut_and_rest(tokenizer: Any, texts: Sequence[str], max_tokens: int, prefix: str) -> Iterator[tuple[int, int, int]]:
    """Per text its tokens, those kept, and where the last of them ends in the text."""
    compiled = tokenizer.backend_tokenizer
    compiled.no_padding()
    compiled.enable_truncation(max_tokens, direction=tokenizer.truncation_side)
    before = len(prefix)
    for found in compiled.encode_batch(list(texts)):
        read = _ends(found, before)
        rest = sum(len(_ends(part, before)) for part in found.overflowing)
        yield len(read) + rest, len(read), max(read, default=before) - before


def _ends(found: Any, before: int) -> list[int]:
    """Where the text's own tokens end: neither special ones nor those of the prompt."""
    return [
        end
        for (_, end), special in zip(found.offsets, found.special_tokens_mask, strict=True)
        if end > before and not special
    ]


def _counted(tokenizer: Any, texts: Sequence[str], max_tokens: int, prefix: str) -> Iterator[tuple[int, int, int]]:
    """The same without places."""
    prompt = len(tokenizer(prefix, add_special_tokens=False)["input_ids"]) if prefix else 0
    room = max(0, max_tokens - tokenizer.num_special_tokens_to_add() - prompt)
    for ids in tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)["input_ids"]:
        tokens = max(0, len(ids) - prompt)
        yield tokens, min(tokens, room), 0


@contextlib.contextmanager
def quiet_transformers() -> Iterator[None]:
    """No progress bars and load reports of the transformers library while a model is opened."""
    _, transformers = _libraries()
    logging = transformers.utils.logging
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


def _text_config(folder: Path) -> Any:
    if not (folder / "config.json").is_file():
        raise DataError(f"{folder} is not a model folder: config.json is missing")
    _, transformers = _libraries()
    try:
        config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # as in load_body
        raise DataError(f"{folder}/config.json can't be used: {first_line(error)}") from error
    return config.get_text_config()


def _tokenizer_settings(folder: Path) -> dict[str, Any]:
    path = folder / "tokenizer_config.json"
    if not path.is_file():
        return {}
    return read_json(path, "tokenizer configuration")


def _libraries() -> tuple[Any, Any]:
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError("a transformer encoder", "neural") from error
    return torch, transformers


def first_line(error: Exception) -> str:
    """What an error of a library says, short enough for one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
