"""Ours, for an adversary who has never seen a text of the target's kind: align, answer, learn from the own answers.

1. The adversary's vectors and those under attack are whitened, each by its own mean and covariance.
2. One softmax over all keywords and "none of them" learns from all texts. Texts with another keyword are the negatives
   a single-keyword training lacks: there, every text about bodies looks like one about the knee.
3. Some rounds of self-training: the vectors under attack whose answers are sure become training rows, beside the
   adversary's own with less weight, for one linear question a keyword, both answers weighing the same.

No share of positives is assumed: the cut stays where both answers are equally likely for classes of equal weight.
``share`` moves it to that quantile of the vectors asked about, for comparison with results that assume it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.keyword.alignment import TwoSides
from unembed.corpora.substitution import contains_keyword
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.keyword import KeywordGuess, KeywordKnowledge
from unembed.games.threat import Capability
from unembed.nn.device import pick_device
from unembed.params import Parametrised

if TYPE_CHECKING:
    import torch

#: Fewer sure rows of a kind than this teach nothing: the question then keeps the model it has.
FEWEST_SURE = 3


class Aligned(Parametrised):
    """Whitened domains, one softmax over all keywords, self-training on the vectors under attack."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/aligned",
        game="keyword",
        title="Keyword inference with aligned domains and self-training",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
    )

    def __init__(
        self,
        *,
        shrinkage: float = 0.5,
        rounds: int = 3,
        margin: float = 0.5,
        own_weight: float = 0.1,
        penalty: float = 0.03,
        share: float | None = None,
        device: str = "auto",
        seed: int = 0,
    ) -> None:
        self.shrinkage = shrinkage
        self.rounds = rounds
        self.margin = margin
        self.own_weight = own_weight
        self.penalty = penalty
        self.share = share
        self.device = device
        self.seed = seed

    def fit(self, knowledge: KeywordKnowledge) -> Self:
        """Align, answer, and learn from the answers; nothing in it is drawn at random."""
        import torch

        if knowledge.unlabelled is None or knowledge.unlabelled.shape[0] < 2:
            raise CannotMeasureError(
                "keyword/aligned adapts to the vectors under attack and was given none: deal them as "
                "KeywordKnowledge.unlabelled"
            )
        if self.share is not None and not 0 < self.share < 1:
            raise UsageError(f"share of keyword/aligned lies between 0 and 1, not {self.share}")
        self.device_ = pick_device(self.device)
        self.sides_ = TwoSides(self.shrinkage).fit(knowledge.vectors, knowledge.unlabelled)
        own = torch.from_numpy(self.sides_.own.transform(knowledge.vectors)).to(self.device_)
        theirs = torch.from_numpy(self.sides_.theirs.transform(knowledge.unlabelled)).to(self.device_)
        held, told = (torch.from_numpy(part).to(self.device_) for part in _answers(knowledge))
        self.matrix_, self.bias_ = self._softmax(own, held)
        self.joint_ = True
        for _ in range(self.rounds):
            self._learn_from_answers(own, held, told, theirs)
        self.cut_ = np.zeros(len(knowledge.keywords))
        if self.share is not None and knowledge.asked is not None:
            scores = self._scores(theirs).double().cpu().numpy()
            columns = zip(scores.T, knowledge.asked.T, strict=True)
            self.cut_ = np.array([np.quantile(s[a] if a.any() else s, 1 - self.share) for s, a in columns])
        return self

    def _softmax(self, own: torch.Tensor, held: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """One answer a text: its first keyword, or none. All answers weigh the same, whatever their number."""
        import torch

        from unembed.nn.linear import fit_linear

        keywords = held.shape[1]
        answer = torch.where(held.any(dim=1), held.float().argmax(dim=1), keywords)
        counts = torch.bincount(answer, minlength=keywords + 1).float()
        weights = 1 / counts[answer] / (counts > 0).sum()
        return fit_linear(own, answer, weights, keywords + 1, penalty=self.penalty, loss="one")

    def _scores(self, rows: torch.Tensor) -> torch.Tensor:
        """Log-odds of each keyword: in the softmax against everything else, later each question on its own."""
        import torch

        scores = rows @ self.matrix_ + self.bias_
        if not self.joint_:
            return scores
        shares = torch.log_softmax(scores, dim=1)
        odds = shares - torch.log(-torch.expm1(shares.clamp(max=-1e-6)))
        return odds[:, :-1]

    def _learn_from_answers(
        self, own: torch.Tensor, held: torch.Tensor, told: torch.Tensor, theirs: torch.Tensor
    ) -> None:
        import torch

        from unembed.nn.linear import fit_linear

        scores = self._scores(theirs)
        yes, no = scores > self.margin, scores < -self.margin
        wanted = torch.cat([held, yes]).float()
        weights = torch.cat([self.own_weight * told.float(), (yes | no).float()])
        taught = (yes.sum(dim=0) >= FEWEST_SURE) & (no.sum(dim=0) >= FEWEST_SURE)
        weights[len(own) :] *= taught
        halves = [weights * kind / (2 * (weights * kind).sum(dim=0).clamp_min(1e-12)) for kind in (wanted, 1 - wanted)]
        rows = torch.cat([own, theirs])
        self.matrix_, self.bias_ = fit_linear(
            rows, wanted, halves[0] + halves[1], wanted.shape[1], penalty=self.penalty, loss="each"
        )
        self.joint_ = False

    def run(self, vectors: Vectors) -> KeywordGuess:
        """Log-odds of each keyword."""
        import torch

        with torch.no_grad():
            rows = torch.from_numpy(self.sides_.transform(vectors)).to(self.device_)
            scores: NDArray[np.float64] = self._scores(rows).double().cpu().numpy()
        return scores - self.cut_


def _answers(knowledge: KeywordKnowledge) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which training row holds which keyword, and of which that is known: of all, where the texts are there."""
    if knowledge.texts:
        held = contains_keyword(knowledge.texts, knowledge.keywords)
        return held, np.ones_like(held)
    held = np.zeros((int(knowledge.vectors.shape[0]), len(knowledge.keywords)), dtype=bool)
    told = np.zeros_like(held)
    for column, (rows, labels) in enumerate(zip(knowledge.rows, knowledge.labels, strict=True)):
        held[rows, column] = labels
        told[rows, column] = True
    return held, told
