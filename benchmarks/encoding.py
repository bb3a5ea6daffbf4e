"""Sentences a second of the bundled encoder, beside sentence-transformers on the same texts and weights.

Run: python benchmarks/encoding.py [--texts 1000] [--threads 1] [--rounds 3]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from unembed.encoders.minilm import MiniLmEncoder
from unembed.encoders.sentence_transformer import SentenceTransformerEncoder


def sentences(count: int) -> list[str]:
    """Sentences of 3 to 60 words (15 on average) over a small vocabulary, always the same ones."""
    generator = np.random.default_rng(0)
    words = ["the", "of", "patient", "house", "river", "number", "small", "green", "under", "walked", "seven"]
    lengths = np.clip(generator.gamma(3.0, 5.0, size=count).astype(int), 3, 60)
    return [" ".join(generator.choice(words, size=n)) for n in lengths]


def best_rates(ways: dict[str, Callable[[], object]], count: int, rounds: int) -> dict[str, float]:
    """Texts a second of CPU time, best of some rounds; the ways take turns, so that all meet the same noise."""
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, way in ways.items():
            start = time.process_time()
            way()
            best[name] = min(best[name], time.process_time() - start)
    return {name: count / seconds for name, seconds in best.items()}


def bare_pass(encoder: MiniLmEncoder, texts: list[str]) -> Callable[[], None]:
    """The limit: the model's forward pass alone, on batches of one length without any padding."""
    import torch

    core = encoder._core
    ids, _ = core.tokeniser.tokens(texts, core.max_tokens)
    by_length: dict[int, list[list[int]]] = {}
    for row in ids:
        by_length.setdefault(len(row), []).append(row)
    batches = []
    for length, rows in by_length.items():
        size = max(1, core.batch_tokens // length)
        batches += [torch.tensor(rows[i : i + size]) for i in range(0, len(rows), size)]

    def forward() -> None:
        with torch.inference_mode():
            for batch in batches:
                core.model(input_ids=batch, attention_mask=torch.ones_like(batch))

    return forward


def main() -> None:
    """Print the three rates and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    import torch

    torch.set_num_threads(options.threads)
    texts = sentences(options.texts)
    ours = MiniLmEncoder(device="cpu")
    theirs = SentenceTransformerEncoder(str(ours._folder), device="cpu", batch_size=32)
    apart = float(np.abs(ours.encode(texts[:200]) - theirs.encode(texts[:200])).max())
    ways: dict[str, Callable[[], object]] = {
        "sentence-transformers": lambda: theirs.encode(texts),
        "unembed": lambda: ours.encode(texts),
        "bare forward pass": bare_pass(ours, texts),
    }
    rates = best_rates(ways, len(texts), options.rounds)
    print(f"{options.texts} texts, {options.threads} threads, largest difference {apart:.1e}")
    for name, rate in rates.items():
        print(f"{name:22} {rate:8.1f} texts per CPU second   unembed is {rates['unembed'] / rate:.2f} x")


if __name__ == "__main__":
    main()
