"""How often words stand near each other, weighted by one over their distance (GloVe, section 4.2).

Vectorised over the corpus: for each distance up to the window all pairs at once, added up as sparse matrices. The
limit is sorting the words × window pairs; the peak of memory is two sparse matrices of the final size and 24 bytes a
word of the corpus.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.words import words
from unembed.errors import DataError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


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
    """X of GloVe: a symmetric ``[size, size]`` matrix; a pair at distance k within a text adds 1/k."""
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
