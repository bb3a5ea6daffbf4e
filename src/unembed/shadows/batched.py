"""word2vec for hundreds of models at once, on one GPU.

Each model has its own sample of the texts, its own words, and its own seed. A pass is two kernels: the texts are
thinned out, then one program per model walks its texts step by step, as gensim does. The limit is memory traffic: a
pair of words reads and writes 2 + negatives rows of both tables, the centre word's once per window.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from unembed.errors import MissingExtraError, UsageError
from unembed.nn.device import pick_device
from unembed.params import Params
from unembed.shadows.base import IntArray, Settings, TokenCorpus, WordTable
from unembed.shadows.compiled import first_table
from unembed.shadows.plan import Plan, plan_for

#: Words of a text that are thinned out at once.
_BLOCK = 256
#: Warps that share the steps of one model.
WARPS = 1


class Batched:
    """Trains with Triton's kernels. ``most`` models share the device at a time."""

    def __init__(self, settings: Settings | None = None, *, device: str = "auto", most: int = 1024) -> None:
        self.settings = settings or Settings()
        self.device = device
        self.most = most

    @property
    def identity(self) -> Params:
        """Its name, version and settings."""
        return {"trainer": "batched", "version": 1, **vars(self.settings)}

    def train(self, corpus: TokenCorpus, rows: IntArray, seed: int) -> WordTable:
        """A model of the texts ``rows``, read in this order in every pass."""
        return self.train_many(corpus, [rows], [seed])[0]

    def train_many(self, corpus: TokenCorpus, samples: Sequence[IntArray], seeds: Sequence[int]) -> list[WordTable]:
        """A model of each sample of texts."""
        tables: list[WordTable] = []
        with ThreadPoolExecutor() as pool:
            for start in range(0, len(samples), self.most):
                some = samples[start : start + self.most]
                plans = list(pool.map(lambda rows: plan_for(corpus, rows, self.settings), some))
                tables += trained_together(plans, self.settings, seeds[start : start + self.most], self.device)
        return tables


@dataclass
class _Laid:
    """All plans of a batch one behind the other, on the device; numbers of a plan's arrays stay its own."""

    tokens: Any
    begins: Any
    ends: Any
    model_of: Any
    first_text: Any
    origins: Any
    sizes: Any
    first_row: Any
    skip: Any
    noise: Any
    rows: list[int]


def trained_together(plans: Sequence[Plan], settings: Settings, seeds: Sequence[int], device: str) -> list[WordTable]:
    """The tables of all plans after all passes."""
    torch, kernels, where = _ready(device)
    laid = _laid(plans, torch, where)
    starts = [first_table(len(plan.numbers), settings.dimension, seed) for plan, seed in zip(plans, seeds, strict=True)]
    inner = torch.from_numpy(np.concatenate(starts)).to(where)
    outer = torch.zeros_like(inner)
    kept, counts = torch.empty_like(laid.tokens), torch.empty(len(laid.begins), dtype=torch.int32, device=where)
    width = 1 << (settings.dimension - 1).bit_length()
    slots = 1 << (settings.negatives - 1).bit_length()
    for turn in range(settings.passes):
        keys = torch.from_numpy(_keys(seeds, turn)).to(where)
        kernels.thin[(len(laid.begins),)](
            laid.tokens, laid.begins, laid.ends, laid.origins, laid.model_of, laid.skip, laid.first_row, keys,
            kept, counts, block=_BLOCK, num_warps=1,
        )  # fmt: skip
        kernels.walk[(len(plans),)](
            kept, counts, laid.begins, laid.first_text, laid.origins, laid.first_row, laid.noise, keys,
            inner, outer, laid.sizes, settings.learning_rate, settings.last_rate, turn,
            passes=settings.passes, window=settings.window, negatives=settings.negatives,
            entries=int(laid.noise.shape[1]), dimension=settings.dimension, width=width, slots=slots,
            skip_gram=settings.architecture == "skip-gram", num_warps=WARPS,
        )  # fmt: skip
    made = np.split(inner.cpu().numpy(), np.cumsum(laid.rows)[:-1])
    return [WordTable(plan.numbers, vectors) for plan, vectors in zip(plans, made, strict=True)]


def _laid(plans: Sequence[Plan], torch: Any, where: Any) -> _Laid:
    lengths = [len(plan.tokens) for plan in plans]
    origins = np.concatenate([[0], np.cumsum(lengths)])[:-1]
    texts = [len(plan.starts) - 1 for plan in plans]
    rows = [len(plan.numbers) for plan in plans]
    entries = max(len(plan.noise) for plan in plans)
    noise = np.stack([np.repeat(plan.noise, entries // len(plan.noise)) for plan in plans])

    def put(parts: Any, kind: type[np.generic]) -> Any:
        return torch.from_numpy(np.ascontiguousarray(parts, dtype=kind)).to(where)

    return _Laid(
        tokens=put(np.concatenate([plan.tokens for plan in plans]), np.int32),
        begins=put(np.concatenate([p.starts[:-1] + o for p, o in zip(plans, origins, strict=True)]), np.int64),
        ends=put(np.concatenate([p.starts[1:] + o for p, o in zip(plans, origins, strict=True)]), np.int64),
        model_of=put(np.repeat(np.arange(len(plans)), texts), np.int32),
        first_text=put(np.concatenate([[0], np.cumsum(texts)]), np.int64),
        origins=put(origins, np.int64),
        sizes=put(np.maximum(lengths, 1), np.int64),
        first_row=put(np.concatenate([[0], np.cumsum(rows)])[:-1], np.int64),
        skip=put(np.concatenate([plan.skip for plan in plans]).view(np.int32), np.int32).view(torch.uint32),
        noise=put(noise, np.int32),
        rows=rows,
    )


def _keys(seeds: Sequence[int], turn: int) -> Any:
    """What a pass of each model draws its random numbers with."""
    x = (np.array([seed & 0xFFFFFFFF for seed in seeds], dtype=np.uint64) + turn * 0x85EBCA6B) & 0xFFFFFFFF
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        x = ((x ^ (x >> np.uint64(shift))) * np.uint64(factor)) & np.uint64(0xFFFFFFFF)
    return (x ^ (x >> np.uint64(16))).astype(np.uint32)


def _ready(device: str) -> tuple[Any, Any, Any]:
    """torch, the kernels and the device; Triton needs a GPU, or its own interpreter for tests."""
    try:
        import torch

        from unembed.shadows import kernels
    except ImportError as error:
        raise MissingExtraError("the batched trainer", "gpu") from error
    where = pick_device(device)
    if where.type == "cpu" and os.environ.get("TRITON_INTERPRET") != "1":
        raise UsageError("the batched trainer needs a GPU; on a CPU use the compiled one")
    return torch, kernels, where
