"""The hot path of every transformer encoder: token lists to pooled vectors.

The limit is the model's own matrix products: n texts of t tokens can't be quicker than a forward pass over
n·t tokens without padding. What an encoder can waste on top is padding and overhead. Here texts are sorted by
token count and cut into batches under a token budget that keeps a layer's activations in the processor's
cache. ``benchmarks/encoding.py`` (MiniLM, 15-word sentences, one busy core, CPU time) gave 217 texts/s: 0.98 of
the bare forward pass without padding (222) and 1.09 times sentence-transformers (199) in the same run. What is
left above that is the model's own: its matrix products alone, at the rate one core multiplied matrices of these
sizes in a separate measurement (98 GFLOP/s), would allow about 280. One H200
gave 6,018 sentences of novels a second (145,000 of them, tokenising and the cache included); what limits it there
was not measured.

Two promises: the vector of a text depends on the list it is asked in only through the last bits of float
arithmetic (padding is masked everywhere), and the same list always gives the same bits.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import DenseVectors

if TYPE_CHECKING:
    import torch

Pooling: TypeAlias = Literal["mean", "first", "last"]
Precision: TypeAlias = Literal["float32", "float16", "bfloat16"]
POOLINGS: tuple[str, ...] = get_args(Pooling)
PRECISIONS: tuple[str, ...] = get_args(Precision)
#: Bodies whose layers stand in ``encoder.layer`` and whose output is that of the last one, without a norm after it.
_CUTTABLE = frozenset({"bert", "camembert", "electra", "roberta", "xlm-roberta"})


class Tokeniser(Protocol):
    """What the hot path needs of a tokenizer."""

    pad_id: int

    def tokens(self, texts: Sequence[str], max_tokens: int) -> tuple[list[list[int]], list[list[int]] | None]:
        """Token ids with special tokens, and segment ids where the model uses them; at least one each."""
        ...

    def around(self, prefix: str) -> tuple[list[int], list[int]]:
        """The token ids placed before and after a text (special tokens and a prompt)."""
        ...

    def vocabulary(self, size: int) -> list[str]:
        """The tokens of ids 0 to ``size`` - 1."""
        ...


def without_surrogates(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, as U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def token_batches(lengths: Sequence[int], budget: int) -> Iterator[NDArray[np.intp]]:
    """Row numbers in batches of like length: longest first, rows times longest at most ``budget`` tokens.

    Ties keep their order, so equal lists make equal batches.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    while start < len(order):
        rows = max(1, budget // max(1, lengths[order[start]]))
        yield order[start : start + rows]
        start += rows


def default_batch_tokens(device: str) -> int:
    """A budget that fits a processor's cache, or one that keeps an accelerator busy."""
    return 1024 if device == "cpu" else 32_768


def pool(hidden: torch.Tensor, mask: torch.Tensor, pooling: str) -> torch.Tensor:
    """One vector per text from the outputs of its tokens, in float32 or better; padding never counts."""
    import torch

    hidden = hidden.to(torch.promote_types(hidden.dtype, torch.float32))
    if pooling == "first":
        return hidden[:, 0]
    if pooling == "last":
        rows = torch.arange(len(hidden), device=hidden.device)
        return hidden[rows, mask.sum(dim=1) - 1]
    weights = mask.to(hidden.dtype).unsqueeze(-1)
    return (hidden * weights).sum(dim=1) / weights.sum(dim=1)


@dataclass
class PooledModel:
    """A loaded transformer body with the way its token outputs become one vector.

    A layer is the number of an output of the model: 0 the embeddings, ``layers`` the last.
    """

    model: Any
    tokeniser: Tokeniser
    layers: int
    dimension: int
    pooling: str
    max_tokens: int
    device: str
    batch_tokens: int
    _bodies: dict[int, Any] = field(default_factory=dict, init=False, repr=False)

    def encode(self, texts: Sequence[str], *, layer: int, normalise: bool, prefix: str = "") -> DenseVectors:
        """The pooled output of a layer, one row per text."""
        import torch

        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        if not len(texts):
            return vectors
        ids, segments = self.tokeniser.tokens([without_surrogates(prefix + t) for t in texts], self.max_tokens)
        with torch.inference_mode():
            for rows in token_batches([len(i) for i in ids], self.batch_tokens):
                inputs = self._padded(rows, ids, segments)
                vectors[rows] = self._pooled(inputs, layer, normalise).cpu().numpy()
        return vectors

    def encode_soft(
        self, word_weights: Any, *, layer: int, normalise: bool, prefix: str = "", tokens: Any = None
    ) -> Any:
        """The same for words given as weights over the vocabulary, or over ``tokens`` of it (Song eq. 4)."""
        import torch

        table = self.model.get_input_embeddings().weight
        rows = table if tokens is None else table[torch.as_tensor(tokens, device=self.device)]
        words = word_weights.to(device=self.device, dtype=table.dtype) @ rows
        before, after = (
            table[torch.tensor(ids, dtype=torch.long, device=self.device)].expand(len(words), -1, -1)
            for ids in self.tokeniser.around(prefix)
        )
        embedded = torch.cat([before, words, after], dim=1)
        mask = torch.ones(embedded.shape[:2], dtype=torch.long, device=self.device)
        return self._pooled({"inputs_embeds": embedded, "attention_mask": mask}, layer, normalise)

    def _padded(
        self, rows: NDArray[np.intp], ids: list[list[int]], segments: list[list[int]] | None
    ) -> dict[str, torch.Tensor]:
        import torch

        shape = (len(rows), max(len(ids[r]) for r in rows))
        inputs = {
            "input_ids": np.full(shape, self.tokeniser.pad_id, dtype=np.int64),
            "attention_mask": np.zeros(shape, dtype=np.int64),
        }
        if segments is not None:
            inputs["token_type_ids"] = np.zeros(shape, dtype=np.int64)
        for position, row in enumerate(rows):
            length = len(ids[row])
            inputs["input_ids"][position, :length] = ids[row]
            inputs["attention_mask"][position, :length] = 1
            if segments is not None:
                inputs["token_type_ids"][position, :length] = segments[row]
        return {name: torch.from_numpy(values).to(self.device) for name, values in inputs.items()}

    def _pooled(self, inputs: dict[str, Any], layer: int, normalise: bool) -> Any:
        import torch

        body = self._cut(layer)
        inner = body is None
        output = (self.model if body is None else body)(**inputs, output_hidden_states=inner, return_dict=True)
        hidden = output.hidden_states[layer] if inner else output.last_hidden_state
        pooled = pool(hidden, inputs["attention_mask"], self.pooling)
        return torch.nn.functional.normalize(pooled, dim=1) if normalise else pooled

    def _cut(self, layer: int) -> Any:
        """The model that ends at this layer, sharing all weights; None where it has to run to its end.

        Layers above the asked one can't change its output, and an optimisation through a low layer spends most
        of its time in them otherwise.
        """
        if layer == self.layers:
            return self.model
        stack = getattr(getattr(self.model, "encoder", None), "layer", None)
        if self.model.config.model_type not in _CUTTABLE or stack is None or len(stack) != self.layers:
            return None
        if layer not in self._bodies:
            body = _shallow(self.model)
            body.encoder = _shallow(self.model.encoder)
            body.encoder.layer = stack[:layer]
            self._bodies[layer] = body
        return self._bodies[layer]


def _shallow(module: Any) -> Any:
    """A module with the same weights and children, in which a child can be replaced without touching the first."""
    twin = copy.copy(module)
    twin._modules = dict(module._modules)
    return twin
