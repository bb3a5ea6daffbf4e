"""The rounds of ``nn.sparse_coding.SparseCoder``: choose words, solve the small problems, look at all words.

A round on a target costs a gather of k word vectors, their Gram matrix (2 · k² · d operations), the small problem, and
a look at all words. k is the number of words in use plus ``MORE``. Only targets without a certificate go into the next
round, sorted by k, so that those with many words don't slow down the rest.

On a CPU every thread works on a portion of its own. The steps are many and small: shared among threads, each would wait
for the slowest thread at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unembed.attacks.inversion.sparse.columns_ahead import Looker, Seen
from unembed.attacks.inversion.sparse.nonnegative import SmallProblems

T = TypeVar("T")
R = TypeVar("R")

#: Words in a working set at the start, and how many come in with each further look.
FIRST, MORE = 40, 24
MAX_ROUNDS = 60
#: While words outside break their limit by more than this, those inside are only solved for roughly, so many rounds.
NEARLY_KEPT, MOST_ROUGH = 0.3, 4
#: After so many rounds every look is taken in full precision.
MOST_HALF = 12
#: Bytes that gathered word vectors, or the result of a look, may take up, by kind of device.
TILE_BYTES = {"cpu": 24 * 2**20, "cuda": 2 * 2**30}


@dataclass(frozen=True)
class Solved:
    """Codes over all rows of the word matrix, with (objective, gap, KKT violation) a target."""

    codes: csr_matrix
    figures: NDArray[np.float64]
    converged: NDArray[np.bool_]


@dataclass(frozen=True)
class _Task:
    """A round to be done on some targets."""

    index: torch.Tensor
    value: torch.Tensor
    targets: torch.Tensor
    exactly: bool
    full: bool


@dataclass(frozen=True)
class _Step:
    """A round that was done."""

    index: torch.Tensor
    value: torch.Tensor
    seen: Seen
    figures: torch.Tensor


class WorkingSets:
    """Some targets with their working sets: word numbers ``index`` and coefficients ``value``, [n, k].

    The last row of the word matrix is zero and fills up sets of different sizes.
    """

    def __init__(self, looker: Looker, targets: torch.Tensor, penalty: float, tolerance: float) -> None:
        self.looker, self.words = looker, looker.words
        self.targets, self.penalty, self.tolerance = targets, penalty, tolerance
        n, device = len(targets), targets.device
        self.nobody = len(self.words) - 1
        self.index = torch.full((n, 0), self.nobody, dtype=torch.long, device=device)
        self.value = targets.new_zeros(n, 0)
        self.width = torch.zeros(n, dtype=torch.long, device=device)
        self.figures = torch.zeros(n, 4, dtype=torch.float64, device=device)
        self.broken = torch.full((n,), torch.inf, dtype=targets.dtype, device=device)
        """By which share of its limit the worst word outside a working set lay above it."""

    def run(self, start: csr_matrix | None) -> Solved:
        """Rounds until every target has its certificate, or ``MAX_ROUNDS`` are over."""
        left = torch.arange(len(self.targets), device=self.targets.device)
        with one_tile_a_thread(self.targets.device) as each:
            if start is None:
                tiles = list(self._tiles(left, FIRST))
                for tile, best in zip(tiles, each(self._first_look, tiles), strict=True):
                    self._store(tile, best, self.targets.new_zeros(best.shape))
            else:
                self._start_from(start)
            for number in range(MAX_ROUNDS):
                if not len(left):
                    break
                order = left[torch.argsort(self.width[left], stable=True)]
                tiles = list(self._tiles(order))
                steps = each(self._solve_and_look, [self._task(tile, number) for tile in tiles])
                left = torch.cat([self._note(tile, step) for tile, step in zip(tiles, steps, strict=True)])
        converged = torch.ones(len(self.targets), dtype=torch.bool)
        converged[left.cpu()] = False
        return Solved(self._codes(), self.figures[:, :3].cpu().numpy(), converged.numpy())

    def _first_look(self, tile: torch.Tensor) -> torch.Tensor:
        return self.looker.look(self.targets[tile], self.index[tile, :0], FIRST, torch.inf).index

    def _task(self, tile: torch.Tensor, number: int) -> _Task:
        k = int(self.width[tile].max())
        exactly = number >= MOST_ROUGH or bool((self.broken[tile] < NEARLY_KEPT).float().mean() > 0.2)
        return _Task(self.index[tile, :k], self.value[tile, :k], self.targets[tile], exactly, number >= MOST_HALF)

    def _solve_and_look(self, task: _Task) -> _Step:
        """Solve the small problems, look at all words, work out the certificates; changes nothing of this object."""
        small = SmallProblems.of(self.words, self.looker.norms, task.index, task.targets, self.penalty)
        value = small.solve(task.value, exactly=task.exactly)
        residual = small.residual(value)
        held = torch.where(value > 0, task.index, self.nobody)
        seen = self.looker.look(residual, held, MORE, self.penalty / 2, full=task.full)
        figures = self._certify(task.targets, residual, value, small.correlations(residual), seen.highest)
        return _Step(task.index, value, seen, figures)

    def _note(self, tile: torch.Tensor, step: _Step) -> torch.Tensor:
        """Keep what a round found; returns the targets that need another one."""
        self.figures[tile] = step.figures
        self.broken[tile] = 2 * step.seen.highest / self.penalty - 1
        self._store(tile, step.index, step.value)
        objective, gap, _, least = step.figures.unbind(dim=1)
        unproven = gap > self.tolerance * objective + 2 * least
        tile = tile[unproven]
        if len(tile):
            self._store(tile, *self._next(step.index[unproven], step.value[unproven], step.seen.index[unproven]))
        return tile

    def _next(self, index: torch.Tensor, value: torch.Tensor, new: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Working sets of the words in use and new ones."""
        most = max(int((value > 0).sum(dim=1).max()), 1)
        kept, place = value.topk(most, dim=1)
        held = torch.where(kept > 0, index.gather(1, place), self.nobody)
        return torch.cat([held, new], dim=1), torch.cat([kept, kept.new_zeros(new.shape)], dim=1)

    def _certify(
        self,
        targets: torch.Tensor,
        residual: torch.Tensor,
        value: torch.Tensor,
        inside: torch.Tensor,
        outside: torch.Tensor,
    ) -> torch.Tensor:
        """Objective, duality gap, KKT violation, and the least gap that this precision can prove, a target.

        The gap is written as a sum of terms that vanish at the optimum, so nothing cancels; rounding of the residual
        and of the correlations is allowed for on the side that makes the gap larger.
        """
        m, r, z, within = targets.double(), residual.double(), value.double(), inside.double()
        limit, size = self.penalty / 2, r.norm(dim=1)
        rounding = 4 * torch.finfo(value.dtype).eps
        blur = rounding * size * self.looker.longest
        highest = torch.maximum(within.amax(dim=1), outside.double())

        def short_of(correlation: torch.Tensor) -> torch.Tensor:
            """What scaling the residual down to a feasible dual point costs, with what rounding may hide."""
            share = (correlation + blur).clamp_min(limit).reciprocal() * limit
            lost = (1 - share) * (2 * (r * m).sum(dim=1) - (1 + share) * size.square())
            return torch.add(lost.clamp_min(0), rounding * m.square().sum(dim=1))

        slack = (z * (self.penalty - 2 * within)).sum(dim=1)
        gap = (slack + short_of(highest)).clamp_min(0)
        off = torch.where(z > 0, (2 * within - self.penalty).abs(), 0).amax(dim=1)
        kkt = torch.maximum(off, (2 * highest - self.penalty).clamp_min(0)) / self.penalty
        objective = size.square() + self.penalty * z.sum(dim=1)
        return torch.stack([objective, gap, kkt, short_of(torch.full_like(highest, limit))], dim=1)

    def _store(self, tile: torch.Tensor, index: torch.Tensor, value: torch.Tensor) -> None:
        n, wide = self.index.shape
        k = index.shape[1]
        if k > wide:
            more = torch.full((n, k - wide), self.nobody, dtype=torch.long, device=index.device)
            self.index = torch.cat([self.index, more], dim=1)
            self.value = torch.cat([self.value, self.value.new_zeros(n, k - wide)], dim=1)
        self.index[tile, :k], self.value[tile, :k] = index, value
        self.index[tile, k:], self.value[tile, k:] = self.nobody, 0
        self.width[tile] = k

    def _start_from(self, start: csr_matrix) -> None:
        """Working sets from earlier codes."""
        counts = np.diff(start.indptr)
        n, k = len(counts), max(int(counts.max(initial=0)), 1)
        inside = np.arange(k) < counts[:, None]
        index, value = np.full((n, k), self.nobody, dtype=np.int64), np.zeros((n, k), dtype=np.float64)
        index[inside], value[inside] = start.indices, start.data
        device = self.index.device
        everyone = torch.arange(n, device=device)
        self._store(everyone, torch.from_numpy(index).to(device), torch.from_numpy(value).to(self.value))
        self.broken[:] = 0
        self.width[:] = torch.from_numpy(counts).to(self.width).clamp_min(1)

    def _codes(self) -> csr_matrix:
        rows, columns = torch.nonzero(self.value > 0, as_tuple=True)
        where = (rows.cpu().numpy(), self.index[rows, columns].cpu().numpy())
        return csr_matrix((self.value[rows, columns].cpu().numpy(), where), shape=(len(self.value), len(self.words)))

    def _tiles(self, order: torch.Tensor, k: int | None = None) -> Iterator[torch.Tensor]:
        """Targets in portions whose gathered vectors and correlations stay within ``TILE_BYTES``."""
        on_cpu = order.device.type == "cpu"
        budget = TILE_BYTES["cpu" if on_cpu else "cuda"] // self.words.element_size()
        most = -(-len(order) // torch.get_num_threads()) if on_cpu else len(order)

        def fitting(width: int) -> int:
            return max(1, min(most, budget // max(len(self.words), width * self.words.shape[1])))

        first = 0
        while first < len(order):
            rows = fitting(k or int(self.width[order[first]]))
            if k is None:
                rows = fitting(int(self.width[order[min(first + rows, len(order)) - 1]]))
            yield order[first : first + rows]
            first += rows


@contextmanager
def one_tile_a_thread(device: torch.device) -> Iterator[Callable[[Callable[[T], R], Iterable[T]], Iterator[R]]]:
    """A ``map`` whose calls run side by side on a CPU, each on one thread; the plain one elsewhere."""
    threads = torch.get_num_threads()
    if device.type != "cpu" or threads == 1:
        yield map
        return
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            yield pool.map
    finally:
        # The number is noted for the whole process, too.
        torch.set_num_threads(threads)
