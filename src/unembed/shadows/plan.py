"""What a training needs before its first step: which words are frequent enough, how often each is skipped or drawn.

As word2vec does it: words below ``min_count`` are dropped before windows are laid, frequent words are skipped at random
in every pass, and negatives are drawn in proportion to the count to the power 0.75. Both engines of ours, on CPU and
GPU, walk the same plan with the same random numbers, so that one can be held against the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError
from unembed.shadows.base import IntArray, Settings, TokenCorpus

#: Entries of the table that negatives are drawn from, per word at least, and at least this many in all.
ENTRIES_PER_WORD, FEWEST_ENTRIES = 32, 2**18
_POWER = 0.75
_ONE = 2**32


@dataclass(frozen=True)
class Plan:
    """One model's reading: its words as rows of its table, text after text.

    ``skip`` is the random number from which on a word is skipped in a pass, of 2**32. ``noise`` holds each row as often
    as it is to be drawn; its length is a power of two.
    """

    numbers: IntArray
    tokens: NDArray[np.int32]
    starts: IntArray
    skip: NDArray[np.uint32]
    noise: NDArray[np.int32]


def plan_for(corpus: TokenCorpus, rows: IntArray, settings: Settings) -> Plan:
    """Count, drop rare words, and lay out the texts ``rows`` in their order."""
    tokens, starts = corpus.some(np.asarray(rows, dtype=np.int64))
    counts = np.bincount(tokens, minlength=len(corpus.vocabulary))
    numbers = np.flatnonzero(counts >= settings.min_count)
    if not len(numbers):
        raise CannotMeasureError(
            f"no word occurs min_count={settings.min_count} times in {len(rows):,} texts: nothing can be learnt"
        )
    row_of = np.full(len(counts), -1, dtype=np.int32)
    row_of[numbers] = np.arange(len(numbers), dtype=np.int32)
    placed = row_of[tokens]
    kept = placed >= 0
    before = np.concatenate([[0], np.cumsum(kept)])
    frequency = counts[numbers].astype(np.float64)
    return Plan(
        numbers.astype(np.int64),
        np.ascontiguousarray(placed[kept]),
        before[starts].astype(np.int64),
        _skipping(frequency, settings.sample),
        _noise(frequency),
    )


def _skipping(counts: NDArray[np.float64], sample: float) -> NDArray[np.uint32]:
    """word2vec's sub-sampling: a word of relative frequency f is kept with probability √(s/f) + s/f."""
    if not sample:
        return np.full(len(counts), _ONE - 1, dtype=np.uint32)
    share = sample * counts.sum() / counts
    return np.asarray(np.minimum((np.sqrt(share) + share) * _ONE, _ONE - 1), dtype=np.uint32)


def _noise(counts: NDArray[np.float64]) -> NDArray[np.int32]:
    """Each row in proportion to its count to the power 0.75."""
    size = max(FEWEST_ENTRIES, 1 << int(ENTRIES_PER_WORD * len(counts) - 1).bit_length())
    share = np.cumsum(counts**_POWER)
    ends = np.rint(share / share[-1] * size).astype(np.int64)
    return np.repeat(np.arange(len(counts), dtype=np.int32), np.diff(ends, prepend=0))
