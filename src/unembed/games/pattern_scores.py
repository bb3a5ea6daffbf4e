"""Scores of the pattern game: parts, fields and wholes, by the first guess and by the first five."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.patterns.pattern import Pattern
from unembed.games.base import Detail, IntArray, Scores, SliceScore
from unembed.games.pattern_ranking import SHOWN, FloatArray, best_wholes
from unembed.metrics.classes import top_k_hits
from unembed.metrics.estimate import Measure, estimates_of, ratio


def score_pattern(
    pattern: Pattern,
    asked: IntArray,
    labels: IntArray,
    scores: Sequence[FloatArray],
    wholes: IntArray,
    groups: Sequence[object] | None,
) -> Scores:
    """Rows of (parts read right, parts asked); the detail holds the rest.

    Slices: ``part`` and ``part_top5`` for every sub-attack, ``field`` and ``field_top5`` for fields of several parts,
    whose first guesses are the likeliest products of their parts. First five of five classes or fewer are
    left out: they can't be wrong.
    """
    right = np.stack([top_k_hits(s, labels[:, i], 1) for i, s in enumerate(scores)], axis=1)
    parts = np.stack([right.sum(axis=1), np.full(len(right), right.shape[1])], axis=1).astype(np.float64)

    def work_out() -> Detail:
        measures = {
            "whole_top1": Measure.mean(whole_hits(wholes, labels, 1)),
            "whole_top5": Measure.mean(whole_hits(wholes, labels, SHOWN)),
            "part_top5": Measure(_top5(scores, labels), ratio),
        }
        named: dict[tuple[str, str], Measure] = {}
        for i, part in enumerate(asked):
            name, size = pattern.parts[int(part)].name, scores[i].shape[1]
            named["part", name] = Measure.mean(right[:, i])
            if size > SHOWN:
                named["part_top5", name] = Measure.mean(top_k_hits(scores[i], labels[:, i], SHOWN))
        for field, columns in _fields(pattern, asked).items():
            best, own = best_wholes([scores[i] for i in columns]), labels[:, columns]
            named["field", field] = Measure.mean(whole_hits(best, own, 1))
            named["field_top5", field] = Measure.mean(whole_hits(best, own, SHOWN))
        everything = measures | {"/".join(key): measure for key, measure in named.items()}
        found = estimates_of(everything, groups=groups)
        slices = tuple(SliceScore(kind, name, found[f"{kind}/{name}"]) for kind, name in named)
        return Detail({name: found[name] for name in measures}, slices)

    return Scores(parts, ratio, groups, work_out)


def whole_hits(wholes: IntArray, labels: IntArray, k: int) -> NDArray[np.bool_]:
    """Whether all parts are right in one of the first ``k`` wholes."""
    hits: NDArray[np.bool_] = (wholes[:, :k] == labels[:, None]).all(axis=2).any(axis=1)
    return hits


def _top5(scores: Sequence[FloatArray], labels: IntArray) -> FloatArray:
    hits = np.stack([top_k_hits(s, labels[:, i], SHOWN) for i, s in enumerate(scores)], axis=1)
    return np.stack([hits.sum(axis=1), np.full(len(hits), hits.shape[1])], axis=1).astype(np.float64)


def _fields(pattern: Pattern, asked: IntArray) -> dict[str, list[int]]:
    """Fields of several parts, with their columns, where they are not the whole."""
    columns: dict[str, list[int]] = {}
    for i, part in enumerate(asked):
        columns.setdefault(pattern.parts[int(part)].field, []).append(i)
    return {name: own for name, own in columns.items() if 1 < len(own) < len(asked)}
