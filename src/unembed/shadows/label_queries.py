"""What is asked of a classifier that reads word vectors: the label of a text with a word appended again and again.

The classifier of Mahloujifar 4 is linear in the mean of a text's word vectors, and only its labels are seen. A text of
n known words whose vectors sum up to s, with the word w appended j times, gets the label of

    a·(s + j·v_w) / (n + j) + b ,   the sign of   (a·s + n·b) + j·(a·v_w + b) ,

so one number for each text and one for each word give the labels of all queries, and no text is made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.errors import CannotMeasureError
from unembed.nn.features import Standardiser
from unembed.shadows.base import IntArray, TokenCorpus, WordTable
from unembed.shadows.signals import FloatArray

#: How often a word is appended at the most (Algorithm 3, step 5).
APPENDED = 5
#: How strongly the machine is held back: C of scikit-learn's LinearSVC, on standardised means.
STRENGTH = 1.0


@dataclass(frozen=True)
class ReadTexts:
    """Of each text a·s + n·b, and whether it has a word that the classifier knows."""

    pull: FloatArray
    known: NDArray[np.bool_]


@dataclass(frozen=True)
class LabelClassifier:
    """A linear classifier on means of word vectors: the pull a·v of each word that it knows, and the offset b.

    ``numbers`` are those of the corpus' vocabulary, in rising order.
    """

    numbers: IntArray
    pulls: FloatArray
    offset: float

    def read(self, counts: Any) -> ReadTexts:
        """Texts as the classifier sees them, given by how often each has which word (``word_counts``)."""
        own = counts[:, self.numbers]
        known = np.asarray(own @ np.ones(len(self.numbers)))
        return ReadTexts(np.asarray(own @ self.pulls) + known * self.offset, known > 0)

    def labels(self, texts: ReadTexts) -> NDArray[np.bool_]:
        """The label of each text."""
        return np.asarray(self._alone(texts) > 0)

    def answers(self, texts: ReadTexts, words: IntArray, most: int = APPENDED) -> NDArray[np.int8]:
        """The labels of all queries, 1 or -1, in the order of ``query_texts``.

        A word that the classifier does not know changes nothing, as it is passed over when a text is read.
        """
        place = np.minimum(np.searchsorted(self.numbers, words), len(self.numbers) - 1)
        there = self.numbers[place] == words
        push = np.where(there, self.pulls[place] + self.offset, 0.0)
        alone = self._alone(texts)
        start = np.where(there, texts.pull[:, None], alone[:, None])
        moved = start[:, :, None] + push[None, :, None] * np.arange(1, most + 1)
        return np.where(np.concatenate([alone, moved.ravel()]) > 0, 1, -1).astype(np.int8)

    def shifts(self, texts: ReadTexts, words: IntArray, most: int = APPENDED) -> FloatArray:
        """How far each word moves the labels of the texts."""
        return word_shifts(self.answers(texts, words, most), len(texts.pull), most)

    def _alone(self, texts: ReadTexts) -> FloatArray:
        """Where nothing is known the mean is zero, and b decides."""
        return np.where(texts.known, texts.pull, self.offset)


def word_counts(corpus: TokenCorpus, rows: IntArray) -> Any:
    """How often each text has each word of the vocabulary: a SciPy CSR matrix."""
    from scipy.sparse import csr_matrix

    tokens, starts = corpus.some(rows)
    counts = csr_matrix((np.ones(len(tokens)), tokens, starts), shape=(len(rows), len(corpus.vocabulary)))
    counts.sum_duplicates()
    return counts


def taught(table: WordTable, counts: Any, labels: NDArray[np.bool_], seed: int) -> LabelClassifier:
    """A linear support vector machine on the means of the texts' word vectors (Mahloujifar 4.1, step 7)."""
    from sklearn.svm import LinearSVC

    if labels.all() or not labels.any():
        raise CannotMeasureError("all texts of the classifier have the same label: there is nothing to learn")
    own = counts[:, table.numbers]
    known = np.asarray(own.sum(axis=1)).ravel()
    means = np.asarray(own @ table.vectors) / np.maximum(known, 1)[:, None]
    scaler = Standardiser().fit(means)
    machine = LinearSVC(C=STRENGTH, dual=False, random_state=seed % 2**32).fit(scaler.transform(means), labels)
    weights = np.asarray(machine.coef_[0] * scaler.scale_, dtype=np.float64)
    offset = float(machine.intercept_[0] - scaler.mean_ @ weights)
    return LabelClassifier(table.numbers, table.vectors @ weights, offset)


def query_texts(documents: Sequence[str], words: Sequence[str], most: int = APPENDED) -> Iterator[str]:
    """All queries as texts: the documents as they are, then one by one with each word 1 to ``most`` times behind."""
    yield from documents
    for document in documents:
        for word in words:
            for times in range(1, most + 1):
                yield " ".join([document, *[word] * times])


def word_shifts(answers: NDArray[np.generic], documents: int, most: int = APPENDED) -> FloatArray:
    """The mean label with each word appended 1 to ``most`` times, less that without; ``answers`` as ``query_texts``."""
    alone, moved = answers[:documents], answers[documents:].reshape(documents, -1, most)
    return np.asarray(moved.mean(axis=(0, 2)) - alone.mean(), dtype=np.float64)
