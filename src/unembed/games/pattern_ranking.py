"""Ranking whole secrets by the product of their parts' probabilities, without enumerating them (Pan V-B2).

The best ``k`` of a product of independent parts are made of the best ``k`` of every beginning of it, so parts are
joined one after the other and only ``k`` beginnings are kept: exact, with k² sums per part and target instead of one
for each of the (often 10^15) possible secrets.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.patterns.pattern import Pattern

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Whole secrets are judged by their first and their first five guesses.
SHOWN = 5
#: So many of the likeliest combinations are looked through for possible ones.
LOOKED_AT = 64
_ROWS = 256


def best_products(scores: Sequence[FloatArray], k: int) -> tuple[IntArray, FloatArray]:
    """The ``k`` likeliest combinations: classes ``[n, k, parts]`` and their summed log-probabilities ``[n, k]``.

    ``scores`` are log-probabilities ``[n, classes]``, one array a part. Of fewer than ``k`` all are given.
    """
    n = len(scores[0])
    chosen, totals = np.zeros((n, 1, 0), dtype=np.int64), np.zeros((n, 1))
    for part in scores:
        top = _best(part, k)
        sums = totals[:, :, None] + np.take_along_axis(part, top, axis=1)[:, None, :]
        flat = sums.reshape(n, -1)
        kept = _best(flat, k)
        before, new = np.divmod(kept, top.shape[1])
        chosen = np.concatenate(
            [np.take_along_axis(chosen, before[:, :, None], axis=1), np.take_along_axis(top, new, axis=1)[:, :, None]],
            axis=2,
        )
        totals = np.take_along_axis(flat, kept, axis=1)
    return chosen, totals


def _best(values: FloatArray, k: int) -> IntArray:
    """Columns of the ``k`` largest values of each row, the largest first."""
    if values.shape[1] > k:
        few = np.sort(np.argpartition(-values, k - 1, axis=1)[:, :k], axis=1)
    else:
        few = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    order = np.argsort(-np.take_along_axis(values, few, axis=1), axis=1, kind="stable")
    return np.take_along_axis(few, order, axis=1)


def best_wholes(scores: Sequence[FloatArray], k: int = SHOWN) -> IntArray:
    """The ``k`` likeliest combinations ``[n, k, parts]``; where there are fewer the last is repeated."""
    rows = [best_products([s[i : i + _ROWS] for s in scores], k)[0] for i in range(0, len(scores[0]), _ROWS)]
    found = np.concatenate(rows) if rows else np.zeros((0, k, len(scores)), dtype=np.int64)
    short = k - found.shape[1]
    return found if short <= 0 else np.concatenate([found, np.repeat(found[:, -1:], short, axis=1)], axis=1)


def possible_wholes(
    scores: Sequence[FloatArray], pattern: Pattern, asked: IntArray, check: FloatArray | None, k: int = SHOWN
) -> IntArray:
    """The ``k`` likeliest combinations that can be: days the calendar has, numbers within their range.

    ``check`` are the log-probabilities of the check digit's classes: where all other fields are asked, a combination
    counts as likely as its own product times the probability of the check digit that belongs to it. Looked for among
    the ``LOOKED_AT`` likeliest; what is missing is filled up with the likeliest whatever they are.
    """
    found = np.empty((len(scores[0]), k, len(scores)), dtype=np.int64)
    parts = [int(p) for p in asked]
    for start in range(0, len(found), _ROWS):
        candidates, totals = best_products([s[start : start + _ROWS] for s in scores], LOOKED_AT)
        for row in range(len(candidates)):
            ranked = []
            for place, classes in enumerate(candidates[row]):
                values = pattern.values(classes, parts)
                if values is None:
                    continue
                implied = None if check is None else pattern.implied_check(values)
                extra = 0.0 if check is None or implied is None else float(check[start + row, implied[1]])
                ranked.append((-(totals[row, place] + extra), place))
            order = [place for _, place in sorted(ranked)[:k]]
            order += [p for p in range(len(candidates[row])) if p not in order][: k - len(order)]
            order += [order[-1]] * (k - len(order))
            found[start + row] = candidates[row][order]
    return found
