"""Non-negative sparse coding over a word matrix (Song 3.1, eq. 7), for thousands of targets at once.

For every target m: min over z ≥ 0 of ‖Vᵀz − m‖² + λ‖z‖₁, V of size words × d. :class:`SparseCoder` keeps a small
working set of words for each target. It solves those small problems exactly (``nonnegative``), then looks at all
words (``columns_ahead``). Words that break the optimality conditions come into the working set, words at zero leave it,
and a target is finished when its duality gap is small enough. The paper's own procedure is ``projected_adam``.

The limit is one dense pass, the matrix product of 2 · targets · words · d operations: no certificate over all words can
do with less. ``benchmarks/sparse_coding.py`` prints how many passes' time the solver takes.

The certificate: with residual r, u = s·r is feasible for the dual problem, max 2uᵀm − ‖u‖² subject to Vu ≤ λ/2, once
s ≤ λ / (2 · max v·r). So the objective at z is at most ``gap`` above the optimum, whatever way z was found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from unembed.attacks.inversion.sparse.columns_ahead import GROUP, Looker
from unembed.attacks.inversion.sparse.working_sets import WorkingSets
from unembed.errors import UsageError
from unembed.nn.device import pick_device

FloatArray = NDArray[np.float64]

#: Targets worked on together; more would only cost memory.
CHUNK = 16_384
TILE = 512


@dataclass(frozen=True)
class SparseCodes:
    """Solutions with their certificates, one row per target.

    ``gap`` bounds how far ``objective`` lies above the optimum; ``kkt`` is the largest violation of the optimality
    conditions, as a share of the penalty. ``looks`` counts how often all words were looked at, a target, and
    ``full_looks`` how often that had to be repeated in full precision.
    """

    codes: csr_matrix
    objective: FloatArray
    gap: FloatArray
    kkt: FloatArray
    converged: NDArray[np.bool_]
    looks: float
    full_looks: float


class SparseCoder:
    """Solves eq. 7 for one word matrix; keep it to solve for further targets and penalties.

    Args:
        words: V, one row per word; float64 is kept, anything else becomes float32.
        device: where it runs.
    """

    def __init__(self, words: Any, *, device: str = "auto") -> None:
        chosen = pick_device(device)
        # The small problems need double precision, which Apple's devices lack.
        self.device = torch.device("cpu") if chosen.type == "mps" else chosen
        table = np.asarray(words)
        if table.ndim != 2 or not table.size:
            raise UsageError(f"a word matrix has rows and columns, this one is {table.shape}")
        if not np.isfinite(table).all():
            raise UsageError("the word matrix holds NaN or infinite values")
        self.count, self.dimension = table.shape
        # At least one row of zeros at the end stands for "no word" in working sets of different sizes.
        dtype = np.float64 if table.dtype == np.float64 else np.float32
        padded = np.zeros(((self.count // GROUP + 1) * GROUP, self.dimension), dtype=dtype)
        padded[: self.count] = table
        self.looker = Looker(torch.from_numpy(padded).to(self.device))

    @property
    def table(self) -> torch.Tensor:
        """The word matrix on the device."""
        return self.looker.words[: self.count]

    def largest_penalty(self, targets: Any) -> FloatArray:
        """For each target the penalty from which on its code is empty, 2 · max v·m."""
        rows = checked_targets(targets, self.dimension)
        parts = [torch.from_numpy(rows[i : i + TILE]).to(self.table) for i in range(0, len(rows), TILE)]
        highest = [2 * (part @ self.table.T).amax(dim=1).clamp_min(0).double().cpu().numpy() for part in parts]
        return np.concatenate(highest) if highest else np.zeros(0)

    def solve(
        self, targets: Any, penalty: float, *, tolerance: float = 1e-5, start: csr_matrix | None = None
    ) -> SparseCodes:
        """Codes of ``targets`` [n, d], each with a duality gap of at most ``tolerance`` times its objective.

        Twice the least gap that the precision of V can prove is added to that. ``start`` are codes of the same targets,
        for example under another penalty.
        """
        rows = checked_targets(targets, self.dimension, penalty)
        if start is not None and start.shape != (len(rows), self.count):
            raise UsageError(f"codes to start from are {start.shape}, not {(len(rows), self.count)}")
        before = self.looker.looks, self.looker.full_looks
        parts = []
        for first in range(0, len(rows), CHUNK):
            part = torch.from_numpy(rows[first : first + CHUNK]).to(self.looker.words)
            known = None if start is None else start[first : first + CHUNK]
            parts.append(WorkingSets(self.looker, part, penalty, tolerance).run(known))
        self.looker.forget()
        if not parts:
            nothing = np.zeros(0)
            return SparseCodes(csr_matrix((0, self.count)), nothing, nothing, nothing, nothing.astype(bool), 0.0, 0.0)
        objective, gap, kkt = np.concatenate([p.figures for p in parts]).T
        return SparseCodes(
            csr_matrix(vstack([p.codes for p in parts]))[:, : self.count],
            objective,
            gap,
            kkt,
            np.concatenate([p.converged for p in parts]),
            (self.looker.looks - before[0]) / len(rows),
            (self.looker.full_looks - before[1]) / len(rows),
        )


def checked_targets(targets: Any, dimension: int, penalty: float | None = None) -> NDArray[Any]:
    """Targets as an array that fits the word matrix, or an error that says what is wrong with them or the penalty."""
    rows = np.asarray(targets)
    if rows.ndim != 2 or rows.shape[1] != dimension:
        raise UsageError(f"targets are {rows.shape}, the word matrix has {dimension} dimensions")
    if not np.isfinite(rows).all():
        raise UsageError("targets hold NaN or infinite values")
    if penalty is not None and not penalty > 0:
        raise UsageError(f"the penalty must be above 0, not {penalty}")
    return rows
