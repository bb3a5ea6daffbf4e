"""Linear models for many yes/no questions about the same rows, fitted as one convex problem.

All questions share the rows, so one pass is two products of ``rows × inputs`` with ``inputs × questions``:
4 · rows · inputs · questions floating-point operations; nothing is drawn at random.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional

Loss = Literal["each", "one"]


@torch.enable_grad()
def fit_linear(
    rows: Tensor, wanted: Tensor, weights: Tensor, answers: int, *, penalty: float, loss: Loss, steps: int = 100
) -> tuple[Tensor, Tensor]:
    """Weights ``[inputs, answers]`` and biases ``[answers]`` of least weighted loss plus ``penalty / 2 · |weights|²``.

    ``loss`` "each": every column of ``wanted [rows, answers]`` is a question of its own, with its own weights of the
    same shape. "one": each row has one answer, whose number stands in ``wanted [rows]``, with one weight per row.
    Weights sum to one, a question at a time. Quasi-Newton steps with a line search, until nothing moves.
    """
    # Few answers times many rows: with the long side last, both products take a quarter of the time on a processor.
    matrix = torch.zeros(answers, rows.shape[1], device=rows.device, dtype=rows.dtype, requires_grad=True)
    bias = torch.zeros(answers, device=rows.device, dtype=rows.dtype, requires_grad=True)
    solver = torch.optim.LBFGS([matrix, bias], max_iter=steps, history_size=10, line_search_fn="strong_wolfe")

    def objective() -> Tensor:
        solver.zero_grad()
        scores = (matrix @ rows.T).T + bias
        if loss == "each":
            parts = functional.binary_cross_entropy_with_logits(scores, wanted, reduction="none") * weights
        else:
            parts = functional.cross_entropy(scores, wanted, reduction="none") * weights
        value: Tensor = parts.sum() + 0.5 * penalty * (matrix * matrix).sum()
        value.backward()  # type: ignore[no-untyped-call]
        return value

    solver.step(objective)  # type: ignore[no-untyped-call]
    return matrix.detach().T, bias.detach()
