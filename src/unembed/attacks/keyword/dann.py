"""Domain-adversarial networks (Pan VI-B, Figure 5, Algorithm 1): for an adversary without texts of the target's kind.

An encoder of 25 sigmoid units feeds two softmax heads. One tells texts with the keyword from texts without, on the
adversary's own texts; the other tells the adversary's vectors from those under attack, and its gradient is reversed
on the way into the encoder, so that what remains there is what both domains share.

How Algorithm 1 is read: its line 8 prints ``Δẑ ← ∇ẑ ℓ_k − λ ∇ẑ ℓ_k``, which for λ = 1 would be nothing at all. The
text says that the reversed gradient is that of the domain loss, so the second term is taken as ``λ ∇ẑ ℓ_d``. Both heads
themselves descend on their own losses (lines 6 and 7).

The accuracy of such a training goes up and down. Pan VI-D reports the average and the best of 50 epochs, so the
networks of every epoch are kept and asked. They take 4 · keywords · inputs · units bytes an epoch; beyond one gibibyte
fewer epochs are kept, evenly spaced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.keyword.batches import KeywordBatches, ShuffledForever
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.keyword import EpochGuess, KeywordKnowledge
from unembed.games.threat import Capability
from unembed.nn.device import pick_device
from unembed.nn.features import CHUNK, InputRows, Standardiser, on_device
from unembed.nn.trained import Trained
from unembed.seeds import generator, seed_for

if TYPE_CHECKING:
    import torch

KEPT_BYTES = 2**30


class DomainAdversarial(Trained):
    """One small network per keyword with two heads, all trained as one; answers after every epoch."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/dann",
        game="keyword",
        title="Keyword inference with domain-adversarial networks",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        paper="pan2020",
        section="VI-B, VI-C, Appendix I",
        departures="Line 8 of Algorithm 1 prints the gradient of the keyword loss twice; the second is read as that "
        "of the domain loss, as the text says. Inputs are standardised; all keywords are trained together, each on "
        "its own texts; the public part of a domain batch is taken from the keyword batch instead of drawn anew, and "
        "its private part is the same for all keywords.",
        default=False,
    )

    units: int = 25
    strength: float = 1.0
    epochs: int = 50

    def fit(self, knowledge: KeywordKnowledge) -> Self:
        """An epoch passes over the largest keyword's texts; smaller sets are repeated."""
        import torch

        from unembed.attacks.keyword.domain_adversarial import DomainAdversarialStack

        if knowledge.unlabelled is None or not knowledge.unlabelled.shape[0]:
            raise CannotMeasureError(
                "keyword/dann adapts to the vectors under attack and was given none: deal them as "
                "KeywordKnowledge.unlabelled"
            )
        self.device_ = pick_device(self.device)
        self.scaler_ = Standardiser().fit(knowledge.vectors)
        public = InputRows(self.scaler_, knowledge.vectors, None, self.device_)
        private = InputRows(self.scaler_, knowledge.unlabelled, None, self.device_)
        weights = [torch.Generator().manual_seed(seed_for(self.seed, "weights", k) % 2**32) for k in knowledge.keywords]
        model = DomainAdversarialStack(self.scaler_.width, self.units, weights).to(self.device_)
        rngs = [generator(self.seed, "order", keyword) for keyword in knowledge.keywords]
        batches = KeywordBatches(knowledge.rows, knowledge.labels, rngs)
        strangers = _Strangers(knowledge, int(knowledge.unlabelled.shape[0]), generator(self.seed, "domains"))

        def loss_of(batch: NDArray[np.int64]) -> torch.Tensor:
            rows, held = batches.take(len(batch))
            own = _taken(public, rows.ravel()).view(*rows.shape, -1)
            theirs = _taken(private, strangers.take(len(batch)))
            return model.loss(own, torch.from_numpy(held).to(self.device_), theirs, self.strength)

        self.epochs_: list[tuple[torch.Tensor, ...]] = []
        every = _spacing(model, self.epochs)

        def keep(epoch: int, of: int) -> None:
            if epoch % every == 0 or epoch == of:
                self.epochs_.append(tuple(part.detach().cpu().clone() for part in model.parts[:4]))

        self._train(model, loss_of, max(len(rows) for rows in knowledge.rows), progress=keep)
        return self

    def run(self, vectors: Vectors) -> EpochGuess:
        """Log-odds of each keyword after the last epoch, and yes or no after each."""
        import torch

        from unembed.attacks.keyword.domain_adversarial import keyword_log_odds

        n = int(vectors.shape[0])
        count = len(self.epochs_[0][2])
        decided = np.zeros((len(self.epochs_), n, count), dtype=bool)
        scores = np.zeros((n, count))
        with torch.no_grad():
            for number, kept in enumerate(self.epochs_):
                parts = [part.to(self.device_) for part in kept]
                for start in range(0, n, CHUNK):
                    rows = slice(start, min(start + CHUNK, n))
                    inputs = torch.from_numpy(self.scaler_.transform(vectors[rows])).to(self.device_)
                    odds = keyword_log_odds(inputs, *parts)
                    decided[number, rows] = (odds > 0).cpu().numpy()
                    if number == len(self.epochs_) - 1:
                        scores[rows] = odds.double().cpu().numpy()
        return EpochGuess(scores, decided)

    def representation(self, vectors: Vectors) -> NDArray[np.float32]:
        """The domain-invariant vectors ``[rows, keywords, units]`` after the last epoch."""
        import torch

        with torch.no_grad():
            inputs = torch.from_numpy(self.scaler_.transform(vectors)).to(self.device_)
            hidden: NDArray[np.float32] = self.model_.representation(inputs).cpu().numpy()
        return hidden


class _Strangers:
    """Rows under attack for a domain batch: as many as a draw from both kinds together would hold on average."""

    def __init__(self, knowledge: KeywordKnowledge, private: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.share = private / (private + np.mean([len(rows) for rows in knowledge.rows]))
        self.order = ShuffledForever(private, rng)

    def take(self, size: int) -> NDArray[np.int64]:
        return self.order.take(int(self.rng.binomial(size, self.share)))


def _taken(rows: InputRows, index: NDArray[np.int64]) -> torch.Tensor:
    """Gathering whole rows by ``index_select`` is several times quicker than by an index."""
    return rows[index] if rows.ready is None else rows.ready.index_select(0, on_device(index, rows.device))


def _spacing(model: torch.nn.Module, epochs: int) -> int:
    """Every how many epochs the networks can be kept."""
    size = sum(p.numel() for p in model.parameters()) * 4
    return max(1, -(-epochs * size // KEPT_BYTES))
