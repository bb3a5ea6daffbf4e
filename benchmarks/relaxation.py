"""Steps of `inversion/relaxation` a second, against the limit of its matrix products and against one text at a time.

    python benchmarks/relaxation.py --targets 16 --layer 6

Three ways over the same targets, in turns, best of some rounds, in CPU seconds on a processor: ours (all texts in one
batch), a plain loop over texts (autograd over the whole model, unfused Adam), and the products alone: the word matrix
forward and backward, and the model's weights forward and backward, at the shapes of the batch. The last is the limit.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch

from unembed.corpora.generators.public_text import generate_public_text
from unembed.encoders.minilm import MiniLmEncoder
from unembed.nn.device import pick_device
from unembed.nn.soft_words import Settings, recover


def ours(encoder: MiniLmEncoder, wanted: np.ndarray, words: int, settings: Settings, layer: int) -> None:
    """The attack's own search."""

    def soft(weights: torch.Tensor) -> torch.Tensor:
        passed: torch.Tensor = encoder.encode_soft(weights, layer=layer)
        return passed

    scale = np.ones(wanted.shape[1], dtype=np.float32)
    device = torch.device(encoder._core.device)
    recover(soft, wanted, scale, words, settings, seed=0, device=device, batch_size=len(wanted))


def plain(encoder: MiniLmEncoder, wanted: np.ndarray, words: int, settings: Settings, layer: int) -> None:
    """Algorithm 1 as one would write it down: one target after another."""
    device = encoder._core.device
    for row in wanted:
        aim = torch.from_numpy(row).to(device)
        z = torch.randn((1, settings.length, words), device=device).mul_(settings.temperature).requires_grad_()
        adam = torch.optim.Adam([z], lr=settings.learning_rate, foreach=False, fused=False)
        for _ in range(settings.steps):
            adam.zero_grad()
            out = encoder.encode_soft(torch.softmax(z / settings.temperature, dim=-1), layer=layer)
            (out - aim).square().sum().backward()
            adam.step()


def products(encoder: MiniLmEncoder, rows: int, words: int, layer: int) -> tuple[Callable[[], None], float]:
    """The matrix products of one step alone, forward and backward, and their FLOPs."""
    model = encoder._core.model
    table = model.get_input_embeddings().weight
    pairs = [(torch.randn(rows, words, device=table.device), table)]
    for block in model.encoder.layer[:layer]:
        for module in block.modules():
            if isinstance(module, torch.nn.Linear):
                pairs.append((torch.randn(rows, module.in_features, device=table.device), module.weight.T))
    backward = [torch.randn(rows, matrix.shape[1], device=table.device) for _, matrix in pairs]

    def step() -> None:
        with torch.no_grad():
            for (left, matrix), error in zip(pairs, backward, strict=True):
                left @ matrix
                error @ matrix.T

    return step, sum(4.0 * rows * matrix.shape[0] * matrix.shape[1] for _, matrix in pairs)


def main() -> None:
    """Print the three rates and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--targets", type=int, default=16)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--layer", type=int, default=6)
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    encoder = MiniLmEncoder(device=str(pick_device(options.device)), normalise=False)
    wanted = encoder.layer_output(generate_public_text(options.targets).texts, options.layer)
    words = len(encoder.vocabulary)
    settings = Settings(length=options.length, steps=options.steps, tolerance=0.0)
    one, flops = products(encoder, options.targets * options.length, words, options.layer)
    ways: dict[str, Callable[[], None]] = {
        "plain loop over texts": lambda: plain(encoder, wanted, words, settings, options.layer),
        "unembed": lambda: ours(encoder, wanted, words, settings, options.layer),
        "matrix products alone": lambda: [one() for _ in range(options.steps)] and None,
    }
    clock = time.process_time if options.device == "cpu" else time.perf_counter
    best = dict.fromkeys(ways, float("inf"))
    for _ in range(options.rounds):
        for name, way in ways.items():
            start = clock()
            way()
            if encoder._core.device != "cpu":
                torch.cuda.synchronize()
            best[name] = min(best[name], clock() - start)
    print(f"{options.targets} targets of {options.length} positions, {words} words, MiniLM to layer {options.layer}")
    for name, seconds in best.items():
        rate = options.targets * options.steps / seconds
        ratio = seconds / best["unembed"]
        print(f"{name:22} {rate:9.1f} text-steps a second   unembed is {ratio:.2f} x as fast")
    print(f"products: {flops * options.steps / best['matrix products alone'] / 1e9:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
