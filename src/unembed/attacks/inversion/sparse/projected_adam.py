"""Sparse coding as Song's paper does it (3.1, Algorithm 1, 6.2): Adam at 0.001 on all words, projected to z ≥ 0.

A plain reference. Each step is two dense passes, the residual and its correlation with every word, and several readings
and writings of targets × words for Adam. ``solver`` reaches the same optimum with a handful of passes in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from unembed.attacks.inversion.sparse.solver import checked_targets
from unembed.nn.device import pick_device

#: Targets stepped together: Adam holds four numbers per target and word.
CHUNK = 256
#: Steps between two looks at the objective.
STEPS_A_LOOK = 10


@dataclass(frozen=True)
class AdamCodes:
    """Codes [n, words], the objective of each target, and how many steps were taken on average."""

    codes: csr_matrix
    objective: NDArray[np.float64]
    steps: float


def projected_adam(
    words: Any,
    targets: Any,
    penalty: float,
    *,
    learning_rate: float = 1e-3,
    max_steps: int = 2000,
    change: float = 1e-3,
    goal: NDArray[np.float64] | None = None,
    device: str = "auto",
) -> AdamCodes:
    """Steps until the mean objective falls by less than ``change`` of itself in 10 steps, or ``max_steps`` are done.

    With ``goal``, an objective for each target, until their mean is reached instead.
    """
    table = torch.as_tensor(words, dtype=torch.float32, device=pick_device(device))
    rows = checked_targets(targets, table.shape[1], penalty).astype(np.float32)
    parts: list[AdamCodes] = []
    for first in range(0, len(rows), CHUNK):
        part = slice(first, first + CHUNK)
        wanted = None if goal is None else float(goal[part].mean())
        parts.append(_descend(table, rows[part], penalty, learning_rate, max_steps, change, wanted))
    if not parts:
        return AdamCodes(csr_matrix((0, len(table)), dtype=np.float32), np.zeros(0), 0.0)
    steps = sum(p.steps * len(p.objective) for p in parts) / len(rows)
    return AdamCodes(csr_matrix(vstack([p.codes for p in parts])), np.concatenate([p.objective for p in parts]), steps)


def _descend(
    words: torch.Tensor,
    targets: NDArray[np.float32],
    penalty: float,
    learning_rate: float,
    max_steps: int,
    change: float,
    goal: float | None,
) -> AdamCodes:
    wanted = torch.from_numpy(targets).to(words.device)
    codes = torch.zeros(len(targets), len(words), device=words.device)
    codes.grad = torch.empty_like(codes)
    adam = torch.optim.Adam([codes], lr=learning_rate)
    before = float("inf")
    step = 0
    while True:
        residual = wanted - codes @ words
        if step % STEPS_A_LOOK == 0 or step == max_steps:
            objective = residual.double().square().sum(dim=1) + penalty * codes.double().sum(dim=1)
            now = float(objective.mean())
            reached = now <= goal if goal is not None else before - now < change * now
            if step == max_steps or (step and reached):
                break
            before = now
        torch.mm(residual, words.T, out=codes.grad).mul_(-2).add_(penalty)
        adam.step()
        codes.clamp_(min=0)
        step += 1
    return AdamCodes(csr_matrix(codes.cpu().numpy()), objective.cpu().numpy(), float(step))
