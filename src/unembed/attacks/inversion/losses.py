"""Losses that pass over a batch × vocabulary matrix as rarely as possible."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


class _SetCrossEntropy(torch.autograd.Function):
    """Song eq. 8 from logits and the indices of the words that are there.

    The dense 0/1 target is never built: the loss is Σ softplus(s) over all words minus Σ s over the words
    present, and its gradient sigmoid(s), less one at the words present. Nothing here waits for the device.
    """

    @staticmethod
    def forward(ctx: Any, logits: Tensor, words: Tensor, there: Tensor) -> Tensor:
        """Sum over words, mean over texts."""
        texts = logits.shape[0]
        loss = functional.softplus(logits).sum() - (logits.gather(1, words) * there).sum()
        gradient = torch.sigmoid(logits).scatter_add_(1, words, -there)
        ctx.save_for_backward(gradient)
        ctx.texts = texts
        return loss / texts

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor | None, ...]:
        """The saved gradient, scaled."""
        (gradient,) = ctx.saved_tensors
        return gradient * (grad_outputs[0] / ctx.texts), None, None


def set_cross_entropy(logits: Tensor, words: Tensor, there: Tensor) -> Tensor:
    """Binary cross-entropy of word sets (Song eq. 8): summed over words, averaged over texts.

    ``words`` ``[texts, most]`` are the words of each text, filled up with any word where ``there`` is 0.
    """
    result: Tensor = _SetCrossEntropy.apply(logits, words, there)  # type: ignore[no-untyped-call]
    return result
