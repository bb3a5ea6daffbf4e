"""Three-layer perceptron per keyword (Pan VI-C): 80 sigmoid units, batch 64; all keywords trained as one."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.keyword.batches import KeywordBatches
from unembed.encoders.base import Vectors
from unembed.games.keyword import KeywordGuess, KeywordKnowledge
from unembed.games.threat import Capability
from unembed.nn.device import pick_device
from unembed.nn.features import Standardiser
from unembed.nn.trained import Trained
from unembed.seeds import generator, seed_for


class KeywordMLP(Trained):
    """One small network per keyword, stacked: one batched product instead of one training per keyword."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/mlp",
        game="keyword",
        title="Keyword inference with small neural networks",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        paper="pan2020",
        section="VI-B, VI-C",
        departures="Inputs are standardised; all keywords are trained together as one batched model, each on its "
        "own texts, with batches drawn anew for each keyword.",
        default=False,
    )

    hidden: int = 80
    epochs: int = 50
    weight_decay: float = 0.01

    def fit(self, knowledge: KeywordKnowledge) -> Self:
        """An epoch passes over the largest keyword's texts; smaller sets are repeated."""
        import torch
        from torch.nn import functional

        from unembed.nn.modules import StackedPerceptron

        self.device_ = pick_device(self.device)
        self.scaler_ = Standardiser().fit(knowledge.vectors)
        inputs = torch.from_numpy(self.scaler_.transform(knowledge.vectors)).to(self.device_)
        start = torch.Generator().manual_seed(seed_for(self.seed, "weights") % 2**32)
        count = len(knowledge.keywords)
        model = StackedPerceptron(count, self.scaler_.width, [self.hidden], 2, generator=start).to(self.device_)
        rngs = [generator(self.seed, "order", k) for k in knowledge.keywords]
        batches = KeywordBatches(knowledge.rows, knowledge.labels, rngs)

        def loss_of(batch: NDArray[np.int64]) -> torch.Tensor:
            rows, wanted = batches.take(len(batch))
            chosen = inputs.index_select(0, torch.from_numpy(rows.ravel()).to(self.device_))
            scores = model(chosen.view(*rows.shape, -1))
            target = torch.from_numpy(wanted).to(self.device_)
            return functional.cross_entropy(scores.reshape(-1, 2), target.reshape(-1)) * count

        self._train(model, loss_of, max(len(rows) for rows in knowledge.rows), weight_decay=self.weight_decay)
        return self

    def run(self, vectors: Vectors) -> KeywordGuess:
        """Log-odds of each keyword."""
        scores = self._said(vectors).double().cpu().numpy()
        return np.ascontiguousarray((scores[:, :, 1] - scores[:, :, 0]).T)
