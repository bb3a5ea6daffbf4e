"""Training of a set decoder: batches, candidates, Adam, early stopping; on a GPU one CUDA graph a batch.

A batch is some 40 small operations for each of its steps. On a GPU launching them takes longer than running them, so
all of a batch but W1 is recorded once and replayed. Shapes must not change then: the last batch of an epoch is
filled up with pairs from its beginning.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unembed.attacks.inversion.multiset.decoder import Candidates, Clock, Gradients, SetDecoder, Wanted, no_clock
from unembed.attacks.inversion.multiset.first_input import FirstInput
from unembed.attacks.inversion.multiset.row_adam import RowAdam
from unembed.errors import CannotMeasureError
from unembed.nn.recording import record_step
from unembed.nn.training import TrainingLog, quick_products, whole_batches

#: A text's set is cut to so many words (those that come first in the vocabulary) in training.
MOST_WORDS = 512


@dataclass(frozen=True)
class SetPlan:
    """How a set decoder is trained. ``negatives`` > 0 works with candidates instead of all words."""

    epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float = 0.0
    patience: int = 0
    min_steps: int = 0
    negatives: int = 0
    graph: bool = True


class WordSets:
    """All training sets as padded arrays, and the weight of each word."""

    def __init__(self, labels: object, weights: NDArray[np.float32]) -> None:
        from scipy.sparse import csr_matrix

        rows = csr_matrix(labels)
        sizes = np.minimum(np.diff(rows.indptr), MOST_WORDS)
        self.padded = np.zeros((rows.shape[0], max(int(sizes.max(initial=1)), 1)), dtype=np.int32)
        inside = np.arange(self.padded.shape[1])[None] < sizes[:, None]
        positions = rows.indptr[:-1, None] + np.arange(self.padded.shape[1])[None]
        self.padded[inside] = rows.indices[positions[inside]]
        self.inside = inside
        self.weights = weights
        self.frequency = np.bincount(self.padded[inside], minlength=rows.shape[1]) / max(rows.shape[0], 1)

    def __len__(self) -> int:
        return len(self.padded)


class _Trainer:
    """One batch after another, eagerly."""

    def __init__(
        self, decoder: SetDecoder, first: FirstInput, sets: WordSets, plan: SetPlan, rng: np.random.Generator
    ) -> None:
        self.decoder, self.first, self.sets, self.plan, self.rng = decoder, first, sets, plan, rng
        self.device = decoder.table.device
        self.clock: Clock = no_clock
        first.start(learning_rate=plan.learning_rate, weight_decay=plan.weight_decay)
        own = [decoder.weight, decoder.bias, decoder.first_hidden, decoder.first_cell]
        self.rows: RowAdam | None = None
        if plan.negatives:
            self.rows = RowAdam(decoder.table.data, learning_rate=plan.learning_rate, weight_decay=plan.weight_decay)
        else:
            own.append(decoder.table)
        on_gpu = self.device.type == "cuda"
        self.optimiser = torch.optim.Adam(
            own,
            lr=plan.learning_rate,
            weight_decay=plan.weight_decay,
            fused=on_gpu or self.device.type == "cpu",
            capturable=on_gpu,
        )
        # Where all words are used, the sets live on the device; candidates are numbered anew for each batch.
        self.words = torch.from_numpy(sets.padded).to(self.device)
        self.weights = torch.from_numpy(sets.weights[sets.padded] * sets.inside).to(self.device)
        self.loss = torch.zeros((), device=self.device, dtype=decoder.table.dtype)

    def batch(self, rows: NDArray[np.int64]) -> None:
        """One step of training."""
        clock = self.clock
        with clock("first input"):
            first = self.first.batch(rows)
        with clock("other"):
            wanted, candidates, used = self._wanted(rows)
        found = self.decoder.gradients(first, wanted, candidates, clock=clock)
        with clock("optimiser"):
            self._apply(found, used)
        with clock("first input"):
            self.first.learn(found.first)

    def _apply(self, found: Gradients, used: Tensor | None) -> None:
        decoder = self.decoder
        decoder.weight.grad, decoder.bias.grad = found.weight, found.bias
        decoder.first_hidden.grad, decoder.first_cell.grad = found.hidden, found.cell
        if self.rows is not None and used is not None:
            self.rows.step(used, found.table)
        else:
            decoder.table.grad = found.table
        self.optimiser.step()
        self.loss += found.loss

    def _wanted(self, rows: NDArray[np.int64]) -> tuple[Wanted, Candidates | None, Tensor | None]:
        index = torch.from_numpy(rows).to(self.device, non_blocking=True)
        if not self.plan.negatives:
            return Wanted(self.words[index].long(), self.weights[index]), None, None
        used, chance = self._drawn(rows)
        position = np.zeros(len(self.decoder.table), dtype=np.int64)
        position[used] = np.arange(len(used))
        kept = torch.from_numpy(used).to(self.device)
        local = torch.from_numpy(position[self.sets.padded[rows]]).to(self.device)
        rarity = torch.from_numpy(-np.log(chance).astype(np.float32)).to(self.device)
        return Wanted(local, self.weights[index]), Candidates(self.decoder.table[kept], rarity), kept

    def _drawn(self, rows: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The batch's own words and ``negatives`` others, in order, and the chance of each to be among them."""
        count = self.decoder.words
        drawn = min(self.plan.negatives, count)
        member = np.zeros(len(self.decoder.table), dtype=bool)
        member[self.sets.padded[rows][self.sets.inside[rows]]] = True
        member[self.rng.choice(count, size=drawn, replace=False)] = True
        member[count:] = True  # [EOS] is always there
        used = np.flatnonzero(member)
        chance = np.ones(len(used))
        words = used[used < count]
        absent = (1 - self.sets.frequency[words]) ** (len(rows) - 1) * (1 - drawn / count)
        chance[: len(words)] = np.maximum(1 - absent, 1e-9)
        return used, chance


class _GraphTrainer(_Trainer):
    """The same batch as one recorded CUDA graph, for the full word matrix."""

    def record(self, size: int) -> None:
        """Record a batch of ``size`` pairs."""
        decoder = self.decoder
        self.still = torch.zeros(size, decoder.hidden, device=self.device, dtype=decoder.table.dtype)
        shape = (size, self.words.shape[1])
        self.held = Wanted(
            torch.zeros(shape, dtype=torch.int64, device=self.device), torch.zeros(shape, device=self.device)
        )

        def step() -> None:
            found = decoder.gradients(self.still, self.held)
            self._apply(found, None)
            self.d_first = found.first

        self.graph = record_step(step, decoder, self.optimiser)
        self.loss.zero_()

    def batch(self, rows: NDArray[np.int64]) -> None:
        """Fill the recorded inputs, replay, then teach W1."""
        index = torch.from_numpy(rows).to(self.device, non_blocking=True)
        self.still.copy_(self.first.batch(rows))
        self.held.words.copy_(self.words[index])
        self.held.weights.copy_(self.weights[index])
        self.graph.replay()
        self.first.learn(self.d_first)


def trainer_for(
    decoder: SetDecoder, first: FirstInput, sets: WordSets, plan: SetPlan, rng: np.random.Generator
) -> _Trainer:
    """The quickest way to train on this device."""
    if decoder.table.is_cuda and plan.graph and not plan.negatives:
        trainer = _GraphTrainer(decoder, first, sets, plan, rng)
        trainer.record(min(plan.batch_size, len(sets)))
        return trainer
    return _Trainer(decoder, first, sets, plan, rng)


@quick_products()
def train_sets(
    decoder: SetDecoder,
    first: FirstInput,
    sets: WordSets,
    plan: SetPlan,
    *,
    rng: np.random.Generator,
    score: Callable[[], float] | None = None,
) -> TrainingLog:
    """Minimise eq. 9 (4.4); with ``score`` (1 is perfect) stop by ``patience`` and keep the best weights."""
    n = len(sets)
    decoder.train()
    trainer = trainer_for(decoder, first, sets, plan, rng)
    rounds = max(1, -(-plan.min_steps // (plan.epochs * -(-n // plan.batch_size))))
    best, best_epoch, kept = -np.inf, 0, None
    losses: list[float] = []
    scores: list[float] = []
    for epoch in range(plan.epochs):
        decoder.train()
        trainer.loss.zero_()
        count = 0
        for _ in range(rounds):
            for rows in whole_batches(n, plan.batch_size, rng):
                trainer.batch(rows)
                count += 1
        losses.append(float(trainer.loss) / count)
        if not np.isfinite(losses[-1]):
            raise CannotMeasureError(f"training diverged in epoch {epoch + 1}: the loss is {losses[-1]}")
        if score is None:
            continue
        decoder.eval()
        scores.append(score())
        if scores[-1] > best:
            best, best_epoch = scores[-1], epoch
            kept = copy.deepcopy((decoder.state_dict(), first.state_dict()))
        if scores[-1] >= 1 or (plan.patience and epoch - best_epoch >= plan.patience):
            break
    if kept is not None:
        decoder.load_state_dict(kept[0])
        first.load_state_dict(kept[1])
    decoder.eval()
    return TrainingLog(len(losses), best_epoch, tuple(losses), tuple(scores))
