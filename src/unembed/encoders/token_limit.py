"""How much of a text is left when a tokenizer cuts it at a model's longest input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from unembed.encoders.base import Seen

#: Texts that are tokenised at a time: the tokens of all of them would fill the memory.
_TEXTS_AT_ONCE = 1024


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
