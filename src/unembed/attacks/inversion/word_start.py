"""Where the word matrix W2 may start from (Corò 6.1): vectors of words instead of random numbers.

``labels``: from which words share a text among the adversary's own pairs. ``encoder``: the encoder's word matrix,
where the adversary holds the weights. Anything else: a text file of word vectors as word2vec and GloVe write them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from unembed.corpora.words import fold
from unembed.encoders.table_files import read_table
from unembed.errors import UsageError
from unembed.games.inversion import InversionKnowledge
from unembed.seeds import generator, seed_for

Started = tuple[NDArray[np.int64], NDArray[np.float32]]


def start_vectors(
    source: str,
    knowledge: InversionKnowledge,
    columns: NDArray[np.int64],
    sets: csr_matrix,
    hidden: int,
    seed: int,
) -> Started:
    """Rows of the word matrix that have a vector, and these vectors in ``hidden`` units.

    Their size is that of the random rows they replace: one over the square root of the units.
    """
    if source == "labels":
        rows, vectors = np.arange(len(columns)), cooccurrence_vectors(sets, hidden, seed)
    else:
        names = [knowledge.vocabulary.words[c] for c in columns]
        if source != "encoder":
            rows, vectors = _table_rows(*read_table(Path(source)), names)
        elif knowledge.encoder is None:
            raise UsageError("word_matrix 'encoder' needs an adversary with the weights: use labels or a file")
        else:
            rows, vectors = _table_rows(knowledge.encoder.vocabulary, knowledge.encoder.word_matrix, names)
        if not len(rows):
            raise UsageError(f"word_matrix '{source}' has none of the adversary's {len(names):,} words")
    fitted = fit_width(vectors, hidden, seed)
    size = np.sqrt((fitted * fitted).mean()) * math.sqrt(hidden)
    return rows.astype(np.int64), (fitted / max(size, 1e-12)).astype(np.float32)


def cooccurrence_vectors(sets: csr_matrix, width: int, seed: int) -> NDArray[np.float32]:
    """Truncated SVD of the positive pointwise mutual information of words that share a text."""
    from sklearn.utils.extmath import randomized_svd

    counts = (sets.T.astype(np.float64) @ sets.astype(np.float64)).tocoo()
    apart = counts.row != counts.col
    row, column, data = counts.row[apart], counts.col[apart], counts.data[apart]
    once = np.asarray(sets.sum(axis=0), dtype=np.float64).ravel()
    information = np.log(data * sets.shape[0] / (once[row] * once[column]))
    kept = information > 0
    shape = (sets.shape[1], sets.shape[1])
    matrix = csr_matrix((information[kept], (row[kept], column[kept])), shape=shape)
    rank = min(width, shape[0] - 1)
    if rank < 1 or not matrix.nnz:
        return np.zeros((shape[0], 1), dtype=np.float32)
    state = seed_for(seed, "word matrix") % 2**32
    left, values, _ = randomized_svd(matrix, rank, n_iter=2, random_state=state)
    vectors: NDArray[np.float32] = np.asarray(left * np.sqrt(values), dtype=np.float32)
    return vectors


def fit_width(vectors: NDArray[np.float32], width: int, seed: int) -> NDArray[np.float32]:
    """As many columns as the network has units: the strongest directions, or small random numbers beside the given."""
    have = vectors.shape[1]
    if have > width:
        _, _, directions = np.linalg.svd(vectors, full_matrices=False)
        return np.asarray(vectors @ directions[:width].T, dtype=np.float32)
    if have == width:
        return vectors
    spread = float(vectors.std()) or 1.0
    extra = generator(seed, "word matrix width").standard_normal((len(vectors), width - have)) * spread * 0.1
    return np.concatenate([vectors, extra.astype(np.float32)], axis=1)


def _table_rows(tokens: Sequence[str], matrix: NDArray[np.float32], names: Sequence[str]) -> Started:
    """Which of the words are in a table, and their vectors; of several spellings the first."""
    place = {fold(token): i for i, token in reversed(list(enumerate(tokens)))}
    found = [(row, place[name]) for row, name in enumerate(names) if name in place]
    rows = np.array([row for row, _ in found], dtype=np.int64)
    return rows, np.asarray(matrix, dtype=np.float32)[[place for _, place in found]]
