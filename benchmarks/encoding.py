"""The bundled encoder beside its own forward pass without padding, its matrix products, and sentence-transformers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from measure import Case, Yardstick

from unembed.encoders.minilm import MiniLmEncoder
from unembed.encoders.sentence_transformer import SentenceTransformerEncoder

TEXTS = 160


def sentences(count: int) -> list[str]:
    """Sentences of 3 to 60 words (15 on average) over a small vocabulary, always the same ones."""
    generator = np.random.default_rng(0)
    words = ["the", "of", "patient", "house", "river", "number", "small", "green", "under", "walked", "seven"]
    lengths = np.clip(generator.gamma(3.0, 5.0, size=count).astype(int), 3, 60)
    return [" ".join(generator.choice(words, size=n)) for n in lengths]


def batches_of_one_length(core: Any, texts: list[str]) -> list[torch.Tensor]:
    """Token numbers in batches without any padding."""
    ids, _ = core.tokeniser.tokens(texts, core.max_tokens)
    by_length: dict[int, list[list[int]]] = {}
    for row in ids:
        by_length.setdefault(len(row), []).append(row)
    batches = []
    for length, rows in by_length.items():
        size = max(1, core.batch_tokens // length)
        batches += [torch.tensor(rows[i : i + size]) for i in range(0, len(rows), size)]
    return batches


def forward(core: Any, batches: list[torch.Tensor]) -> Callable[[], None]:
    """The model's forward pass alone."""

    def run() -> None:
        with torch.inference_mode():
            for batch in batches:
                core.model(input_ids=batch, attention_mask=torch.ones_like(batch))

    return run


def products(core: Any, tokens: int) -> Callable[[], None]:
    """The products of all layers with their weights, in batches as large as the encoder's."""
    layers = [m for m in core.model.encoder.modules() if isinstance(m, torch.nn.Linear)]
    rows = min(tokens, core.batch_tokens)
    inputs = {m.in_features: torch.randn(rows, m.in_features) for m in layers}

    def run() -> None:
        with torch.inference_mode():
            for start in range(0, tokens, rows):
                for layer in layers:
                    inputs[layer.in_features][: tokens - start] @ layer.weight.T

    return run


def encoding(folder: Path) -> Case:
    """Texts to vectors, tokenising included."""
    texts = sentences(TEXTS)
    ours = MiniLmEncoder(device="cpu")
    theirs = SentenceTransformerEncoder(str(ours._folder), device="cpu", batch_size=32)
    apart = float(np.abs(ours.encode(texts) - theirs.encode(texts)).max())
    if apart > 1e-4:
        raise AssertionError(f"the two encoders' vectors differ by {apart:.1e}")
    core = ours._core
    batches = batches_of_one_length(core, texts)
    beside = (
        Yardstick("its forward pass, no padding", "FLOPs", forward(core, batches)),
        Yardstick("its matrix products", "FLOPs", products(core, sum(b.numel() for b in batches))),
        Yardstick("sentence-transformers", "reference", lambda: theirs.encode(texts)),
    )
    return Case("texts/s", TEXTS, lambda: ours.encode(texts), beside)


CASES = {"encode, MiniLM": encoding}
