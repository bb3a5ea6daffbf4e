"""Sparse coding over the word matrix, Song 3.1 eq. 7: the words whose vectors add up to the text's lowest layer.

The lowest layer of a text, the mean of its word vectors, is a non-negative and sparse combination of rows of the word
matrix. A linear map M, learnt from pairs, takes a vector down to that layer (eq. 6); sparse coding reads the words off.
Both need the weights: the word matrix and the tokenizer. Costs are those of ``nn.ridge`` and ``solver``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unembed.attacks.base import AttackFacts
from unembed.attacks.inversion.pairs import check_pairs, model_of, rows_of
from unembed.attacks.inversion.pieces import PieceWords, guessable_pieces
from unembed.encoders.base import DenseVectors, Vectors, WhiteBoxEncoder
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.inversion import InversionKnowledge, PieceGuess
from unembed.games.threat import Capability
from unembed.metrics import sets
from unembed.params import Parametrised, learnt
from unembed.seeds import generator, seed_for

Solver = Literal["accelerated", "paper"]

#: Penalties tried, as shares of the one at which a typical target's code becomes empty.
PENALTY_SHARES = (0.25, 0.15, 0.1, 0.065, 0.045, 0.03, 0.02)
#: Thresholds tried: coefficients are shares of the text, whatever the encoder.
THRESHOLDS = tuple(round(0.001 * 1.4**i, 5) for i in range(14))
#: Pairs that choose penalty and threshold, at most.
TUNING_PAIRS = 500
TUNED = "tuned"


class SparseCoding(Parametrised):
    """White-box inversion by non-negative sparse coding.

    ``penalty`` and ``threshold`` are numbers (the paper's: 0.1 and 0.01), or "tuned" on held-back pairs for the best
    content-word F1, as the paper tuned its own.
    """

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="inversion/sparse-coding",
        game="inversion",
        title="Sparse coding over the word matrix",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.WEIGHTS}),
        cost="minutes",
        quick=(("weakest", 0.1),),
        paper="song2020",
        section="3.1, eq. 7, Algorithm 1; 6.2",
        departures="M is ridge regression on standardised vectors instead of plain least squares. The same minimum is "
        "found by a working-set solver with a duality gap instead of Adam (solver='paper' is Adam at 0.001). Penalty "
        "and threshold are tuned on the adversary's own pairs; the paper reports 0.1 and 0.01 for its encoders. "
        "Special tokens are left out of the word matrix. Word pieces are put together to words.",
    )

    penalty: float | str = TUNED
    threshold: float | str = TUNED
    solver: Solver = "accelerated"
    weakest: float = 0.045
    tolerance: float = 1e-4
    device: str = "auto"
    seed: int = 0

    penalty_: float = learnt()
    threshold_: float = learnt()

    def fit(self, knowledge: InversionKnowledge) -> Self:
        """Learn M from the pairs, and choose penalty and threshold where they are not given."""
        from unembed.attacks.inversion.sparse.solver import SparseCoder
        from unembed.nn.ridge import RidgeMap

        encoder = self._checked(knowledge)
        n = int(knowledge.vectors.shape[0])
        tuned = TUNED in (self.penalty, self.threshold)
        order = generator(self.seed, "tuning").permutation(n)
        held = min(TUNING_PAIRS, max(n // 10, 1)) if tuned else 0
        checking, learning = np.sort(order[:held]), np.sort(order[held:])
        matrix = np.asarray(encoder.word_matrix, dtype=np.float32)
        means = word_means(knowledge.texts, encoder, matrix)
        self.map_ = RidgeMap(device=self.device)
        self.map_.fit(knowledge.vectors, means, seed_for(self.seed, "map"), rows=learning)
        self.words_ = np.flatnonzero(guessable_pieces(encoder.vocabulary) & (np.abs(matrix).max(axis=1) > 0))
        self.size_ = len(matrix)
        self.coder_ = SparseCoder(matrix[self.words_], device=self.device)
        self.pieces_ = PieceWords.of(encoder, knowledge.vocabulary)
        if tuned:
            self._tune(knowledge, checking)
        else:
            self.penalty_, self.threshold_ = float(self.penalty), float(self.threshold)
        return self

    def run(self, vectors: Vectors) -> PieceGuess:
        """Pieces whose coefficient reaches the threshold, and the words they make up."""
        codes = self._codes(self.map_.apply(vectors), self.penalty_)
        return self._guess(codes, self.threshold_)

    def _checked(self, knowledge: InversionKnowledge) -> WhiteBoxEncoder:
        encoder = model_of(knowledge)
        check_pairs(knowledge, texts=True)
        if self.solver not in ("accelerated", "paper"):
            raise UsageError(f"unknown solver '{self.solver}': use accelerated or paper")
        for name, value in (("penalty", self.penalty), ("threshold", self.threshold)):
            if isinstance(value, str) and value != TUNED:
                raise UsageError(f"{name} must be a number or '{TUNED}', not '{value}'")
        return encoder

    def _tune(self, knowledge: InversionKnowledge, checking: NDArray[np.int64]) -> None:
        """Walk the penalties from strong to weak, each from the last one's codes, until the F1 falls."""
        targets = self.map_.apply(knowledge.vectors[checking])
        truth, content = knowledge.labels[checking].tocsr(), knowledge.vocabulary.content
        penalties = [float(self.penalty)] if self.penalty != TUNED else self._penalties(targets)
        thresholds = [float(self.threshold)] if self.threshold != TUNED else list(THRESHOLDS)
        best, codes = -1.0, None
        for penalty in penalties:
            codes = self._codes(targets, penalty, start=codes)
            scores = [_content_f1(self._guess(codes, t).words, truth, content) for t in thresholds]
            reached = int(np.argmax(scores))
            if scores[reached] < best:
                break
            best, self.penalty_, self.threshold_ = scores[reached], penalty, thresholds[reached]
        self.tuned_f1_ = best

    def _penalties(self, targets: DenseVectors) -> list[float]:
        empty = float(np.median(self.coder_.largest_penalty(targets)))
        if not empty > 0:
            raise CannotMeasureError("the map to the lowest layer sends every vector to zero: nothing can be read back")
        return [share * empty for share in PENALTY_SHARES if share >= min(self.weakest, PENALTY_SHARES[0])]

    def _codes(self, targets: DenseVectors, penalty: float, start: csr_matrix | None = None) -> csr_matrix:
        if self.solver == "paper":
            from unembed.attacks.inversion.sparse.projected_adam import projected_adam

            return projected_adam(self.coder_.table, targets, penalty, device=self.device).codes
        return self.coder_.solve(targets, penalty, tolerance=self.tolerance, start=start).codes

    def _guess(self, codes: csr_matrix, threshold: float) -> PieceGuess:
        """Words from codes over the words in use, as columns of the whole word matrix."""
        kept = codes.data >= threshold
        rows = rows_of(codes)[kept]
        columns = self.words_[codes.indices[kept]]
        found = csr_matrix((codes.data[kept], (rows, columns)), shape=(codes.shape[0], self.size_))
        return self.pieces_.guess(found)


def word_means(texts: Sequence[str], encoder: WhiteBoxEncoder, matrix: DenseVectors) -> Any:
    """Ψ(x) = (1/ℓ) Σ v, the mean of a text's word vectors, as a function of row numbers; no model is run."""
    found = encoder.token_ids(texts)
    lengths = np.array([len(ids) for ids in found], dtype=np.int64)
    columns = np.fromiter((i for ids in found for i in ids), dtype=np.int64, count=int(lengths.sum()))
    shares = np.repeat(1 / np.maximum(lengths, 1), lengths).astype(np.float32)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    average = csr_matrix((shares, columns, ends), shape=(len(found), len(matrix)))
    return lambda rows: average[rows] @ matrix


def _content_f1(guess: csr_matrix, truth: csr_matrix, content: NDArray[np.bool_]) -> float:
    return float(sets.f1(sets.set_counts(truth, guess, columns=content).sum(axis=0)))
