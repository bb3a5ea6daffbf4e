"""GloVe: word vectors whose products fit the logarithm of how often words stand together (Song 6.1).

A trainer of our own, after Pennington, Socher and Manning 2014: J = Σ f(X_ij) (w_i·c_j + b_i + b'_j - log X_ij)² with
f(x) = min(1, (x / x_max)^alpha), AdaGrad, word + context vector at the end.

An entry of X costs 2·d FLOP for its product and 4·d for the two gradients, and two rows of 4·d bytes are read three
times. They are taken in mini-batches that are sparse matrices of a fixed pattern: one sampled product and two
products with a sparse matrix, no row is ever copied. Each batch then updates the whole table, so a batch
holds several times as many entries as there are words. ``benchmarks/word_vectors.py`` (50,000 sentences of an
encyclopedia, 3.8 M entries, one busy core, CPU time) gave 6.3 M entries a second: 69 times a plain loop over entries,
and 3.8 GFLOP/s. The 50 passes with all counting took 19.5 s.

Counting is vectorised over the corpus: for each distance up to the window all pairs at once, added up as sparse
matrices. The limit is sorting the words × window pairs; the peak of memory is two sparse matrices of the final size and
24 bytes per word of the corpus.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.words import words
from unembed.encoders.base import DenseVectors
from unembed.encoders.gensim_training import check_settings
from unembed.encoders.word_tables import WordTableEncoder
from unembed.errors import DataError, UsageError
from unembed.nn.device import pick_device
from unembed.seeds import generator

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_matrix

_ENTRIES_A_WORD = 8
_LEAST_BATCHES = 32


class GloveEncoder(WordTableEncoder):
    """Words from counts of their neighbours; a text is the mean of its words.

    The same texts and seed give the same table on a CPU.

    Args:
        dimension: of the vectors.
        window: most words to either side that count as neighbours, the k-th with weight 1/k.
        iterations: passes over all pairs that were counted.
        learning_rate: of AdaGrad.
        x_max: counts from which a pair has full weight.
        alpha: power that weakens rarer pairs.
        min_count: rarer words are left out.
        device: ``cpu``, ``cuda``, ``auto``: where it is trained.
        seed: of initial vectors and mini-batches.
        normalise: texts to unit L2 norm.
        table: a file of word vectors, or a saved encoder, instead of training.
    """

    kind: ClassVar[str] = "glove"

    dimension: int = 100
    window: int = 10
    iterations: int = 50
    learning_rate: float = 0.05
    x_max: float = 100.0
    alpha: float = 0.75
    min_count: int = 5
    device: str = "cpu"
    seed: int = 0

    def _train(self, texts: Sequence[str]) -> tuple[list[str], DenseVectors]:
        counts = ("dimension", "window", "iterations", "learning_rate", "min_count")
        check_settings(**{name: getattr(self, name) for name in counts})
        if self.x_max <= 0 or self.alpha < 0:
            raise UsageError("x_max must be above 0 and alpha at least 0")
        names, occurrences, sentences = number_words(texts, min_count=self.min_count)
        pairs = count_pairs(occurrences, sentences, size=len(names), window=self.window)
        if not pairs.nnz:
            raise DataError("no two words stand in one text: glove learns from neighbours")
        return names, self.train_on_pairs(pairs)

    def train_on_pairs(self, pairs: csr_matrix) -> DenseVectors:
        """The vectors that fit a matrix of counts."""
        device = pick_device(self.device)
        rng = generator(self.seed, "glove", "batches")
        batches = [_Batch.of(part, self.x_max, self.alpha, device) for part in _parts(pairs, rng)]
        start = generator(self.seed, "glove", "vectors")
        state = _State.new(pairs.shape[0], self.dimension, start, device)
        for _ in range(self.iterations):
            for number in rng.permutation(len(batches)):
                state.step(batches[number], self.learning_rate)
        vectors: DenseVectors = (state.word + state.context)[:, : self.dimension].cpu().numpy()
        return vectors


def number_words(texts: Sequence[str], *, min_count: int) -> tuple[list[str], NDArray[np.int32], NDArray[np.int32]]:
    """The words that occur ``min_count`` times, most frequent first; every occurrence's word; its text's number.

    Rarer words are taken out first, so that their neighbours close up.
    """
    numbers: dict[str, int] = {}
    counts: Counter[int] = Counter()
    cut: list[int] = []
    lengths = np.zeros(len(texts), dtype=np.int64)
    for row, text in enumerate(texts):
        found = [numbers.setdefault(word, len(numbers)) for word in words(text)]
        counts.update(found)
        cut.extend(found)
        lengths[row] = len(found)
    names = list(numbers)
    kept = sorted((n for n, c in counts.items() if c >= min_count), key=lambda n: (-counts[n], names[n]))
    if not kept:
        raise DataError(
            f"no word occurs min_count={min_count} times in {len(texts)} texts: fit on more texts or lower min_count"
        )
    new = np.full(len(names), -1, dtype=np.int32)
    new[kept] = np.arange(len(kept), dtype=np.int32)
    occurrences = new[np.array(cut, dtype=np.int64)]
    sentences = np.repeat(np.arange(len(texts), dtype=np.int32), lengths)
    known = occurrences >= 0
    return [names[n] for n in kept], occurrences[known], sentences[known]


def count_pairs(occurrences: NDArray[np.int32], sentences: NDArray[np.int32], *, size: int, window: int) -> csr_matrix:
    """X of GloVe (section 4.2): a symmetric ``[size, size]`` matrix; a pair at distance k within a text adds 1/k."""
    from scipy.sparse import coo_matrix, csr_matrix

    one_way = csr_matrix((size, size), dtype=np.float32)
    for distance in range(1, min(window, len(occurrences) - 1) + 1):
        near = sentences[distance:] == sentences[:-distance]
        left, right = occurrences[:-distance][near], occurrences[distance:][near]
        weights = np.full(len(left), 1.0 / distance, dtype=np.float32)
        one_way = one_way + coo_matrix((weights, (left, right)), shape=(size, size)).tocsr()
    both = csr_matrix(one_way + one_way.T)
    both.sort_indices()
    return both


def _parts(pairs: csr_matrix, rng: np.random.Generator) -> list[csr_matrix]:
    """The entries dealt at random to matrices of about equal size, the same ones in every pass."""
    from scipy.sparse import csr_matrix

    size = pairs.shape[0]
    count = max(_LEAST_BATCHES, pairs.nnz // (_ENTRIES_A_WORD * size))
    hand = rng.integers(0, count, size=pairs.nnz, dtype=np.int32)
    order = np.argsort(hand, kind="stable").astype(np.int64)
    rows = np.repeat(np.arange(size, dtype=np.int32), np.diff(pairs.indptr))
    ends = np.searchsorted(hand[order], np.arange(count + 1))
    parts = []
    for low, high in pairwise(ends):
        taken = order[low:high]
        if len(taken):
            parts.append(csr_matrix((pairs.data[taken], (rows[taken], pairs.indices[taken])), shape=pairs.shape))
    return parts


@dataclass(frozen=True)
class _Batch:
    """Some entries of X with their pattern by rows and by columns."""

    pattern: torch.Tensor
    """Sparse, by rows; its values are not used."""
    transpose: torch.Tensor
    """The order by rows in which the entries stand when taken by columns."""
    row_starts: torch.Tensor
    columns: torch.Tensor
    column_starts: torch.Tensor
    rows: torch.Tensor
    logarithm: torch.Tensor
    weight: torch.Tensor

    @classmethod
    def of(cls, part: csr_matrix, x_max: float, alpha: float, device: torch.device) -> _Batch:
        import torch
        from scipy.sparse import csr_matrix

        numbered = csr_matrix((np.arange(part.nnz, dtype=np.int32), part.indices, part.indptr), shape=part.shape)
        by_column = numbered.tocsc()

        def tensor(values: NDArray[np.generic]) -> torch.Tensor:
            return torch.from_numpy(np.ascontiguousarray(values)).to(device)

        starts, columns = tensor(part.indptr.astype(np.int32)), tensor(part.indices.astype(np.int32))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sparse CSR tensor support")
            values = torch.zeros(part.nnz, device=device)
            pattern = torch.sparse_csr_tensor(starts, columns, values, part.shape, check_invariants=False)
        return cls(
            pattern=pattern,
            transpose=tensor(by_column.data.astype(np.int32)),
            row_starts=starts[:-1],
            columns=columns,
            column_starts=tensor(by_column.indptr[:-1].astype(np.int32)),
            rows=tensor(by_column.indices.astype(np.int32)),
            logarithm=tensor(np.log(part.data).astype(np.float32)),
            weight=tensor(np.minimum(1.0, (part.data / x_max) ** alpha).astype(np.float32)),
        )


@dataclass
class _State:
    """Vectors with what AdaGrad remembers; the last two columns make the biases.

    A word ends in (its bias, 1) and a context in (1, its bias), so that one product holds all of w·c + b + b'. The
    columns of ones stay: their gradient is masked.
    """

    word: torch.Tensor
    context: torch.Tensor
    word_sum: torch.Tensor
    context_sum: torch.Tensor

    @classmethod
    def new(cls, size: int, dimension: int, rng: np.random.Generator, device: torch.device) -> _State:
        import torch

        def table(one: int) -> torch.Tensor:
            values = (rng.random((size, dimension + 2), dtype=np.float32) - np.float32(0.5)) / np.float32(dimension)
            values[:, one] = 1.0
            return torch.from_numpy(values).to(device)

        word, context = table(dimension + 1), table(dimension)
        return cls(word, context, torch.ones_like(word), torch.ones_like(context))

    def step(self, batch: _Batch, rate: float) -> None:
        """One AdaGrad step on a batch."""
        import torch

        fitted = torch.sparse.sampled_addmm(batch.pattern, self.word, self.context.t(), beta=0.0).values()
        pull = batch.weight * (fitted - batch.logarithm)
        bag = torch.nn.functional.embedding_bag
        word = bag(batch.columns, self.context, batch.row_starts, mode="sum", per_sample_weights=pull)
        back = pull[batch.transpose]
        context = bag(batch.rows, self.word, batch.column_starts, mode="sum", per_sample_weights=back)
        word[:, -1] = 0.0
        context[:, -2] = 0.0
        for values, sums, gradient in ((self.word, self.word_sum, word), (self.context, self.context_sum, context)):
            sums.addcmul_(gradient, gradient)
            values.addcdiv_(gradient, sums.sqrt(), value=-rate)
