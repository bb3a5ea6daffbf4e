"""word2vec in compiled code of ours, for CPU: one model per thread, the same bits for the same seed.

Skip-gram and CBOW with negative sampling, step for step as gensim has them; two models of one text differ as much as
two of gensim's with other seeds do. A pair of words costs three passes over 1 + negatives rows, 6·(1 + negatives)·d
operations, and the rows lie in the processor's cache: arithmetic is the limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unembed.errors import MissingExtraError
from unembed.params import Params
from unembed.shadows.base import IntArray, Settings, TokenCorpus, WordTable
from unembed.shadows.plan import Plan, plan_for


class Compiled:
    """Trains with numba's compiled code (the extra ``shadows``)."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()

    @property
    def identity(self) -> Params:
        """Its name, version and settings."""
        return {"trainer": "compiled", "version": 1, **vars(self.settings)}

    def train(self, corpus: TokenCorpus, rows: IntArray, seed: int) -> WordTable:
        """A model of the texts ``rows``, read in this order in every pass."""
        plan = plan_for(corpus, rows, self.settings)
        return WordTable(plan.numbers, trained(plan, self.settings, seed))


def trained(plan: Plan, settings: Settings, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """The table after all passes."""
    try:
        from unembed.shadows.walk import walk_for
    except ImportError as error:
        raise MissingExtraError("the compiled trainer", "shadows") from error
    inner = first_table(len(plan.numbers), settings.dimension, seed)
    outer = np.zeros_like(inner)
    walk_for(settings.dimension)(
        plan.tokens, plan.starts, plan.skip, plan.noise, inner, outer, np.uint32(seed & 0xFFFFFFFF),
        settings.passes, settings.window, settings.negatives, settings.learning_rate, settings.last_rate,
        settings.architecture == "skip-gram",
    )  # fmt: skip
    return inner


def first_table(words: int, dimension: int, seed: int) -> np.ndarray[Any, np.dtype[np.float32]]:
    """Small random vectors, as word2vec begins with."""
    drawn = np.random.default_rng(seed).random((words, dimension), dtype=np.float32)
    return (2 * drawn - 1) / np.float32(dimension)
