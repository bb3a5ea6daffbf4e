"""The one training loop of all neural attacks: mini-batches, Adam, early stopping on a validation score."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from unembed.errors import CannotMeasureError


@dataclass(frozen=True)
class TrainingLog:
    """What a training did: enough to see that it converged."""

    epochs: int
    best_epoch: int
    losses: tuple[float, ...]
    scores: tuple[float, ...]
    stopped_early: bool


def batches(n: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Shuffled row numbers in batches."""
    order = rng.permutation(n)
    for start in range(0, n, size):
        yield order[start : start + size]


@contextlib.contextmanager
def quick_products() -> Iterator[None]:
    """TF32 matrix products on GPUs that have them, for training alone: encoders must keep full precision."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("high")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


@quick_products()
def train(
    model: nn.Module,
    loss_of: Callable[[NDArray[np.int64]], Tensor],
    *,
    n: int,
    epochs: int,
    batch_size: int,
    learning_rate: float,
    rng: np.random.Generator,
    weight_decay: float = 0.0,
    score: Callable[[], float] | None = None,
    patience: int | None = None,
    min_steps: int = 0,
    schedule: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> TrainingLog:
    """Minimise ``loss_of(rows)``; with ``score`` (higher is better) keep the best epoch's weights.

    ``schedule`` lets the learning rate rise over the first tenth of the steps and fall to zero at the end. With so
    few rows that ``epochs`` would make fewer than ``min_steps`` steps, epochs are joined into longer ones: a fixed
    number of epochs leaves a small training set unlearnt.
    """
    rounds = max(1, -(-min_steps // (epochs * -(-n // batch_size))))
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=_may_fuse(model)
    )
    steps = rounds * epochs * -(-n // batch_size)
    plan = (
        torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=learning_rate, total_steps=steps, pct_start=0.1)
        if schedule and steps > 10
        else None
    )
    best, best_epoch, kept = -np.inf, 0, None
    losses: list[float] = []
    scores: list[float] = []
    for epoch in range(epochs):
        model.train()
        total: Tensor | float = 0.0
        count = 0
        for rows in (part for _ in range(rounds) for part in batches(n, batch_size, rng)):
            optimiser.zero_grad(set_to_none=True)
            loss = loss_of(rows)
            loss.backward()  # type: ignore[no-untyped-call]
            optimiser.step()
            if plan is not None:
                plan.step()
            total, count = total + loss.detach(), count + 1
        losses.append(float(total) / max(count, 1))
        if not np.isfinite(losses[-1]):
            raise CannotMeasureError(f"training diverged in epoch {epoch + 1}: the loss is {losses[-1]}")
        if progress:
            progress(epoch + 1, epochs)
        if score is None:
            continue
        model.eval()
        with torch.no_grad():
            scores.append(score())
        if scores[-1] > best:
            best, best_epoch, kept = scores[-1], epoch, copy.deepcopy(model.state_dict())
        elif patience is not None and epoch - best_epoch >= patience:
            break
    if kept is not None:
        model.load_state_dict(kept)
    model.eval()
    return TrainingLog(len(losses), best_epoch, tuple(losses), tuple(scores), len(losses) < epochs)


def _may_fuse(model: nn.Module) -> bool:
    """The fused optimiser needs floating parameters on a device that has it (CPU and CUDA do)."""
    return all(p.is_floating_point() and p.device.type in ("cpu", "cuda") for p in model.parameters())
