"""Universal Sentence Encoder lite in torch: two transformer layers, mean over tokens, a tanh layer.

The limit is its matrix products, 9.3 MFLOP per token (4.65 M weights outside the word table, each used once); attention
over at most 128 tokens adds little, and padding is kept small by batches of like length.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from numpy.typing import NDArray
from torch.nn import functional

_LAYER_NORM_EPSILON = 1e-6
_NEVER = -1e9


class UseLiteModel:
    """The forward pass over word vectors [n, tokens, width] with a mask of real tokens [n, tokens]."""

    def __init__(self, weights: Mapping[str, NDArray], *, heads: int, device: torch.device) -> None:  # type: ignore[type-arg]
        self._w = {name: torch.from_numpy(array).to(device) for name, array in weights.items()}
        self._heads = heads
        self.device = device

    @property
    def words(self) -> torch.Tensor:
        """The word vectors, one row per piece."""
        return self._w["words"]

    def mean(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The mean over a text's tokens; zeros where there is none."""
        real = mask.to(hidden.dtype).unsqueeze(-1)
        return (hidden * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)

    def layer(self, words: torch.Tensor, mask: torch.Tensor, layer: int) -> torch.Tensor:
        """The outputs of a layer for every token; 0: the word vectors themselves."""
        if layer == 0:
            return words
        hidden = 2 * words + self._positions(words.shape[1])
        for number in range(layer):
            hidden = self._block(hidden, mask, number)
        return hidden

    def sentence(self, words: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """The finished vectors, of unit norm."""
        pooled = self.mean(self.layer(words, mask, 2), mask)
        return functional.normalize(torch.tanh(self._dense(pooled, "out")), dim=1)

    def _positions(self, length: int) -> torch.Tensor:
        angles = torch.arange(length, device=self.device).unsqueeze(1) * self._w["frequencies"]
        return torch.cat([angles.sin(), angles.cos()], dim=1)

    def _block(self, hidden: torch.Tensor, mask: torch.Tensor, number: int) -> torch.Tensor:
        carried = self._dense(hidden, "widen") if number == 0 else hidden
        hidden = carried + self._attention(self._norm(hidden, f"{number}.attend"), mask, number)
        inner = functional.relu(self._dense(self._norm(hidden, f"{number}.feed"), f"{number}.feed.in"))
        return hidden + self._dense(inner, f"{number}.feed.out")

    def _attention(self, hidden: torch.Tensor, mask: torch.Tensor, number: int) -> torch.Tensor:
        n, length, width = hidden.shape
        parts = torch.split(self._dense(hidden, f"{number}.qkv"), width, dim=2)
        query, key, value = (p.view(n, length, self._heads, -1).transpose(1, 2) for p in parts)
        bias = (~mask).to(hidden.dtype)[:, None, None, :] * _NEVER
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return self._dense(mixed.transpose(1, 2).reshape(n, length, width), f"{number}.attend.out")

    def _norm(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        scale, bias = self._w[f"{name}.norm.scale"], self._w[f"{name}.norm.bias"]
        return functional.layer_norm(hidden, hidden.shape[-1:], scale, bias, eps=_LAYER_NORM_EPSILON)

    def _dense(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        return hidden @ self._w[f"{name}.kernel"] + self._w[f"{name}.bias"]
