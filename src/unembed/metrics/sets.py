"""Precision, recall and F1 of recovered word sets, per text and pooled.

A text's counts are ``(hits, guessed, present)``: words in both, words guessed, words in the text.
The weighted forms weigh every word, e.g. by its rarity (Corò eq. 4.7-4.8): then the counts are sums of
weights, and nothing else changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.metrics.spread import FloatArray, Rates

HITS, GUESSED, PRESENT = 0, 1, 2


def set_counts(
    truth: Any, guess: Any, *, columns: NDArray[np.bool_] | None = None, weights: FloatArray | None = None
) -> FloatArray:
    """Counts ``[n, 3]`` from two sparse 0/1 matrices ``[n, words]``; ``columns`` keeps some of the words."""
    if truth.shape != guess.shape:
        raise ValueError(f"truth is {truth.shape}, guess is {guess.shape}")
    true, guessed = (truth != 0).astype(np.float64).tocsr(), (guess != 0).astype(np.float64).tocsr()
    value = np.ones(true.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    if columns is not None:
        value = value * columns
    both = true.multiply(guessed).tocsr()
    return np.stack([both @ value, guessed @ value, true @ value], axis=1)


#: Share of the guessed words that were there; 0 where nothing was guessed.
precision = Rates(lambda sums: (sums[..., HITS, None], sums[..., GUESSED, None]), empty=0.0)
#: Share of the words present that were guessed; 0 where nothing was there.
recall = Rates(lambda sums: (sums[..., HITS, None], sums[..., PRESENT, None]), empty=0.0)
#: Harmonic mean of precision and recall: 2 hits / (guessed + present).
f1 = Rates(lambda sums: (2 * sums[..., HITS, None], (sums[..., GUESSED] + sums[..., PRESENT])[..., None]), empty=0.0)


def per_text(counts: FloatArray, statistic: Rates = f1) -> FloatArray:
    """A metric of each text (Corò eq. 4.6, 4.7); NaN for a text that has none of the words in question."""
    return np.where(counts[:, PRESENT] > 0, statistic(counts), np.nan)


def best_prefix(hit_mass: FloatArray, present_mass: float, *, size: FloatArray | None = None) -> int:
    """How many of the ranked items to guess for the best F1, given the hits each is expected to bring.

    ``hit_mass[i]`` is the expected number of hits of item ``i`` over all texts, ``size[i]`` how many guesses it
    costs. Used for the best constant guess and for thresholds.
    """
    hits = np.cumsum(hit_mass)
    guesses = np.cumsum(np.ones_like(hits) if size is None else size)
    if not len(hits) or present_mass <= 0:
        return 0
    return int(np.argmax(2 * hits / (guesses + present_mass))) + 1
