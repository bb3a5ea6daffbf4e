"""Ours, for an adversary who has never seen a text of the target's kind: align, answer, learn from the own answers.

1. The adversary's vectors and those under attack are whitened, each by its own mean and covariance.
2. One softmax over all keywords and "none of them" learns from all texts. Texts with another keyword are the negatives
   a single-keyword training lacks: there, every text about bodies looks like one about the knee.
3. On the other domain the softmax ranks well and cuts badly: nearly every answer is no. So the first cut of a keyword
   is where the scores of the vectors asked about fall into two groups, with the largest variance between them (Otsu
   1979). It must lie above the score of a text that tells nothing: a keyword that no text holds shows no such groups,
   and the softmax's own answer stands. Asked about a whole store, where one group may be a hundred times the other, the
   cut stays where it is.
4. Some rounds of self-training, which finds two answers to any question and is therefore kept to those that showed
   two: of the vectors asked about, those with sure answers become training rows, beside the adversary's own with less
   weight, for one linear question a keyword, both answers weighing the same. Its answers are cut between the two groups
   in the end.

No share of positives is assumed, but step 3 looks for two groups of like size, which a balanced test set has.
``share`` says how many are positive instead, for comparison with results that assume it.
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
#: By how much the cut between two groups of scores must lie above the score of a text that tells nothing. Words that no
#: text holds reach 0.14, in one case of 170 0.23; words that occur have 0.22 and more on BERT, MiniLM, LSA, Doc2Vec.
LEAST_EVIDENCE = 0.2


class Aligned(Parametrised):
    """Whitened domains, one softmax over all keywords, self-training on the vectors under attack."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="keyword/aligned",
        game="keyword",
        title="Keyword inference with aligned domains and self-training",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="seconds",
        version=5,
    )

    def __init__(
        self,
        *,
        shrinkage: float = 0.5,
        rounds: int = 8,
        margin: float = 0.3,
        own_weight: float = 0.1,
        penalty: float = 0.2,
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
        everything = np.ones((len(theirs), len(knowledge.keywords)), dtype=bool)
        asked = torch.from_numpy(everything if knowledge.asked is None else knowledge.asked).to(self.device_)
        self.whole_ = bool(asked.all())
        # Only vectors that are asked about answer for themselves, and teach.
        concerned = asked.any(dim=1)
        theirs, asked = theirs[concerned], asked[concerned]
        self.joint_ = self._softmax(own, held)
        self.each_ = tuple(torch.zeros_like(part[..., :-1]) for part in self.joint_)
        self.taught_ = torch.zeros(len(knowledge.keywords), dtype=torch.bool, device=self.device_)
        self.start_ = torch.zeros(len(knowledge.keywords), device=self.device_)
        self.start_, self.shown_ = self._first_cuts(self._scores(theirs), asked)
        for _ in range(self.rounds):
            self._learn_from_answers(own, held, told, theirs, asked)
        self.cut_ = self._last_cuts(theirs, asked)
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

    def _first_cuts(self, scores: torch.Tensor, asked: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Where the softmax's scores of each keyword are cut in two, 0 where they show no two groups; which do."""
        import torch

        cuts = self._parted(_columns(scores, asked))
        telling_nothing = -np.log(len(cuts))
        shown = (cuts > telling_nothing + LEAST_EVIDENCE) | self.whole_ | (self.share is not None)
        cuts = np.where(shown, cuts, 0.0)
        return torch.from_numpy(cuts).to(scores), torch.from_numpy(shown).to(self.device_)

    def _last_cuts(self, theirs: torch.Tensor, asked: torch.Tensor) -> NDArray[np.float64]:
        """The same for the scores after self-training; what was taught nothing is cut already."""
        cuts = self._parted(_columns(self._scores(theirs), asked))
        return cuts if self.share is not None else np.where(self.taught_.cpu().numpy(), cuts, 0.0)

    def _parted(self, columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Where each keyword's scores part: at the known share, else between two groups; nowhere in a whole store."""
        if self.share is not None:
            return np.array([np.quantile(values, 1 - self.share) for values in columns])
        return np.zeros(len(columns)) if self.whole_ else np.array([between_groups(values) for values in columns])

    def _scores(self, rows: torch.Tensor) -> torch.Tensor:
        """Log-odds of each keyword: its own question's where it was taught one, else the softmax's against the rest."""
        import torch

        shares = torch.log_softmax(rows @ self.joint_[0] + self.joint_[1], dim=1)
        odds = shares - torch.log(-torch.expm1(shares.clamp(max=-1e-6)))
        return torch.where(self.taught_, rows @ self.each_[0] + self.each_[1], odds[:, :-1] - self.start_)

    def _learn_from_answers(
        self, own: torch.Tensor, held: torch.Tensor, told: torch.Tensor, theirs: torch.Tensor, asked: torch.Tensor
    ) -> None:
        import torch

        from unembed.nn.linear import fit_linear

        scores = self._scores(theirs)
        yes, no = (scores > self.margin) & asked, (scores < -self.margin) & asked
        enough = self.shown_ & (yes.sum(dim=0) >= FEWEST_SURE) & (no.sum(dim=0) >= FEWEST_SURE)
        # Of a whole store all words are ranked against each other, so all are answered by questions of one kind.
        taught = enough | self.whole_
        if not bool(taught.any()):
            return
        wanted = torch.cat([held, yes]).float()
        weights = torch.cat([self.own_weight * told.float(), (yes | no).float() * enough])
        halves = [weights * kind / (2 * (weights * kind).sum(dim=0).clamp_min(1e-12)) for kind in (wanted, 1 - wanted)]
        found = fit_linear(
            torch.cat([own, theirs]),
            wanted,
            halves[0] + halves[1],
            wanted.shape[1],
            penalty=self.penalty,
            loss="each",
        )
        self.each_ = tuple(torch.where(taught, new, old) for new, old in zip(found, self.each_, strict=True))
        self.taught_ = self.taught_ | taught

    def run(self, vectors: Vectors) -> KeywordGuess:
        """Log-odds of each keyword."""
        import torch

        with torch.no_grad():
            rows = torch.from_numpy(self.sides_.transform(vectors)).to(self.device_)
            scores: NDArray[np.float64] = self._scores(rows).double().cpu().numpy()
        return scores - self.cut_


def between_groups(values: NDArray[np.float64]) -> float:
    """The point that parts values into two groups with the largest variance between their means (Otsu 1979)."""
    if len(values) < 2:
        return 0.0
    ordered = np.sort(values)
    below = np.arange(1, len(ordered))
    sums = np.cumsum(ordered)
    apart = sums[:-1] / below - (sums[-1] - sums[:-1]) / (len(ordered) - below)
    best = int((below * (len(ordered) - below) * apart**2).argmax())
    return float(ordered[best : best + 2].mean())


def _columns(scores: torch.Tensor, asked: torch.Tensor) -> list[NDArray[np.float64]]:
    """The scores of each keyword's asked vectors; of all, where none is asked about it."""
    columns = zip(scores.double().cpu().numpy().T, asked.cpu().numpy().T, strict=True)
    return [values[rows] if rows.any() else values for values, rows in columns]


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
