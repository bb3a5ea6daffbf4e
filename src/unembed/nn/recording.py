"""One training step as a CUDA graph: launching many small operations one by one can take longer than running them."""

from __future__ import annotations

import copy
from collections.abc import Callable

import torch
from torch import nn

WARM_UP = 3


def record_step(step: Callable[[], object], model: nn.Module, optimiser: torch.optim.Optimizer) -> torch.cuda.CUDAGraph:
    """Record ``step``, which must read its inputs from tensors that stay in place; ``replay()`` runs it again.

    What recording did to the weights of the model and to the optimiser's moments is taken back. The optimiser must be
    capturable.
    """
    device = next(model.parameters()).device
    before = copy.deepcopy(model.state_dict())
    side = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
    side.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(side):
        for _ in range(WARM_UP):
            step()
    torch.cuda.current_stream(device).wait_stream(side)
    optimiser.zero_grad(set_to_none=True)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    model.load_state_dict(before)
    for moments in optimiser.state.values():
        for value in moments.values():
            value.zero_()
    return graph
