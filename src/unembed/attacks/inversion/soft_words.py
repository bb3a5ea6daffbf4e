"""Which words make a model give this vector? Soft words, optimised through the model (Song 3.1, eq. 3-5, Alg. 1).

Every position of an unknown text holds a weight for every word, softmax(z / T), and the model is run on the weighted
mean of the word vectors. Adam moves z until the model's output is the wanted vector; each position then names its
heaviest word.

With Adam only the ratio of learning rate and temperature matters (up to its epsilon): it is the step of z / T, the
logits, and Adam's step does not depend on the gradient's size. The paper's 0.001 and 0.05 are a step of 0.02. A
position starts with nearly equal weights, and one word out of 30,000 has to gain about twelve logits on the others, so
a few hundred steps of 0.02 pass before any word stands out.

The limit, for n texts of l positions over w words of d dimensions: the products with the word matrix, 2·n·l·w·d FLOPs
forward and the same backward (the matrix itself gets no gradient), next to 4·n·l·p for a model of p parameters; and the
memory traffic of softmax and Adam, about 16 passes over n·l·w floats. ``benchmarks/relaxation.py`` (MiniLM, six
layers, 12 texts of 20 positions, all 30,522 pieces, one busy core, CPU time) gave 31 steps of a text a second: 0.69 of
the products alone (45, at 80 GFLOP/s) and 1.68 times a plain loop over the texts (19) in the same run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack
from torch import Tensor

from unembed.errors import CannotMeasureError
from unembed.nn.training import quick_products
from unembed.seeds import generator

#: Convergence is looked at every so many steps.
CHECK = 25
#: Arrays of the size of z that live at once: z, its gradient, two moments, softmax, its gradient, two temporaries.
COPIES = 8
CPU_BYTES = 2**30

#: Text, word and weight of each word named.
_Named: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]
#: Weights over the words [n, positions, words] to vectors [n, d], differentiable.
SoftPass: TypeAlias = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Settings:
    """How the relaxed problem is solved.

    Args:
        length: positions of the unknown text.
        temperature: T of eq. 4.
        learning_rate: Adam's.
        steps: at most so many.
        tolerance: a text is done when 25 steps lower its objective by less than this share.
        spread: deviation of the logits at the start; without it positions that the model treats alike stay alike.
        restarts: starting points; of their texts the one whose own vector comes nearest is kept (eq. 3).
        threshold: 0 names the heaviest word of each position (Algorithm 1); above 0 every word that holds so much
            weight over all positions together.
    """

    length: int
    temperature: float = 0.05
    learning_rate: float = 0.02
    steps: int = 300
    tolerance: float = 0.02
    spread: float = 1.0
    restarts: int = 1
    threshold: float = 0.0


@dataclass(frozen=True)
class Recovered:
    """Word weights of each text, CSR ``[n, words]``.

    ``objective`` is eq. 5 as reached, ``distance`` eq. 3 for the text of the heaviest words, ``steps`` what it took.
    """

    weights: csr_matrix
    objective: NDArray[np.float32]
    distance: NDArray[np.float32]
    steps: NDArray[np.int64]


def recover(
    soft: SoftPass,
    wanted: NDArray[np.float32],
    scale: NDArray[np.float32],
    words: int,
    settings: Settings,
    *,
    seed: int,
    device: torch.device,
    batch_size: int = 0,
) -> Recovered:
    """Texts over ``words`` words whose vectors come near ``wanted``; ``scale`` weighs the dimensions of the error.

    Every text starts from the same logits and stops by itself, so its place in the list does not matter.
    ``batch_size`` texts are optimised at once; 0 takes what memory allows.
    """
    size = batch_size or texts_at_once(settings.length, words, device)
    weigh = torch.from_numpy(scale).to(device)
    parts: list[Recovered] = []
    for first in range(0, len(wanted), size):
        aims = torch.from_numpy(np.ascontiguousarray(wanted[first : first + size])).to(device)
        parts.append(_best_start(soft, aims, weigh, words, settings, seed))
    if not parts:
        none = np.zeros(0, dtype=np.float32)
        return Recovered(csr_matrix((0, words), dtype=np.float32), none, none, np.zeros(0, dtype=np.int64))
    return Recovered(
        csr_matrix(vstack([p.weights for p in parts])),
        np.concatenate([p.objective for p in parts]),
        np.concatenate([p.distance for p in parts]),
        np.concatenate([p.steps for p in parts]),
    )


def texts_at_once(length: int, words: int, device: torch.device) -> int:
    """How many texts fit: a gibibyte on the CPU, a quarter of an accelerator's memory."""
    budget = CPU_BYTES
    if device.type == "cuda":
        budget = torch.cuda.get_device_properties(device).total_memory // 4
    return max(1, budget // (COPIES * 4 * length * words))


def objective(soft: SoftPass, logits: Tensor, aims: Tensor, scale: Tensor) -> Tensor:
    """Eq. 5 for each text: the squared distance between the soft text's vector and the wanted one."""
    vectors = soft(torch.softmax(logits, dim=-1))
    return ((vectors - aims) * scale).square().sum(dim=1)


def _best_start(soft: SoftPass, aims: Tensor, scale: Tensor, words: int, settings: Settings, seed: int) -> Recovered:
    best: Recovered | None = None
    for start in range(settings.restarts):
        drawn = generator(seed, "soft words", start).standard_normal((1, settings.length, words), dtype=np.float32)
        noise = torch.from_numpy(drawn * np.float32(settings.spread * settings.temperature)).to(aims.device)
        found = _descend(soft, aims, scale, noise, settings)
        best = found if best is None else _nearer(best, found)
    assert best is not None
    return best


def _nearer(one: Recovered, other: Recovered) -> Recovered:
    """Of two texts for each target, the one whose own vector is nearer."""
    better = other.distance < one.distance
    return Recovered(
        csr_matrix(vstack([one.weights, other.weights]))[np.arange(len(better)) + len(better) * better],
        np.where(better, other.objective, one.objective),
        np.minimum(one.distance, other.distance),
        one.steps + other.steps,
    )


@quick_products()
def _descend(soft: SoftPass, aims: Tensor, scale: Tensor, start: Tensor, settings: Settings) -> Recovered:
    """Adam from one starting point; texts that have converged leave the batch."""
    n = len(aims)
    going = torch.arange(n, device=aims.device)
    walk = _Walk(start.repeat(n, 1, 1), settings.learning_rate)
    last = torch.full((n,), torch.inf, device=aims.device)
    reached, hard = torch.zeros_like(last), torch.zeros_like(last)
    steps = np.zeros(n, dtype=np.int64)
    named: list[_Named] = []
    for step in range(1, settings.steps + 1):
        losses = objective(soft, walk.z / settings.temperature, aims[going], scale)
        (gradient,) = torch.autograd.grad(losses.sum(), walk.z)
        walk.step(gradient)
        if step % CHECK and step != settings.steps:
            continue
        losses = losses.detach()
        if not bool(torch.isfinite(losses).all()):
            raise CannotMeasureError(f"the relaxation diverged at step {step}: lower learning_rate")
        done = last[going] - losses < settings.tolerance * losses
        done |= step == settings.steps
        last[going] = losses
        if bool(done.any()):
            leaving = going[done]
            with torch.no_grad():
                heavy = torch.softmax(walk.z[done] / settings.temperature, dim=-1)
                hard[leaving] = _hard_distance(soft, heavy, aims[leaving], scale)
            named.append(_named(heavy, leaving, settings.threshold))
            reached[leaving] = losses[done]
            steps[leaving.cpu().numpy()] = step
            if bool(done.all()):
                break
            going = going[~done]
            walk.keep(~done)
    rows, columns, values = (np.concatenate(part) for part in zip(*named, strict=True))
    weights = csr_matrix((values, (rows, columns)), shape=(n, start.shape[-1]))
    return Recovered(weights, reached.cpu().numpy(), hard.cpu().numpy(), steps)


class _Walk:
    """Adam on the logits of a batch from which texts can be taken."""

    def __init__(self, z: Tensor, learning_rate: float) -> None:
        self.z = z.requires_grad_()
        self._adam = torch.optim.Adam([self.z], lr=learning_rate, fused=z.device.type in ("cpu", "cuda"))

    def step(self, gradient: Tensor) -> None:
        self.z.grad = gradient
        self._adam.step()
        self.z.grad = None

    def keep(self, rows: Tensor) -> None:
        """Go on with some of the texts, moments and all."""
        state = self._adam.state.pop(self.z)
        self.z = self.z.detach()[rows].requires_grad_()
        self._adam.param_groups[0]["params"] = [self.z]
        self._adam.state[self.z] = {k: v if k == "step" else v[rows] for k, v in state.items()}


def _hard_distance(soft: SoftPass, weights: Tensor, aims: Tensor, scale: Tensor) -> Tensor:
    """Eq. 3 for the text of the heaviest words."""
    chosen = torch.zeros_like(weights).scatter_(2, weights.argmax(dim=2, keepdim=True), 1.0)
    return ((soft(chosen) - aims) * scale).square().sum(dim=1)


def _named(weights: Tensor, texts: Tensor, threshold: float) -> _Named:
    """The words named for some texts, with their weight over the positions that name them."""
    if threshold > 0:
        total = weights.sum(dim=1)
        rows, columns = torch.nonzero(total >= threshold, as_tuple=True)
        values = total[rows, columns]
    else:
        values, columns = (part.reshape(-1) for part in weights.max(dim=2))
        rows = torch.arange(len(weights), device=weights.device).repeat_interleave(weights.shape[1])
    return texts[rows].cpu().numpy(), columns.cpu().numpy(), values.float().cpu().numpy()
