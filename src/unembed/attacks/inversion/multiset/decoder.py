"""An LSTM that names the words of a set one after another (Song 3.2, Corò 4.2.3), and its training step by hand.

The plain way, a loop of cell, logits, log-softmax and loss under autograd, keeps several arrays of batch × steps ×
words until the backward pass and reads each again. Here a step's logits live for one step: they are turned into
the gradient with respect to themselves at once (softmax less the share of each word still wanted), which gives the
gradient of the hidden state and is added to the one of the word matrix, and are forgotten. The cell's own backward
pass follows by its formulas, with the products of all steps for its weights joined into one.

What limits a training step, for batch B, steps L, words V, units H: 6·B·L·V·H FLOPs in the three products with the
word matrix and 48·B·L·H² in the cell; in bytes, with numbers of s bytes, per step of the loop 5·s·B·V of logits and
gradients and 4·s·V·H of the word matrix and its gradient, and per batch the read and write of 28·V·H by Adam. With a
batch of 64 and 20,000 words of 512 units the products are 80 % of the operations. ``table`` cuts V down to the
candidates of one batch, and products in bfloat16 double or triple the rate where processor or GPU has them. Matrices
of half precision are filled up to whole blocks of eight: a GPU's quick kernels take no others, and [EOS] alone made
20,000 words an odd number.
``benchmarks/msp_throughput.py`` prints the share of each part.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn

#: When [EOS] is wanted: not at all, once no word is left, or as a member of every set (Corò A.1).
EndRule = Literal["never", "end", "always"]
Clock = Callable[[str], AbstractContextManager[None]]


#: Rows and columns of matrices in half precision come in blocks of so many.
BLOCK = 8


@dataclass(frozen=True)
class Wanted:
    """The word sets of a batch, padded: ``words[b, k]`` is a row of the table, ``weights[b, k]`` 0 where none is."""

    words: Tensor
    weights: Tensor


@dataclass(frozen=True)
class Candidates:
    """The rows of the word matrix one batch works with, and the logarithm of one over each one's chance to be in it.

    A word of the text itself is always there; for the others, dividing by the chance makes the sum over candidates
    an unbiased estimate of the sum over all words.
    """

    table: Tensor
    rarity: Tensor


@dataclass
class Gradients:
    """What one batch teaches: the loss, and its gradient for every parameter and for the first input."""

    loss: Tensor
    weight: Tensor
    bias: Tensor
    hidden: Tensor
    cell: Tensor
    table: Tensor
    first: Tensor


def no_clock(part: str) -> AbstractContextManager[None]:
    """Measures nothing."""
    return nullcontext()


def product_type(precision: str, device: torch.device) -> torch.dtype:
    """float32 or bfloat16 for the large products; ``auto``: bfloat16 on CUDA and on processors that have it."""
    if precision != "auto":
        return torch.bfloat16 if precision == "bfloat16" else torch.float32
    if device.type == "cuda":
        return torch.bfloat16
    able: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)() if device.type == "cpu" else {}
    return torch.bfloat16 if able.get("avx512_bf16") or able.get("amx_bf16") else torch.float32


class SetDecoder(nn.Module):
    """Word matrix W2, LSTM cell and its first state; the first input comes from outside (W1 · vector).

    ``end`` says whether the matrix has one more row, [EOS], and when it is wanted. Without ``repeats`` the choice at
    a step is among the words not named before, in training as in use. ``compute`` is the type of
    the large products; parameters, cell states and sums stay in float32 (or float64).
    """

    def __init__(
        self,
        words: int,
        hidden: int,
        *,
        steps: int,
        dropout: float = 0.0,
        end: EndRule = "never",
        repeats: bool = False,
        compute: torch.dtype = torch.float32,
    ) -> None:
        super().__init__()
        self.words, self.hidden, self.steps = words, hidden, steps
        self.dropout, self.end, self.repeats, self.compute = dropout, end, repeats, compute
        bound = 1 / math.sqrt(hidden)
        self.weight = nn.Parameter(torch.empty(4 * hidden, 2 * hidden).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(4 * hidden).uniform_(-bound, bound))
        self.first_hidden = nn.Parameter(torch.zeros(hidden))
        self.first_cell = nn.Parameter(torch.zeros(hidden))
        self.table = nn.Parameter(torch.randn(words + (end != "never"), hidden) * bound)

    @torch.no_grad()
    def gradients(
        self, first: Tensor, wanted: Wanted, candidates: Candidates | None = None, *, clock: Clock = no_clock
    ) -> Gradients:
        """Loss of eq. 9 (4.4), mean over texts, with all its gradients; the decoder predicts and feeds back greedily.

        A word counts as left at step t unless it was predicted before t. A text with no word left, or after [EOS],
        has no further loss.
        """
        batch, hidden, steps = len(first), self.hidden, self.steps
        real = first.dtype
        with clock("other"):
            rows = self.table if candidates is None else candidates.table
            table = blocks_of(rows.to(self.compute))
            low = torch.zeros(batch, table.shape[1], dtype=self.compute, device=first.device)
            scaled = torch.zeros_like(low)
            weight = self.weight.to(self.compute)
            inputs = torch.empty(steps, batch, 2 * hidden, dtype=self.compute, device=first.device)
            gates = torch.empty(steps, batch, 4 * hidden, dtype=real, device=first.device)
            cells = torch.empty(steps + 1, batch, hidden, dtype=real, device=first.device)
            d_hidden = torch.empty(steps, batch, hidden, dtype=real, device=first.device)
            said = torch.empty(steps, batch, dtype=torch.int64, device=first.device)
            masks = self._masks(steps, batch, first)
            d_table = torch.zeros_like(table)
            own = None if candidates is None else _own(candidates.rarity, wanted)
            loss = torch.zeros((), dtype=real, device=first.device)
        sets = _Left(wanted, self.end, len(rows) - 1)
        current, state = first, self.first_hidden.expand(batch, hidden)
        cells[0] = self.first_cell
        for t in range(steps):
            with clock("cell"):
                inputs[t, :, :hidden] = current if masks is None else current * masks[t]
                inputs[t, :, hidden:] = state
                state = _cell_forward((inputs[t] @ weight.T).to(real) + self.bias, cells[t], gates[t], cells[t + 1])
            with clock("vocabulary products"):
                low[:, :hidden] = state
                logits = low @ table.T
            with clock("vocabulary passes"):
                logits[:, len(rows) :] = -torch.inf
                if t and not self.repeats:
                    logits.scatter_(1, said[:t].T, -torch.inf)
                said[t] = logits.argmax(1)
                if candidates is not None and own is not None:
                    logits[:, : len(rows)] += candidates.rarity.to(self.compute)
                    logits.scatter_add_(1, wanted.words, own.to(self.compute))
                share, scale = sets.share()
                gradient = torch.softmax(logits, 1)
                likely = gradient.gather(1, sets.words).to(real)
                loss -= (scale[:, None] * share * likely.clamp_min(1e-30).log()).sum() / batch
                gradient.scatter_add_(1, sets.words, -share.to(self.compute))
                scale = (scale / batch)[:, None]
            with clock("vocabulary products"):
                torch.mul((gradient @ table)[:, :hidden].to(real), scale, out=d_hidden[t])
                scaled[:, :hidden] = state * scale
                d_table.addmm_(gradient.T, scaled)
            sets.said(said[t])
            current = rows[said[t]]
        with clock("cell"):
            d_inputs, d_gates, d_first_hidden, d_first_cell = self._cell_backward(gates, cells, d_hidden, weight, masks)
            flat = d_gates.view(steps * batch, -1)
            d_weight = flat.T @ inputs.view(steps * batch, -1)
        with clock("other"):
            fed = d_inputs[1:].reshape(-1, hidden)
            total = add_rows(d_table[: len(rows), :hidden].to(real), said[:-1].reshape(-1), fed)
        return Gradients(
            loss, d_weight.to(real), flat.sum(0, dtype=real), d_first_hidden, d_first_cell, total, d_inputs[0]
        )

    def _masks(self, steps: int, batch: int, like: Tensor) -> Tensor | None:
        """Dropout before every input of the cell (Corò 4.3.3); None outside training."""
        if not self.training or self.dropout <= 0:
            return None
        keep = 1 - self.dropout
        return torch.empty(steps, batch, self.hidden, dtype=like.dtype, device=like.device).bernoulli_(keep).div_(keep)

    def _cell_backward(
        self, gates: Tensor, cells: Tensor, d_hidden: Tensor, weight: Tensor, masks: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Gradients of the inputs, of the gates before their activations, and of the first state."""
        steps, batch, hidden = d_hidden.shape
        d_gates = torch.empty(steps, batch, 4 * hidden, dtype=self.compute, device=gates.device)
        d_inputs = torch.empty_like(d_hidden)
        d_cell = torch.zeros_like(cells[0])
        d_state = torch.zeros_like(cells[0])
        for t in reversed(range(steps)):
            enter, forget, new, leave = gates[t].chunk(4, 1)
            out = torch.tanh(cells[t + 1])
            d_state = d_state + d_hidden[t]
            d_cell = d_cell + d_state * leave * (1 - out * out)
            d_gates[t, :, :hidden] = d_cell * new * enter * (1 - enter)
            d_gates[t, :, hidden : 2 * hidden] = d_cell * cells[t] * forget * (1 - forget)
            d_gates[t, :, 2 * hidden : 3 * hidden] = d_cell * enter * (1 - new * new)
            d_gates[t, :, 3 * hidden :] = d_state * out * leave * (1 - leave)
            d_cell = d_cell * forget
            both = (d_gates[t] @ weight).to(d_hidden.dtype)
            d_inputs[t] = both[:, :hidden] if masks is None else both[:, :hidden] * masks[t]
            d_state = both[:, hidden:]
        return d_inputs, d_gates, d_state.sum(0), d_cell.sum(0)

    @torch.no_grad()
    def predict(self, first: Tensor) -> tuple[Tensor, Tensor]:
        """The words named at each step, -1 from [EOS] on, and the probability each had: two ``[batch, steps]``."""
        table, weight = blocks_of(self.table.to(self.compute)), self.weight.to(self.compute)
        batch = len(first)
        low = torch.zeros(batch, table.shape[1], dtype=self.compute, device=first.device)
        state, cell = self.first_hidden.expand(batch, -1), self.first_cell.expand(batch, -1).clone()
        gates = torch.empty(batch, 4 * self.hidden, dtype=first.dtype, device=first.device)
        running = torch.ones(batch, dtype=torch.bool, device=first.device)
        named = torch.full((batch, self.steps), -1, dtype=torch.int64, device=first.device)
        said = torch.zeros_like(named)
        sure = torch.zeros(batch, self.steps, dtype=first.dtype, device=first.device)
        current = first
        for t in range(self.steps):
            raw = torch.cat([current, state], 1).to(self.compute) @ weight.T
            state = _cell_forward(raw.to(first.dtype) + self.bias, cell, gates, cell)
            low[:, : self.hidden] = state
            logits = (low @ table.T)[:, : len(self.table)].to(first.dtype)
            if t and not self.repeats:
                logits.scatter_(1, said[:, :t], -torch.inf)
            best, word = logits.max(1)
            said[:, t] = word
            if self.end != "never":
                running &= word != self.words
            named[:, t] = torch.where(running, word, -1)
            sure[:, t] = (best - logits.logsumexp(1)).exp()
            current = self.table[word]
        return named, sure


class _Left:
    """Which words of each set are left, what share each has in the target, and how much a text still counts."""

    def __init__(self, wanted: Wanted, end: EndRule, end_row: int) -> None:
        self.end, self.end_row = end, end_row
        self.words, self.weights = wanted.words, wanted.weights
        if end != "never":
            column = torch.full_like(wanted.words[:, :1], end_row)
            self.words = torch.cat([wanted.words, column], 1)
            ones = torch.ones_like(wanted.weights[:, :1])
            self.weights = torch.cat([wanted.weights, ones if end == "always" else torch.zeros_like(ones)], 1)
        self.running = torch.ones_like(wanted.weights[:, 0])

    def share(self) -> tuple[Tensor, Tensor]:
        """Shares that sum to one over the words left, and each text's factor: their mean weight, 0 where none is."""
        weights = self.weights
        total, count = weights.sum(1), (weights > 0).sum(1)
        if self.end == "end":
            over = (count == 0).to(weights.dtype)
            weights = torch.cat([weights[:, :-1], over[:, None]], 1)
            total, count = total + over, count + over
        share = weights / total.clamp_min(1e-12)[:, None]
        return share, self.running * total / count.clamp_min(1)

    def said(self, word: Tensor) -> None:
        """A word once predicted is no longer left; after [EOS] nothing is."""
        self.weights = self.weights.masked_fill(self.words == word[:, None], 0)
        if self.end != "never":
            self.running = self.running * (word != self.end_row)


def _cell_forward(raw: Tensor, before: Tensor, gates: Tensor, after: Tensor) -> Tensor:
    """One LSTM step from the gates' inputs; activations go to ``gates``, the new cell state to ``after``."""
    hidden = raw.shape[1] // 4
    torch.sigmoid(raw, out=gates)
    torch.tanh(raw[:, 2 * hidden : 3 * hidden], out=gates[:, 2 * hidden : 3 * hidden])
    enter, forget, new, leave = gates.chunk(4, 1)
    torch.addcmul(forget * before, enter, new, out=after)
    return leave * torch.tanh(after)


def blocks_of(matrix: Tensor) -> Tensor:
    """The matrix with rows and columns of zeros added up to whole blocks, where it is of half precision."""
    if matrix.dtype not in (torch.bfloat16, torch.float16):
        return matrix
    rows, columns = (-size % BLOCK for size in matrix.shape)
    return nn.functional.pad(matrix, (0, columns, 0, rows)) if rows or columns else matrix


def _own(rarity: Tensor, wanted: Wanted) -> Tensor:
    """What takes the correction off a text's own words, which are candidates by right and not by chance."""
    return -rarity[wanted.words] * (wanted.weights > 0)


def add_rows(target: Tensor, rows: Tensor, values: Tensor) -> Tensor:
    """``target[rows] += values`` with repeated rows, in the same order each time on every device."""
    if target.is_cuda:
        return target.index_put_((rows,), values, accumulate=True)
    return target.index_add_(0, rows, values)
