"""Ours, for an adversary who has never seen a text of the target's kind: align, answer, learn from the own answers.

1. The adversary's vectors and those of the store are whitened, each by its own mean and covariance.
2. One softmax over all keywords and "none of them" learns from all texts. Texts with another keyword are the negatives
   a single-keyword training lacks: there, every text about bodies looks like one about the knee. A keyword's score is
   its own column of the softmax before normalising, so that a text with two keywords loses neither.
3. On the other domain the softmax ranks well and cuts badly. How many texts of the store hold a keyword is estimated
   from its scores over the whole store (:mod:`unembed.attacks.keyword.rare_groups`), and the cut follows from that.
4. Some rounds of self-training: texts of the store that surely hold the word, and those that likely do not, become
   training rows beside the adversary's own, for one linear question per keyword, both answers weighing the same. A
   keyword of which too few texts are sure keeps the softmax's answer: self-training finds two groups in anything.

No share of positives is assumed; nothing is known of the store but its vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.keyword.alignment import TwoSides
from unembed.attacks.keyword.rare_groups import FloatArray, Groups, find_groups
from unembed.attacks.learners.folds import IntArray
from unembed.corpora.substitution import contains_keyword
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.keyword import KeywordGuess, KeywordKnowledge
from unembed.games.threat import Capability
from unembed.nn.device import pick_device
from unembed.params import Parametrised
from unembed.seeds import generator

if TYPE_CHECKING:
    import torch

#: Fewer sure rows of a kind than this teach nothing: the question then keeps the model it has.
FEWEST_SURE = 3
#: In so many parts the adversary's own rows are held back, to see how the softmax scores texts it has not learnt.
PARTS = 3


class Aligned(Parametrised):
    """Whitened domains, one softmax over all keywords, self-training on the vectors of the store."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/aligned",
        game="keyword",
        title="Keyword inference with aligned domains and self-training",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        version=7,
    )

    shrinkage: float = 0.5
    penalty: float = 0.2
    rounds: int = 2
    own_weight: float = 0.5
    question_penalty: float = 0.05
    rarity_weight: float = 0.25
    device: str = "auto"
    seed: int = 0

    def fit(self, knowledge: KeywordKnowledge) -> Self:
        """Align, answer, and learn from the answers."""
        import torch

        if knowledge.unlabelled is None or knowledge.unlabelled.shape[0] < 2:
            raise CannotMeasureError(
                "keyword/aligned adapts to the vectors under attack and was given none: deal them as "
                "KeywordKnowledge.unlabelled"
            )
        if not 0 <= self.own_weight <= 1:
            raise UsageError(f"own_weight of keyword/aligned lies between 0 and 1, not {self.own_weight}")
        self.device_ = pick_device(self.device)
        self.sides_ = TwoSides(self.shrinkage).fit(knowledge.vectors, knowledge.unlabelled)
        used = np.unique(np.concatenate(knowledge.rows))
        own = torch.from_numpy(self.sides_.own.transform(knowledge.vectors[used])).to(self.device_)
        theirs = torch.from_numpy(self.sides_.theirs.transform(knowledge.unlabelled)).to(self.device_)
        held, told = (torch.from_numpy(part[used]).to(self.device_) for part in _answers(knowledge))
        self.model_ = self._softmax(own, held)
        scores = _scores(theirs, self.model_)
        origins = np.arange(len(used)) if knowledge.origins is None else knowledge.origins[used]
        of_own = self._held_back(own, held, origins)
        for _ in range(self.rounds):
            yes, no = self._sure(scores, of_own, held)
            enough = (yes.sum(dim=0) >= FEWEST_SURE) & (no.sum(dim=0) >= FEWEST_SURE)
            if not bool(enough.any()):
                break
            found = self._learnt(own, held, told, theirs, yes, no)
            self.model_ = tuple(torch.where(enough, new, old) for new, old in zip(found, self.model_, strict=True))
            scores = _scores(theirs, self.model_)
            of_own = np.where(enough.cpu().numpy(), _scores(own, self.model_), of_own)
        self.groups_ = _groups(scores, of_own, held)
        return self

    def _softmax(self, own: torch.Tensor, held: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """One answer per text: its first keyword, or none. All answers weigh the same, whatever their number."""
        import torch

        from unembed.attacks.keyword.linear import fit_linear

        keywords = held.shape[1]
        answer = torch.where(held.any(dim=1), held.float().argmax(dim=1), keywords)
        counts = torch.bincount(answer, minlength=keywords + 1).float()
        weights = 1 / counts[answer] / (counts > 0).sum()
        found = fit_linear(own, answer, weights, keywords + 1, penalty=self.penalty, loss="one")
        return tuple(part[..., :-1] for part in found)

    def _held_back(self, own: torch.Tensor, held: torch.Tensor, origins: IntArray) -> FloatArray:
        """How the adversary's own rows score where the softmax has learnt neither them nor a copy of theirs."""
        import torch

        _, text = np.unique(origins, return_inverse=True)
        part = generator(self.seed, "held back").permutation(text.max() + 1)[text] % PARTS
        scores = np.zeros(tuple(held.shape))
        for number in range(PARTS):
            back = torch.from_numpy(part == number).to(self.device_)
            scores[part == number] = _scores(own[back], self._softmax(own[~back], held[~back]))
        return scores

    def _sure(self, scores: FloatArray, of_own: FloatArray, held: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Which vectors of the store surely hold each keyword, and which likely don't; some are neither."""
        import torch

        high, low = (_groups(scores, of_own, held, moving=moving) for moving in (True, False))
        yes = np.stack([group.odds(column) > 0 for group, column in zip(high, scores.T, strict=True)], axis=1)
        no = np.stack([group.odds(column) < 0 for group, column in zip(low, scores.T, strict=True)], axis=1)
        return torch.from_numpy(yes).to(self.device_), torch.from_numpy(no & ~yes).to(self.device_)

    def _learnt(
        self,
        own: torch.Tensor,
        held: torch.Tensor,
        told: torch.Tensor,
        theirs: torch.Tensor,
        yes: torch.Tensor,
        no: torch.Tensor,
    ) -> tuple[torch.Tensor, ...]:
        """One linear question per keyword, from the own rows and the sure ones of the store."""
        import torch

        from unembed.attacks.keyword.linear import fit_linear

        def weighed(ours: torch.Tensor, sure: torch.Tensor) -> torch.Tensor:
            parts = ((ours, self.own_weight), (sure, 1 - self.own_weight))
            return torch.cat([share * rows / (2 * rows.sum(dim=0).clamp_min(1)) for rows, share in parts])

        weights = weighed((held & told).float(), yes.float()) + weighed((~held & told).float(), no.float())
        return fit_linear(
            torch.cat([own, theirs]),
            torch.cat([held, yes]).float(),
            weights,
            held.shape[1],
            penalty=self.question_penalty,
            loss="each",
        )

    def run(self, vectors: Vectors) -> KeywordGuess:
        """Log-odds of each keyword, its rarity counted in part (``rarity_weight``)."""
        import torch

        with torch.no_grad():
            rows = torch.from_numpy(self.sides_.transform(vectors)).to(self.device_)
            scores = _scores(rows, self.model_)
        columns = zip(self.groups_, scores.T, strict=True)
        return np.stack([group.odds(column, self.rarity_weight) for group, column in columns], axis=1)


def _scores(rows: torch.Tensor, model: tuple[torch.Tensor, ...]) -> FloatArray:
    scores: FloatArray = (rows @ model[0] + model[1]).double().cpu().numpy()
    return scores


def _groups(scores: FloatArray, of_own: FloatArray, held: torch.Tensor, *, moving: bool = False) -> list[Groups]:
    """The texts with and without each keyword, as far as their scores show them."""
    columns = zip(scores.T, of_own.T, held.cpu().numpy().T, strict=True)
    return [find_groups(store, ours[there], moving=moving) for store, ours, there in columns]


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
