"""`inversion/relaxation` beside the limit of its matrix products and beside one text at a time.

The products are the word matrix forward and backward, and the model's weights forward and backward, at the shapes of
the batch. The plain loop over texts is autograd over the whole model with an unfused Adam.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from measure import Case, Yardstick

from unembed.attacks.inversion.soft_words import Settings, recover
from unembed.corpora.generators.public_text import generate_public_text
from unembed.encoders.minilm import MiniLmEncoder


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


def products(encoder: MiniLmEncoder, rows: int, words: int, layer: int) -> Callable[[], None]:
    """The matrix products of one step alone, forward and backward."""
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

    return step


def relaxed(folder: Path) -> Case:
    """Steps of the search for soft words, all texts in one batch."""
    targets, length, steps, layer = 8, 12, 4, 6
    encoder = MiniLmEncoder(device="cpu", normalise=False)
    wanted = encoder.layer_output(generate_public_text(targets).texts, layer)
    words = len(encoder.vocabulary)
    settings = Settings(length=length, steps=steps, tolerance=0.0)
    one = products(encoder, targets * length, words, layer)
    beside = (
        Yardstick("its matrix products", "FLOPs", lambda: [one() for _ in range(steps)]),
        Yardstick("a plain loop over texts", "reference", lambda: plain(encoder, wanted, words, settings, layer)),
    )
    return Case("text steps/s", targets * steps, lambda: ours(encoder, wanted, words, settings, layer), beside)


CASES = {"search, inversion/relaxation": relaxed}
