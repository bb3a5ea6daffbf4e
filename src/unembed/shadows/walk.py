"""The steps of the compiled trainer: every pass over every text, as numba compiles it.

Random numbers come from a hash of the model's seed, the pass and the place in the text, so they do not depend on what
was drawn before, and the engine on the GPU draws the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np

#: What a random number is for: keeping a word in this pass, the reach of a window, a negative (and which).
KEEP, WINDOW, NEGATIVE = 1, 2, 3
#: Beyond this a score is as good as right or wrong, and word2vec leaves it alone.
LARGEST_SCORE = np.float32(6.0)

compiled: Any = numba.njit(nogil=True, fastmath=True, error_model="numpy")


@compiled
def mixed(x: Any) -> Any:
    """A 32-bit hash (Ellis' lowbias32)."""
    x = np.uint32(x)
    x = np.uint32(x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x = np.uint32(x)
    x = np.uint32(x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    x = np.uint32(x)
    return np.uint32(x ^ (x >> np.uint32(16)))


@compiled
def drawn(key: Any, place: Any, purpose: Any) -> Any:
    """32 random bits for one purpose at one place of one pass."""
    return mixed(np.uint32(mixed(np.uint32(np.uint32(place) ^ key)) + np.uint32(purpose) * np.uint32(0x9E3779B9)))


@lru_cache(maxsize=8)
def walk_for(dimension: int) -> Any:
    """The training loop for vectors of one dimension, compiled: with a fixed length every row is a few instructions."""

    @compiled
    def dot(x: Any, y: Any) -> Any:
        total = np.float32(0)
        for d in range(dimension):
            total += x[d] * y[d]
        return total

    @compiled
    def add(x: Any, factor: Any, y: Any) -> None:
        for d in range(dimension):
            x[d] += factor * y[d]

    @compiled
    def pair(inner: Any, outer: Any, word: Any, outs: Any, o: Any, alpha: Any, grads: Any, step: Any) -> None:
        """One word of the window is to tell the centre word from the negatives."""
        x = inner[word]
        for k in range(o):
            grads[k] = pull(dot(x, outer[outs[k]]), k == 0, alpha)
        step[:] = 0
        for k in range(o):
            y = outer[outs[k]]
            add(step, grads[k], y)
            add(y, grads[k], x)
        add(x, np.float32(1), step)

    @compiled
    def bag(inner: Any, outer: Any, near: Any, m: Any, outs: Any, o: Any, alpha: Any, mean: Any, step: Any) -> None:
        """The mean of the window is to tell the centre word from the negatives (CBOW)."""
        mean[:] = 0
        step[:] = 0
        for j in range(m):
            add(mean, np.float32(1) / np.float32(m), inner[near[j]])
        for k in range(o):
            y = outer[outs[k]]
            g = pull(dot(mean, y), k == 0, alpha)
            add(step, g, y)
            add(y, g, mean)
        for j in range(m):
            add(inner[near[j]], np.float32(1), step)

    @compiled
    def walk(
        tokens: Any, starts: Any, skip: Any, noise: Any, inner: Any, outer: Any, seed: Any,
        passes: Any, window: Any, negatives: Any, rate: Any, last_rate: Any, skip_gram: Any,
    ) -> None:  # fmt: skip
        """Train ``inner`` and ``outer`` in place."""
        longest = 0
        for text in range(len(starts) - 1):
            longest = max(longest, starts[text + 1] - starts[text])
        kept = np.empty(longest, np.int32)
        near = np.empty(2 * window, np.int32)
        outs = np.empty(1 + negatives, np.int32)
        grads = np.empty(1 + negatives, np.float32)
        mean = np.empty(dimension, np.float32)
        step = np.empty(dimension, np.float32)
        total = np.float64(passes) * len(tokens)
        for turn in range(passes):
            key = mixed(np.uint32(seed) + np.uint32(turn) * np.uint32(0x85EBCA6B))
            for text in range(len(starts) - 1):
                begin = starts[text]
                n = 0
                for place in range(begin, starts[text + 1]):
                    if drawn(key, place, KEEP) <= skip[tokens[place]]:
                        kept[n] = tokens[place]
                        n += 1
                done = (np.float64(turn) * len(tokens) + begin) / total
                alpha = np.float32(rate - (rate - last_rate) * done)
                for i in range(n):
                    place = begin + i
                    reach = 1 + np.int64(drawn(key, place, WINDOW) % np.uint32(window))
                    first, last = max(0, i - reach), min(n, i + reach + 1)
                    outs[0] = kept[i]
                    if skip_gram:
                        for j in range(first, last):
                            if j != i:
                                purpose = NEGATIVE + (j - i + window) * negatives
                                o = negatives_for(outs, noise, key, place, purpose, negatives)
                                pair(inner, outer, kept[j], outs, o, alpha, grads, step)
                    else:
                        m = 0
                        for j in range(first, last):
                            if j != i:
                                near[m] = kept[j]
                                m += 1
                        if m:
                            o = negatives_for(outs, noise, key, place, NEGATIVE, negatives)
                            bag(inner, outer, near, m, outs, o, alpha, mean, step)

    return walk


@compiled
def negatives_for(outs: Any, noise: Any, key: Any, place: Any, purpose: Any, negatives: Any) -> Any:
    """Draw negatives behind the centre word in ``outs``; the centre itself, or the same row again, does not count."""
    mask = np.uint32(len(noise) - 1)
    o = 1
    for k in range(negatives):
        row = noise[drawn(key, place, purpose + k) & mask]
        fresh = True
        for other in range(o):
            fresh = fresh and outs[other] != row
        if fresh:
            outs[o] = row
            o += 1
    return o


@compiled
def pull(score: Any, label: Any, alpha: Any) -> Any:
    """The gradient of the logistic loss times the learning rate; none where the score is beyond the largest."""
    if score >= LARGEST_SCORE or score <= -LARGEST_SCORE:
        return np.float32(0)
    return (np.float32(label) - np.float32(1) / (np.float32(1) + np.exp(-score))) * alpha
