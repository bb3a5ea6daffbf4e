"""Song and Raghunathan, equation 10: a similarity that is learnt, in the place of the plain one of Algorithm 5.

    δ'(x_a, x_b) = δ(W_mᵀ Φ(x_a), W_mᵀ Φ(x_b)) ,   L = −[ y log δ' + (1 − y) log(1 − δ') ]

for pairs of the adversary's own that are labelled with y = 1 if they were learnt from. A logarithm wants numbers
between 0 and 1, which a dot product is not: the loss is that of σ(s δ' + b), with s and b learnt too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from unembed.attacks.base import AttackFacts
from unembed.attacks.membership.similarity import Parts, lengths, mean_over_known, products, said_from, separating
from unembed.encoders.base import DenseVectors, Vectors
from unembed.errors import CannotMeasureError
from unembed.games.contexts import ContextKnowledge
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.rows import dense_rows
from unembed.games.threat import Capability
from unembed.metrics.roc import auc
from unembed.metrics.spread import FloatArray
from unembed.nn.trained import Trained
from unembed.params import learnt
from unembed.seeds import generator

if TYPE_CHECKING:
    import torch

#: More pairs teach a matrix of this size no more.
MOST_PAIRS = 100_000
#: Of sparse vectors the heaviest columns are used: W_m has as many rows.
MOST_COLUMNS = 1_000


class LearnedSimilarity(Trained):
    """The mean of a learnt similarity of neighbouring sentences against a threshold."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="membership/learned-similarity",
        game="membership-pair",
        title="How like each other neighbouring sentences are, by a learnt measure",
        requires=frozenset({Capability.VECTORS, Capability.QUERIES, Capability.LABELS}),
        cost="minutes",
        paper="song2020",
        section="Equation 10 and Algorithm 5, section 5.2",
        departures="The paper puts δ' into logarithms and does not say how it is kept between 0 and 1: here by "
        "σ(s δ' + b) with s and b learnt beside W_m. It names neither the shape of W_m, nor where it starts, nor the "
        "batches, nor how τ_m is found: W_m is square and starts as the identity, batches have 256 pairs, a third of "
        "the adversary's documents, which W_m has not seen, chooses the best of the ten epochs, and the threshold is "
        "the one that separates all contexts of the adversary best. With few pairs epochs are joined until there are "
        "300 steps. Of sparse vectors the thousand heaviest columns are used.",
    )

    epochs: int = 10
    batch_size: int = 256

    projection_: DenseVectors = learnt()

    def fit(self, knowledge: ContextKnowledge) -> Self:
        """Learn W_m from most contexts, and choose the threshold on the others."""
        import torch
        from torch import nn
        from torch.nn import functional

        vectors = knowledge.vectors
        self.columns_ = _heaviest(vectors, knowledge.parts) if issparse(vectors) else None
        self.parts_ = Parts(self._narrow(vectors, knowledge.parts), knowledge.parts)
        held, taught = knowledge.held_back(self.seed, most=len(knowledge.members))
        first, second, labels = self._pairs(vectors[taught], knowledge.members[taught])
        if not len(labels):
            raise CannotMeasureError(
                "the model knows no two neighbouring sentences of the adversary: nothing to learn from"
            )
        plain = products(first, second)
        size = max(float(np.abs(plain).mean()), 1e-12)  # brings products to the size of 1
        spread = max(float(plain.std()) / size, 1e-6)
        self._start()
        on = self.device_
        start = {"W_m": torch.eye(first.shape[1]), "s": torch.tensor(1 / spread), "b": torch.tensor(0.0)}
        start["b"] -= float(plain.mean()) / size / spread
        model = nn.ParameterDict({name: nn.Parameter(value) for name, value in start.items()}).to(on)
        x_a, x_b = (torch.from_numpy(side / np.float32(np.sqrt(size))).to(on) for side in (first, second))
        y = torch.from_numpy(labels.astype(np.float32)).to(on)

        def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
            at = torch.from_numpy(rows).to(on)
            similarity = ((x_a[at] @ model["W_m"]) * (x_b[at] @ model["W_m"])).sum(dim=1)  # δ'
            said = model["s"] * similarity + model["b"]
            return functional.binary_cross_entropy_with_logits(said, y[at])

        def separation() -> float:
            self.projection_ = model["W_m"].detach().cpu().numpy().astype(np.float32)
            return auc(self._scores(vectors[held]), knowledge.members[held])

        self._train(model, loss_of, len(labels), score=separation)
        self.projection_ = model["W_m"].detach().cpu().numpy().astype(np.float32)
        self.threshold_ = separating(self._scores(vectors), knowledge.members)
        return self

    def run(self, vectors: Vectors) -> InOrOutGuess:
        """The mean similarity, and whether it reaches the threshold."""
        return said_from(self._scores(vectors), self.threshold_)

    def _scores(self, vectors: Vectors) -> FloatArray:
        sentences = self.parts_.of(self._narrow(vectors, self.parts_.parts))
        known = [lengths(sentence) > 0 for sentence in sentences]
        placed = [dense_rows(sentence) @ self.projection_ for sentence in sentences]  # W_mᵀ Φ(x)
        pairs = [products(a, b) for a, b in zip(placed[::2], placed[1::2], strict=True)]
        return mean_over_known(pairs, [a & b for a, b in zip(known[::2], known[1::2], strict=True)])

    def _pairs(
        self, vectors: Vectors, members: NDArray[np.bool_]
    ) -> tuple[DenseVectors, DenseVectors, NDArray[np.bool_]]:
        """Both sentences of every pair that the model knows, and whether it was learnt from."""
        sentences = [dense_rows(part) for part in self.parts_.of(self._narrow(vectors, self.parts_.parts))]
        first, second = np.concatenate(sentences[::2]), np.concatenate(sentences[1::2])
        labels = np.tile(members, len(sentences) // 2)
        known = np.flatnonzero((first != 0).any(axis=1) & (second != 0).any(axis=1))
        some = np.sort(generator(self.seed, "pairs").permutation(known)[:MOST_PAIRS])
        return first[some], second[some], labels[some]

    def _narrow(self, vectors: Vectors, parts: int) -> Vectors:
        """Dense vectors as they are; of sparse ones the columns that are used, of every part."""
        if self.columns_ is None:
            return vectors
        width = int(vectors.shape[1]) // parts
        chosen = np.concatenate([part * width + self.columns_ for part in range(parts)])
        return dense_rows(vectors[:, chosen])


def _heaviest(vectors: Vectors, parts: int) -> NDArray[np.int64]:
    """The columns of a sentence's vector with the largest squares."""
    squares = np.asarray(vectors.multiply(vectors).sum(axis=0)).reshape(parts, -1).sum(axis=0)  # type: ignore[union-attr]
    return np.sort(np.argsort(-squares, kind="stable")[:MOST_COLUMNS])
