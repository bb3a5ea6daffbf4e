"""Choosing among candidates on held-back rows, as an adversary would: with its own pairs and nothing else.

Every row is held back once: candidates learn from the other folds and answer for it, and the one with the best answers
learns from all rows in the end. Only the candidates ahead after the first fold are tried on the others. The rows under
attack play no part, so the winner's score on them is not flattered by the choice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from unembed.attacks.learners.candidates import Candidate
from unembed.attacks.learners.folds import IntArray, folds
from unembed.encoders.base import Vectors
from unembed.nn.features import Standardiser

FOLDS = 3
#: Candidates that go on after the first fold.
AHEAD = 4
#: With more rows than this a single fold tells the candidates apart.
ENOUGH = 6000

FloatRows = NDArray[np.floating[Any]]


class Rows:
    """Vectors in the two forms learners take: standardised by column, and in common units.

    Common units centre the vectors and divide all columns by one number, so that a rotation of the space changes
    nothing that a learner sees. Sparse vectors keep the columns seen in training, in both forms scaled alone.
    ``kind`` is their precision: classes are told apart as well in single precision, in half the time.
    """

    def __init__(self, kind: type[np.floating[Any]] = np.float64) -> None:
        self.kind = kind

    def fit(self, vectors: Vectors) -> Rows:
        """Learn means and scales."""
        self.each_ = Standardiser().fit(vectors)
        plain = Standardiser("none").fit(vectors) if self.each_.columns_ is None else self.each_
        self.plain_ = plain
        rows = plain.transform(vectors).astype(np.float64)
        self.centre_ = rows.mean(axis=0)
        spread = float(np.sqrt(rows.var(axis=0).mean()))
        self.unit_ = spread if spread > 0 else 1.0
        return self

    @property
    def width(self) -> int:
        """How many columns a learner sees."""
        return self.each_.width

    def of(self, vectors: Vectors, raw: bool) -> FloatRows:
        """The rows in one of the forms."""
        if raw:
            common = (self.plain_.transform(vectors).astype(np.float64) - self.centre_) / self.unit_
            return np.asarray(common, dtype=self.kind)
        return np.asarray(self.each_.transform(vectors), dtype=self.kind)


@dataclass(frozen=True)
class Chosen:
    """The winner, fitted on all rows, and the held-back score of every candidate that was tried."""

    candidate: Candidate
    model: Any
    scores: dict[str, float]


@threadpool_limits.wrap(limits=1)  # type: ignore[untyped-decorator]
def choose(
    candidates: Sequence[Candidate],
    rows: dict[bool, FloatRows],
    target: NDArray[Any],
    score: Callable[[NDArray[Any], NDArray[np.int64]], float],
    answers: Callable[[Candidate, Any, FloatRows], NDArray[Any]],
    seed: int,
    asked: dict[bool, FloatRows] | None = None,
    origins: IntArray | None = None,
) -> Chosen:
    """Try all on the first fold, the best of them on the others; fit the winner on everything.

    ``rows`` are the inputs by form (standardised, in common units); ``answers`` makes a candidate's model answer;
    ``score`` rates answers for the given rows, higher is better; ``asked`` are the rows as they are answered for, where
    that is another form than they are learnt in; rows of one origin are held back together. Runs in one thread: the
    products are so small that several threads wait for each other, ten times as long on a busy machine.
    """
    if len(candidates) == 1:
        only = candidates[0]
        return Chosen(only, _fitted(only, rows[only.raw], target), {})
    parts = folds(target, seed, FOLDS, origins)[: 1 if len(target) > ENOUGH else FOLDS]
    held: dict[str, list[NDArray[Any]]] = {}
    tried: dict[str, float] = {}
    going = list(candidates)
    for number, fold in enumerate(parts):
        rest = np.setdiff1d(np.arange(len(target)), fold)
        for candidate in going:
            own = rows[candidate.raw]
            model = _fitted(candidate, own[rest], target[rest])
            held.setdefault(candidate.name, []).append(answers(candidate, model, (asked or rows)[candidate.raw][fold]))
        seen = np.concatenate(parts[: number + 1])
        for candidate in going:
            tried[candidate.name] = score(np.concatenate(held[candidate.name]), seen)
        if number == 0 and len(parts) > 1:
            going = sorted(going, key=lambda c: -tried[c.name])[:AHEAD]
    winner = max(going, key=lambda c: tried[c.name])
    return Chosen(winner, _fitted(winner, rows[winner.raw], target), tried)


def _fitted(candidate: Candidate, rows: FloatRows, target: NDArray[Any]) -> Any:
    """The candidate's model; stopping at its limit of steps is intended, so nothing is warned of."""
    import warnings

    from sklearn.base import clone
    from sklearn.exceptions import ConvergenceWarning

    model = clone(candidate.model)
    if getattr(model, "n_neighbors", 0) > len(rows):  # chosen for more rows than this fold or this keyword has
        model.set_params(n_neighbors=len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(rows, target)
