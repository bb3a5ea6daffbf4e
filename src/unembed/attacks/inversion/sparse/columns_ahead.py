"""A look at all words: which have the highest correlation with each residual, and how high can any be?

One look is a matrix product, residuals times word matrix. It is taken in half precision where the device multiplies
that faster (CUDA, CPUs with bfloat16 instructions). Rounding moves a correlation by no more than a known share of
‖v‖·‖r‖, so the best words are computed anew in full precision, and all others are known to lie below the last of
the best plus that share. Where this bound is too weak to decide, the look is taken again in full precision.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import torch

#: Words are ranked by groups: the best k words lie in the k groups with the best best word.
GROUP = 32
#: A word seen to break its limit by less than this factor says nothing of the words that were not seen.
HARDLY = 1.001


@dataclass(frozen=True)
class Seen:
    """What a look found: the best words [b, k], best first, and a bound on the correlation of any word [b]."""

    index: torch.Tensor
    highest: torch.Tensor


class Looker:
    """A word matrix prepared for looks.

    Args:
        words: V with at least one row of zeros at its end, a multiple of ``GROUP`` rows.
    """

    def __init__(self, words: torch.Tensor) -> None:
        self.words = words
        self.norms = words.norm(dim=1)
        self.longest = float(self.norms.max()) or 1.0
        kind = look_type(words)
        self.scaled = (words / self.longest).to(kind)
        """Entries of at most one: half precision can't overflow."""
        self.half_unit = torch.finfo(kind).eps / 2
        # How far rounding moved any word, and what summing up in full precision may lose.
        self.moved = float((self.scaled.to(words.dtype) - words / self.longest).norm(dim=1).max())
        self.summing = words.shape[1] * torch.finfo(words.dtype).eps
        self.looks = 0
        self.full_looks = 0
        self._counting = threading.Lock()
        self._buffers: dict[tuple[int, torch.dtype], torch.Tensor] = {}

    def forget(self) -> None:
        """Give the buffers back."""
        self._buffers.clear()

    def look(self, residuals: torch.Tensor, held: torch.Tensor, k: int, limit: float, *, full: bool = False) -> Seen:
        """The best ``k`` words of each row apart from those ``held`` [b, any]; the bound is exact near ``limit``.

        ``full`` takes the whole look in full precision.
        """
        if full:
            with self._counting:
                self.full_looks += len(residuals)
            index, exact = self._best(residuals @ self.words.T, held, k)
            return Seen(index, exact[:, 0])
        with self._counting:
            self.looks += len(residuals)
        size = residuals.norm(dim=1, keepdim=True)
        scale = torch.where(size > 0, size, 1)
        directions = residuals / scale
        rounded = directions.to(self.scaled.dtype)
        index, height = self._best(self._product(rounded), held, k)
        # |v̂·r̂ − v·r| ≤ ‖v̂ − v‖·‖r̂‖ + ‖v‖·‖r̂ − r‖, all of it known, and half a unit in the last place of the result.
        turned = (rounded.to(residuals.dtype) - directions).norm(dim=1, keepdim=True)
        doubt = self.moved * (1 + turned) + turned + self.summing
        height, error = height.to(residuals.dtype), doubt + self.half_unit * height.abs()
        height, error = height * scale * self.longest, error * scale * self.longest
        highest, last = height[:, 0] + error[:, 0], height[:, -1] + error[:, -1]
        near = torch.nonzero((highest > limit) & (height[:, 0] - error[:, 0] <= limit)).squeeze(1)
        if len(near):
            close = index[near]
            rows = self.words.index_select(0, close.reshape(-1)).view(*close.shape, -1)
            exact = torch.bmm(residuals[near].unsqueeze(1), rows.mT).squeeze(1).amax(dim=1)
            hidden = last[near] > limit
            highest[near] = torch.where(hidden, torch.maximum(exact, last[near]), exact.clamp_min(0))
            unsure = near[hidden & (exact <= HARDLY * limit)]
            if len(unsure):
                again = self.look(residuals[unsure], held[unsure], k, limit, full=True)
                index[unsure], highest[unsure] = again.index, again.highest
        return Seen(index, highest)

    def _best(self, seen: torch.Tensor, held: torch.Tensor, k: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Numbers and correlations of the best words that are not held, best first; overwrites ``seen``."""
        seen.scatter_(1, held, -torch.inf)
        rows, groups = len(seen), seen.shape[1] // GROUP
        peaks = seen.view(rows, groups, GROUP).amax(dim=2)
        best = peaks.topk(min(k, groups), dim=1, sorted=False).indices
        first = torch.arange(rows, device=seen.device).unsqueeze(1) * groups
        among = seen.view(-1, GROUP).index_select(0, (first + best).view(-1)).view(rows, -1)
        height, place = among.topk(min(k, among.shape[1]), dim=1)
        index = best.gather(1, place // GROUP) * GROUP + place % GROUP
        # A held word must not come in twice: where there are too few others, the row of zeros fills up.
        return torch.where(height > -torch.inf, index, len(self.words) - 1), height

    def _product(self, rows: torch.Tensor) -> torch.Tensor:
        """Rows times the word matrix, in a buffer that the next look of this thread overwrites."""
        product = self._buffer(rows, rows.dtype)
        torch.mm(rows, self.scaled.T, out=product)
        if rows.device.type == "cpu" and rows.dtype == torch.bfloat16:
            # Reductions over bfloat16 are slow on a CPU.
            return self._buffer(rows, torch.float32).copy_(product)
        return product

    def _buffer(self, rows: torch.Tensor, kind: torch.dtype) -> torch.Tensor:
        place = threading.get_ident(), kind
        held = self._buffers.get(place)
        if held is None or len(held) < len(rows):
            held = torch.empty(len(rows), len(self.words), dtype=kind, device=rows.device)
            self._buffers[place] = held
        return held[: len(rows)]


def look_type(words: torch.Tensor) -> torch.dtype:
    """The precision of looks: half where the device is faster with it, else that of the words."""
    if words.dtype != torch.float32:
        return words.dtype
    if words.device.type == "cuda":
        return torch.float16
    supported = getattr(torch.cpu, "_is_avx512_bf16_supported", lambda: False)
    return torch.bfloat16 if words.device.type == "cpu" and supported() else torch.float32
