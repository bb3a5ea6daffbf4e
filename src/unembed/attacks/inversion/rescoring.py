"""Judging likely words by encoding the guess again, with each of them and without.

A word that belongs to the text brings the vector of the guess nearer to the one under attack; a word that does not
takes it away. Either costs one query. How much such a step is worth, against the network's own probability and the
word's frequency, is learnt by logistic regression from a few hundred pairs the networks never saw: eleven numbers, the
same for all words, so that there is nothing to overfit and rare words profit as frequent ones do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from unembed.corpora.words import Vocabulary
from unembed.encoders.base import Vectors
from unembed.nn.features import Standardiser

FloatArray = NDArray[np.float64]
Query = Callable[[list[str]], Vectors]
ROWS_AT_ONCE = 2048


@dataclass(frozen=True)
class _Steps:
    """One likely content word of one text a line: its row, column and probability, and whether the guess holds it."""

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    sure: FloatArray
    said: NDArray[np.bool_]


class Rescorer:
    """Learns what the encoder's answers say about a word; then turns probabilities into better ones."""

    def __init__(self, vocabulary: Vocabulary, query: Query, scaler: Standardiser, *, candidates: int) -> None:
        self.vocabulary = vocabulary
        self.query = query
        self.scaler = scaler
        self.candidates = candidates
        self.names = np.array(vocabulary.words, dtype=object)

    def fit(
        self, confidences: csr_matrix, thresholds: NDArray[np.float32], vectors: Vectors, truth: csr_matrix
    ) -> Self:
        """``confidences`` of the networks for texts they never saw, and the words that are there."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self.thresholds = thresholds
        steps, features = self._look(confidences, vectors)
        right = np.asarray(truth[steps.rows, steps.columns]).ravel() != 0
        self.model_: Any = None
        if right.any() and not right.all():
            self.model_ = make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000)).fit(features, right)
        return self

    def apply(self, confidences: csr_matrix, vectors: Vectors) -> csr_matrix:
        """The same words with new probabilities; content words that are not among the likeliest are left out."""
        if self.model_ is None or not confidences.nnz:
            return confidences
        steps, features = self._look(confidences, vectors)
        function = confidences.tocoo()
        kept = ~self.vocabulary.content[function.col]
        data = [function.data[kept]]
        where = [np.stack([function.row[kept], function.col[kept]])]
        if len(steps.rows):
            data.append(self.model_.predict_proba(features)[:, 1].astype(np.float32))
            where.append(np.stack([steps.rows, steps.columns]))
        places = np.concatenate(where, axis=1)
        return csr_matrix((np.concatenate(data).astype(np.float32), (places[0], places[1])), shape=confidences.shape)

    def _look(self, confidences: csr_matrix, vectors: Vectors) -> tuple[_Steps, FloatArray]:
        parts = [
            self._look_at_some(confidences[start : start + ROWS_AT_ONCE], vectors[start : start + ROWS_AT_ONCE], start)
            for start in range(0, max(confidences.shape[0], 1), ROWS_AT_ONCE)
        ]
        joined = {name: np.concatenate([vars(steps)[name] for steps, _ in parts]) for name in vars(parts[0][0])}
        return _Steps(**joined), np.concatenate([features for _, features in parts])

    def _look_at_some(self, confidences: csr_matrix, vectors: Vectors, offset: int) -> tuple[_Steps, FloatArray]:
        """Queries for some texts: the guess of each, and the guess with one likely word more or one fewer."""
        asked: list[str] = []
        lines: list[tuple[int, int, float, bool, int, int]] = []
        for row in range(confidences.shape[0]):
            here = slice(confidences.indptr[row], confidences.indptr[row + 1])
            order = np.argsort(-confidences.data[here], kind="stable")[: self.candidates]
            columns, sure = confidences.indices[here][order], confidences.data[here][order]
            if not len(columns):
                continue
            guess = [int(c) for c, p in zip(columns, sure, strict=True) if p >= self.thresholds[c]] or [int(columns[0])]
            whole = len(asked)
            asked.append(" ".join(self.names[guess]))
            for column, probability in zip(columns, sure, strict=True):
                if not self.vocabulary.content[column]:
                    continue
                said = int(column) in guess
                changed = [w for w in guess if w != column] if said else [*guess, int(column)]
                lines.append((row, int(column), float(probability), said, whole, len(asked)))
                asked.append(" ".join(self.names[changed]))
        if not lines:
            none = np.zeros(0, dtype=np.int64)
            return _Steps(none, none, np.zeros(0), none.astype(bool)), np.zeros((0, 8 if issparse(vectors) else 11))
        table = np.array(lines)
        rows, words, wholes, changes = table[:, [0, 1, 4, 5]].astype(np.int64).T
        steps = _Steps(rows + offset, words, table[:, 2], table[:, 3] > 0)
        near = self._nearness(self.query(asked), vectors, rows, wholes, changes)
        return steps, self._features(steps, near)

    def _nearness(
        self,
        answers: Vectors,
        vectors: Vectors,
        rows: NDArray[np.int64],
        wholes: NDArray[np.int64],
        changes: NDArray[np.int64],
    ) -> list[tuple[FloatArray, FloatArray]]:
        """Cosines of the target with the guess and with the changed guess: as they are, and standardised."""
        pairs = [(cosines(answers[wholes], vectors[rows]), cosines(answers[changes], vectors[rows]))]
        if not issparse(answers):
            spread, target = self.scaler.transform(answers), self.scaler.transform(vectors)
            pairs.append((cosines(spread[wholes], target[rows]), cosines(spread[changes], target[rows])))
        return pairs

    def _features(self, steps: _Steps, near: list[tuple[FloatArray, FloatArray]]) -> FloatArray:
        sure = np.clip(steps.sure, 1e-6, 1 - 1e-6)
        logit = np.log(sure / (1 - sure))
        rarity = np.log((self.vocabulary.document_counts[steps.columns] + 0.5) / (self.vocabulary.texts + 1))
        columns = [logit, rarity, logit * rarity, steps.said.astype(np.float64)]
        for before, after in near:
            gain = np.where(steps.said, before - after, after - before)
            columns += [gain, gain * steps.said, gain * before]
        columns.append(near[-1][0])
        return np.stack(columns, axis=1)


def cosines(left: Vectors, right: Vectors) -> FloatArray:
    """Row by row; 0 where a row is all zero."""
    if issparse(left) or issparse(right):
        products = np.asarray(csr_matrix(left).multiply(csr_matrix(right)).sum(axis=1)).ravel()
        norms = [np.sqrt(np.asarray(csr_matrix(v).multiply(csr_matrix(v)).sum(axis=1)).ravel()) for v in (left, right)]
    else:
        products = np.einsum("ij,ij->i", left, right, dtype=np.float64)
        norms = [np.linalg.norm(v, axis=1) for v in (left, right)]
    size = norms[0] * norms[1]
    result: FloatArray = np.divide(products, size, out=np.zeros(len(size)), where=size > 0)
    return result
