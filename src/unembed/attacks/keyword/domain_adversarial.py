"""Many small domain-adversarial networks trained as one (Pan VI-B, Figure 5, Algorithm 1).

Each network has a sigmoid encoder of few units and two softmax heads: keyword and domain. The gradient of the
domain head is reversed, times λ, where it enters the encoder. Encoders lie below each other in one matrix. The public
rows of a network's domain batch are rows of its keyword batch, whose hidden values are there already, and the private
ones are the same for all networks, so they cost one product instead of one per network.

The whole step is one autograd function with its gradients written out: two heads on a sigmoid layer need a dozen small
operations each way, and recording them costs more than doing them. A step of ``count`` networks takes
4 · count · (batch + private) · inputs · units floating-point operations (forward and weight gradient); nothing else
in it grows with ``inputs`` but gathering the rows and the optimiser's 16 bytes a weight.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Parts = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


class DomainAdversarialStack(nn.Module):
    """``count`` networks of one shape; weights are drawn network by network, so adding one changes no other."""

    def __init__(self, inputs: int, units: int, generators: list[torch.Generator]) -> None:
        super().__init__()
        self.count, self.inputs, self.units = len(generators), inputs, units
        drawn = zip(*(_drawn(inputs, units, generator) for generator in generators), strict=True)
        joined = (torch.cat(part) if number < 2 else torch.stack(part) for number, part in enumerate(drawn))
        self.parts = nn.ParameterList(joined)
        """Encoder ``[count · units, inputs]``, keyword and domain heads ``[count, units, 2]``, with their biases."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Log-odds of the keyword ``[rows, count]`` for rows that all networks are asked about."""
        return keyword_log_odds(inputs, *self.parts[:4])

    def representation(self, inputs: Tensor) -> Tensor:
        """What the encoders make of shared rows: ``[rows, count, units]``."""
        hidden = torch.sigmoid(functional.linear(inputs, self.parts[0], self.parts[1]))
        return hidden.view(len(inputs), self.count, self.units)

    def loss(self, rows: Tensor, held: Tensor, private: Tensor, strength: float) -> Tensor:
        """Sum over the networks of both cross-entropies; its gradient has the domain part reversed in the encoder.

        ``rows [count, batch, inputs]`` with ``held [count, batch]`` (0 or 1) are each network's own. The domain batch
        is as large: ``private [at most batch, inputs]``, shared by all, and the first of the own rows.
        """
        loss: Tensor = _BothLosses.apply(rows, held, private, strength, *self.parts)  # type: ignore[no-untyped-call]
        return loss


def keyword_log_odds(inputs: Tensor, encoder: Tensor, bias: Tensor, head: Tensor, head_bias: Tensor) -> Tensor:
    """Keyword head after encoder, for shared rows, from bare tensors (a kept epoch has no module)."""
    count, units, _ = head.shape
    hidden = torch.sigmoid(functional.linear(inputs, encoder, bias)).view(len(inputs), count, units)
    direction = head[:, :, 1] - head[:, :, 0]
    return (hidden * direction).sum(dim=2) + head_bias[:, 1] - head_bias[:, 0]


class _BothLosses(torch.autograd.Function):
    """Both losses and all gradients in one go."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, held: Tensor, private: Tensor, strength: float, *parts: Tensor) -> Tensor:
        encoder, encoder_bias, keyword, keyword_bias, domain, domain_bias = parts
        count, units, _ = keyword.shape
        theirs = len(private)
        ours = rows.shape[1] - theirs

        stacked = encoder.view(count, units, -1)
        # This way round the product is a third quicker: its rows are the few units, its columns the batch.
        hidden = torch.bmm(stacked, rows.transpose(1, 2)).transpose(1, 2)
        hidden = hidden.add_(encoder_bias.view(count, 1, units)).sigmoid_()
        towards = keyword[:, :, 1] - keyword[:, :, 0]
        loss, wrong = _cross_entropy(hidden, towards, keyword_bias, held)
        back = wrong[:, :, None] * towards[:, None]

        away = functional.linear(private, encoder, encoder_bias).sigmoid_().view(theirs, count, units)
        seen = torch.cat([hidden[:, :ours], away.transpose(0, 1)], dim=1)
        across = domain[:, :, 1] - domain[:, :, 0]
        domains = torch.arange(seen.shape[1], device=seen.device) >= ours
        domain_loss, misjudged = _cross_entropy(seen, across, domain_bias, domains)
        reversed_ = misjudged[:, :, None] * (-strength * across)[:, None]

        back[:, :ours] += reversed_[:, :ours]
        back.mul_(hidden).mul_(1 - hidden)
        flat = away.mul(1 - away).mul_(reversed_[:, ours:].transpose(0, 1)).view(theirs, count * units)
        of_encoder = torch.bmm(back.transpose(1, 2), rows).view_as(encoder).addmm_(flat.t(), private)
        ctx.save_for_backward(
            of_encoder,
            back.sum(dim=1).view(-1) + flat.sum(dim=0),
            _both_ways(torch.bmm(wrong[:, None], hidden)[:, 0]),
            _both_ways(wrong.sum(dim=1)),
            _both_ways(torch.bmm(misjudged[:, None], seen)[:, 0]),
            _both_ways(misjudged.sum(dim=1)),
        )
        return loss + domain_loss

    @staticmethod
    def backward(ctx: Any, *outer: Tensor) -> tuple[Tensor | None, ...]:
        # The loss is what is minimised, so the gradient that comes in is one; scaling by it would cost a pass over all.
        return (None, None, None, None, *ctx.saved_tensors)


def _cross_entropy(hidden: Tensor, direction: Tensor, bias: Tensor, wanted: Tensor) -> tuple[Tensor, Tensor]:
    """Cross-entropy of a softmax over two answers, and its gradient in the second answer's score ``[count, rows]``.

    Two answers are told apart by the difference of their scores alone; the gradient in the first is the opposite.
    """
    scores = torch.bmm(hidden, direction[:, :, None])[:, :, 0] + (bias[:, 1:] - bias[:, :1])
    answer = wanted.to(scores.dtype).expand_as(scores)
    loss = functional.binary_cross_entropy_with_logits(scores, answer, reduction="sum") / scores.shape[1]
    return loss, scores.sigmoid().sub_(answer).div_(scores.shape[1])


def _both_ways(second: Tensor) -> Tensor:
    """The gradient of both answers from that of the second, as a last axis of two."""
    return torch.stack([-second, second], dim=-1)


def _drawn(inputs: int, units: int, generator: torch.Generator) -> Parts:
    """Uniform weights as torch's linear layers have them."""

    def uniform(before: int, *shape: int) -> Tensor:
        bound = 1 / math.sqrt(before)
        return torch.empty(*shape).uniform_(-bound, bound, generator=generator)

    return (
        uniform(inputs, units, inputs),
        uniform(inputs, units),
        uniform(units, units, 2),
        uniform(units, 2),
        uniform(units, units, 2),
        uniform(units, 2),
    )
