"""Many small non-negative quadratic problems at once: the code of each target over a few words of its own.

Two stages. Projected gradient with Barzilai-Borwein steps and an exact line search (one product with the Gram matrix a
step, the objective never rises) finds which words are in use; then a Cholesky solve on exactly those, refined once with
the true residual, gives their coefficients to the last digits. Where the solve contradicts the first stage (a
coefficient below zero, a word left out that wants in), words are exchanged and the first stage goes on. Problems that
withstand this, mostly because single precision can't tell which of many words want in, are repeated in double
precision with more steps. Of those that withstand that too the small ones are solved one by one; large ones, which
would take a second each, keep the lowest point found, and the caller's certificate says how far from the optimum that
is. Only unfinished problems are worked on.

Cost of k words: k² multiply-adds per step, k³/3 for a Cholesky factor, k² · d for the Gram matrix.
"""

from __future__ import annotations

from typing import Self

import numpy as np
import torch

#: Gradient steps before the first attempt at an exact solve, doubled with every attempt that fails.
STEPS = 24
ATTEMPTS = {torch.float32: 3, torch.float64: 6}
#: Exact solves within an attempt, each with the words that the one before wanted in or out.
EXCHANGES = 4
#: Gradient steps between two looks at the residual, each of which waits for the device.
STEPS_A_LOOK = 6
#: Residual of the optimality conditions, relative to the target's norm, that lets the exact solve begin.
NEAR = 1e-3
#: The same where no exact solve follows.
ROUGH = 3e-3
#: Problems repeated in double precision at once.
REPEATED = 512
#: Words of a problem that may be solved by itself.
SINGLY = 128
_LONGEST, _SHORTEST = 1e3, 1e-2


class SmallProblems:
    """min over z ≥ 0 of ‖Aᵀz − m‖² + λ‖z‖₁, A [b, k, d] some words of each target, scaled by ``inverse`` to length one.

    Targets are scaled too, so that one tolerance fits all. ``close`` is how much a word left out may want in.
    """

    def __init__(
        self,
        rows: torch.Tensor,
        inverse: torch.Tensor,
        targets: torch.Tensor,
        penalty: float,
        *,
        close: float | None = None,
    ) -> None:
        self.rows, self.inverse, self.targets, self.penalty = rows, inverse, targets, penalty
        self.close = 10 * torch.finfo(rows.dtype).eps if close is None else close
        size = targets.norm(dim=1, keepdim=True)
        self.size = torch.where(size > 0, size, 1)
        self.tax = penalty / 2 * self.inverse / self.size
        self.gram = torch.bmm(self.rows, self.rows.transpose(1, 2))
        self.linear = self._along(targets) - self.tax
        self.unit = self.inverse * self.size
        """Coefficient of a word for one unit of the scaled problem."""

    @classmethod
    def of(
        cls, words: torch.Tensor, norms: torch.Tensor, index: torch.Tensor, targets: torch.Tensor, penalty: float
    ) -> Self:
        """The problems over the words ``index`` [b, k] of each target."""
        b, k = index.shape
        length = norms[index]
        inverse = torch.where(length > 0, 1 / length, 0)
        rows = words.index_select(0, index.reshape(-1)).view(b, k, -1).mul_(inverse.unsqueeze(2))
        return cls(rows, inverse, targets, penalty)

    def residual(self, value: torch.Tensor) -> torch.Tensor:
        """m − Aᵀz."""
        return torch.baddbmm(
            self.targets.unsqueeze(1), (value * self._lengths()).unsqueeze(1), self.rows, alpha=-1
        ).squeeze(1)

    def solve(self, value: torch.Tensor, *, exactly: bool = True) -> torch.Tensor:
        """Coefficients from a starting point."""
        x = value * self._lengths() / self.size
        if not exactly:
            return descend(self.gram, self.linear, x, tolerance=ROUGH, max_steps=STEPS) * self.unit
        left: torch.Tensor | None = None
        for attempt in range(ATTEMPTS[x.dtype]):
            gram, linear, begin = (t if left is None else t[left] for t in (self.gram, self.linear, x))
            near, steps = NEAR / 10 ** min(attempt, 3), STEPS * 2**attempt
            found = descend(gram, linear, begin, tolerance=near, max_steps=steps)
            found, proven = self._exact(found, left)
            if left is None:
                x, left = found, torch.nonzero(~proven).squeeze(1)
            else:
                x[left], left = found, left[~proven]
            if not len(left):
                break
        value = x * self.unit
        if left is None or not len(left):
            return value
        if x.dtype != torch.float64:
            for some in torch.split(left, REPEATED):
                value[some] = self._repeated(some, value[some])
            return value
        for row in left.tolist() if x.shape[1] <= SINGLY else ():
            solved = one_by_one(self.gram[row], self.linear[row])
            value[row] = solved * self.unit[row]
        return value

    def _repeated(self, some: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
        """The same problems in double precision, as exactly as single precision asks."""
        parts = (self.rows[some].double(), self.inverse[some].double(), self.targets[some].double())
        wider = SmallProblems(*parts, self.penalty, close=torch.finfo(value.dtype).eps)
        return wider.solve(value.double()).to(value.dtype)

    def _exact(self, x: torch.Tensor, chosen: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        """Exact solutions on the words in use, exchanging words a few times where that is not yet the solution.

        Returns the solutions, or what is lower of them and ``x`` where none was found, and which were found.
        """
        gram, linear = (t if chosen is None else t[chosen] for t in (self.gram, self.linear))
        best, proven = x, torch.zeros(len(x), dtype=torch.bool, device=x.device)
        rows: torch.Tensor | None = None
        for _ in range(EXCHANGES):
            face = _Face(gram, x)
            exact = face.solve(linear)
            here = chosen if rows is None else rows if chosen is None else chosen[rows]
            exact = exact + face.solve(self._downhill(exact, here))
            wants_in = linear - times(exact, gram)
            done = (exact.amin(dim=1) >= 0) & (wants_in.amax(dim=1) <= self.close)
            bent = exact.clamp_min(0)
            if rows is None:
                better = done | (_height(gram, linear, bent) < _height(gram, linear, best))
                best, proven, rows = torch.where(better.unsqueeze(1), bent, best), done, torch.nonzero(~done).squeeze(1)
            else:
                was = best[rows]
                better = done | (_height(gram, linear, bent) < _height(gram, linear, was))
                best[rows], proven[rows] = torch.where(better.unsqueeze(1), bent, was), done
                rows = rows[~done]
            if not len(rows):
                break
            left = ~done
            gram, linear = gram[left], linear[left]
            x = torch.where(wants_in[left] > self.close, 1, bent[left])
        return best, proven

    def correlations(self, residuals: torch.Tensor) -> torch.Tensor:
        """v·r of each target's own words."""
        return times(residuals, self.rows.mT) * self._lengths()

    def _downhill(self, x: torch.Tensor, chosen: torch.Tensor | None) -> torch.Tensor:
        """Minus the gradient, from the residual itself and not from the Gram matrix."""
        if chosen is None:
            return self._along(self.residual(x * self.unit)) - self.tax
        rows, size = self.rows[chosen], self.size[chosen]
        left = self.targets[chosen].unsqueeze(1) - torch.bmm((x * size).unsqueeze(1), rows)
        return torch.bmm(left, rows.mT).squeeze(1) / size - self.tax[chosen]

    def _along(self, vectors: torch.Tensor) -> torch.Tensor:
        return times(vectors, self.rows.mT) / self.size

    def _lengths(self) -> torch.Tensor:
        return torch.where(self.inverse > 0, 1 / self.inverse, 0)


def descend(
    gram: torch.Tensor, linear: torch.Tensor, start: torch.Tensor, *, tolerance: float, max_steps: int
) -> torch.Tensor:
    """Projected gradient for xᵀGx − 2cᵀx, x ≥ 0, until no row breaks its optimality conditions by ``tolerance``.

    ``gram`` [b, k, k] with a diagonal of ones, ``linear`` [b, k].
    """
    x = start.clone()
    gradient = times(x, gram) - linear
    length = torch.ones_like(x[:, :1])
    for step in range(max_steps):
        if step % STEPS_A_LOOK == 0 and bool(torch.minimum(x, gradient).abs().amax() <= tolerance):
            break
        move = (x - length * gradient).clamp_(min=0).sub_(x)
        product = times(move, gram)
        curve = (move * product).sum(dim=1, keepdim=True).clamp_(min=torch.finfo(x.dtype).tiny)
        share = (-(gradient * move).sum(dim=1, keepdim=True) / curve).clamp_(0, 1)
        x.addcmul_(share, move)
        gradient.addcmul_(share, product)
        length = ((move * move).sum(dim=1, keepdim=True) / curve).clamp_(_SHORTEST, _LONGEST)
    return x.clamp_(min=0)


def one_by_one(gram: torch.Tensor, linear: torch.Tensor) -> torch.Tensor:
    """One problem in float64 by Lawson and Hanson's active-set method: slow, and sure even for dependent words."""
    g, c = gram.cpu().numpy(), linear.cpu().numpy()
    ridge, close = 1e-14 * np.trace(g), 1e-9
    x, used, barred = np.zeros(len(c)), np.zeros(len(c), dtype=bool), np.zeros(len(c), dtype=bool)
    for _ in range(10 * len(c)):
        pull = np.where(used | barred, -np.inf, c - g @ x)
        new, before = int(pull.argmax()), x.copy()
        if pull[new] <= close:
            break
        used[new] = True
        while used.any():
            inside = np.flatnonzero(used)
            wanted = np.linalg.solve(g[np.ix_(inside, inside)] + ridge * np.eye(len(inside)), c[inside])
            if wanted.min() > 0:
                x[inside] = wanted
                break
            falling = wanted <= 0
            room = x[inside] / np.maximum(x[inside] - wanted, np.finfo(np.float64).tiny)
            x[inside] += room[falling].min() * (wanted - x[inside])
            gone = falling & (room <= room[falling].min())
            used[inside[gone]], x[inside[gone]] = False, 0
            np.maximum(x, 0, out=x)
        # A word that rounding brings in and throws out again must not be tried for ever.
        moved = bool(np.abs(x - before).max() > 0)
        barred[:] = barred & (not moved)
        barred[new] = not used[new]
    return torch.from_numpy(x).to(linear)


def times(rows: torch.Tensor, matrices: torch.Tensor) -> torch.Tensor:
    """Each row [b, k] times its matrix [b, k, l]; on a CPU ten times quicker than a matrix times a column."""
    return torch.bmm(rows.unsqueeze(1), matrices).squeeze(1)


def _height(gram: torch.Tensor, linear: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return (x * (times(x, gram) - 2 * linear)).sum(dim=1)


class _Face:
    """Problems restricted to the words in use; solves with them by one Cholesky factor each."""

    def __init__(self, gram: torch.Tensor, x: torch.Tensor) -> None:
        most = max(int((x > 0).sum(dim=1).max()), 1)
        self.used, self.place = (x > 0).sort(dim=1, descending=True, stable=True)
        self.used, self.place, self.width = self.used[:, :most], self.place[:, :most], x.shape[1]
        across = self.place.unsqueeze(2).expand(-1, -1, self.width)
        down = self.place.unsqueeze(1).expand(-1, most, -1)
        inside = self.used.to(torch.float64)
        system = gram.gather(1, across).gather(2, down) * inside.unsqueeze(1) * inside.unsqueeze(2)
        # Equal words make a singular system: this much more on the diagonal decides between them.
        ridge = 10 * torch.finfo(gram.dtype).eps
        system.diagonal(dim1=1, dim2=2).add_(1 - inside + ridge)
        self.factor = torch.linalg.cholesky_ex(system)[0]

    def solve(self, linear: torch.Tensor) -> torch.Tensor:
        """Values of the words in use for these linear terms; zero elsewhere."""
        right = torch.where(self.used, linear.gather(1, self.place), 0).to(torch.float64).unsqueeze(2)
        solved = torch.where(self.used, torch.cholesky_solve(right, self.factor).squeeze(2).nan_to_num(0), 0)
        return torch.zeros_like(linear).scatter_(1, self.place, solved.to(linear.dtype))
