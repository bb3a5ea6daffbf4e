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
    """The record of a training: enough to see that it converged."""

    epochs: int
    best_epoch: int
    losses: tuple[float, ...]
    scores: tuple[float, ...]


def batches(n: int, size: int, rng: np.random.Generator) -> Iterator[NDArray[np.int64]]:
    """Shuffled row numbers in batches."""
    order = rng.permutation(n)
    for start in range(0, n, size):
        yield order[start : start + size]


def whole_batches(n: int, size: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Shuffled row numbers ``[batches, size]``; the last batch is filled up from the beginning."""
    size = min(size, n)
    order = rng.permutation(n)
    count = -(-n // size)
    return np.resize(order, count * size).reshape(count, size)


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
    loss_of: Callable[[Any], Tensor],
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
    recorded: bool = False,
    progress: Callable[[int, int], Any] | None = None,
) -> TrainingLog:
    """Minimise ``loss_of(rows)``; with ``score`` (higher is better) keep the best epoch's weights.

    ``schedule`` lets the learning rate rise over the first tenth of the steps and fall to zero at the end. With so
    few rows that ``epochs`` would make fewer than ``min_steps`` steps, epochs are joined into longer ones: a fixed
    number of epochs leaves a small training set unlearnt. With ``recorded``, ``loss_of`` takes row numbers as a tensor
    as well, reads nothing but tensors of its device, and is run as one CUDA graph there; not with a schedule, whose
    changing rates a graph would not see.
    """
    rounds = max(1, -(-min_steps // (epochs * -(-n // batch_size))))
    on_gpu = all(p.is_cuda for p in model.parameters())
    recorded = recorded and on_gpu and not schedule
    optimiser = torch.optim.AdamW(
        model.parameters(), lr=learning_rate, weight_decay=weight_decay, fused=_may_fuse(model), capturable=recorded
    )
    steps = rounds * epochs * -(-n // batch_size)
    plan = (
        torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=learning_rate, total_steps=steps, pct_start=0.1)
        if schedule and steps > 10
        else None
    )
    model.train()
    total = torch.zeros((), device=next(model.parameters()).device)

    def step(rows: Any) -> None:
        optimiser.zero_grad(set_to_none=True)
        loss = loss_of(rows)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        total.add_(loss.detach())

    replay = _recording(step, model, optimiser, min(batch_size, n)) if recorded else None
    best, best_epoch, kept = -np.inf, 0, None
    losses: list[float] = []
    scores: list[float] = []
    for epoch in range(epochs):
        model.train()
        total.zero_()
        count = 0
        for _ in range(rounds):
            for rows in batches(n, batch_size, rng) if replay is None else whole_batches(n, batch_size, rng):
                (replay or step)(rows)
                if plan is not None:
                    plan.step()
                count += 1
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
    return TrainingLog(len(losses), best_epoch, tuple(losses), tuple(scores))


def _recording(
    step: Callable[[Tensor], None], model: nn.Module, optimiser: torch.optim.Optimizer, size: int
) -> Callable[[NDArray[np.int64]], None]:
    """The step as one CUDA graph: copies the row numbers into place and replays it."""
    from unembed.nn.recording import record_step

    held = torch.zeros(size, dtype=torch.int64, device=next(model.parameters()).device)
    graph = record_step(lambda: step(held), model, optimiser)

    def replay(rows: NDArray[np.int64]) -> None:
        held.copy_(torch.from_numpy(rows), non_blocking=True)
        graph.replay()

    return replay


def _may_fuse(model: nn.Module) -> bool:
    """The fused optimiser needs floating parameters on a device that has it (CPU and CUDA do)."""
    return all(p.is_floating_point() and p.device.type in ("cpu", "cuda") for p in model.parameters())
