"""The vectors of unseen texts in a trained Doc2Vec (dbow): gradient steps on the text's vector alone.

What gensim does one text at a time, done for many texts side by side: for every pass and every word that survives
sub-sampling one step that pulls the text's vector towards the word and away from random ones (Le and Mikolov 2014;
Corò 2.2.2). Steps of one text follow each other, so only the texts can be vectorised. A step reads (1 + negatives)
rows of 4·d bytes; those reads are the limit. ``benchmarks/word_vectors.py`` gave 4,462 sentences a second of CPU time
on one busy core, 1.28 times gensim on the same table, and vectors as near to gensim's as gensim's own second try.

Random choices come from a generator seeded by the text itself: the same text gives the same vector whatever stands
beside it, whenever it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import DenseVectors
from unembed.seeds import generator

_TEXTS_AT_ONCE = 128
_STEPS_AT_ONCE = 200_000
_TABLE_SIZE = 2**22
_POWER = 0.75
_LOWEST_RATE = 1e-4


def keep_probability(counts: NDArray[np.int64], sample: float) -> NDArray[np.float64]:
    """How likely an occurrence of each word survives sub-sampling (word2vec's formula)."""
    if sample <= 0:
        return np.ones(len(counts))
    ratio = sample * counts.sum() / np.maximum(counts, 1)
    kept: NDArray[np.float64] = np.minimum(1.0, np.sqrt(ratio) + ratio)
    return kept


@dataclass(frozen=True)
class _Plan:
    """The steps of one text: which word is pulled, which are pushed, at which rate."""

    start: NDArray[np.float32]
    rows: NDArray[np.int32]
    """[steps, 1 + negatives]; the word itself first."""
    rates: NDArray[np.float32]


class DbowInference:
    """Texts, as rows of the vocabulary, to vectors.

    Args:
        output: syn1neg of the trained model, one row per word.
        counts: occurrences of each word in the training texts.
        sample: sub-sampling threshold.
        negatives: random words per step.
        epochs: passes over a text.
        learning_rate: of the first pass; the last has 1e-4.
        seed: of everything random, together with the text.
    """

    def __init__(
        self,
        output: DenseVectors,
        counts: NDArray[np.int64],
        *,
        sample: float,
        negatives: int,
        epochs: int,
        learning_rate: float,
        seed: int,
    ) -> None:
        self._output = output
        self._negatives = negatives
        self._seed = seed
        self._keep = keep_probability(counts, sample)
        self._rates = np.linspace(learning_rate, _LOWEST_RATE, epochs, dtype=np.float32)
        shares = np.cumsum(counts.astype(np.float64) ** _POWER)
        middles = (np.arange(_TABLE_SIZE) + 0.5) / _TABLE_SIZE
        self._noise = np.searchsorted(shares / shares[-1], middles).astype(np.int32)

    def vectors(self, texts: Sequence[Sequence[int]]) -> DenseVectors:
        """One row per text; a text without words is a row of zeros."""
        result = np.zeros((len(texts), self._output.shape[1]), dtype=np.float32)
        order = sorted((row for row in range(len(texts)) if len(texts[row])), key=lambda row: -len(texts[row]))
        start = 0
        while start < len(order):
            # Texts come longest first, so the next ones are no longer than this one.
            steps = len(texts[order[start]]) * len(self._rates)
            rows = order[start : start + max(1, min(_TEXTS_AT_ONCE, _STEPS_AT_ONCE // steps))]
            result[rows] = self._together([self._plan(np.asarray(texts[row], dtype=np.int64)) for row in rows])
            start += len(rows)
        return result

    def _plan(self, words: NDArray[np.int64]) -> _Plan:
        rng = generator(self._seed, "doc2vec", words.tobytes().hex())
        dimension = self._output.shape[1]
        start = rng.random((dimension,), dtype=np.float32)
        start = (start - np.float32(0.5)) / np.float32(dimension)
        kept = rng.random((len(self._rates), len(words))) < self._keep[words]
        passes, places = np.nonzero(kept)
        pushed = self._noise[rng.integers(0, _TABLE_SIZE, size=(len(passes), self._negatives))]
        pulled = words[places].astype(np.int32)
        return _Plan(start, np.column_stack([pulled, pushed]), self._rates[passes])

    def _together(self, plans: Sequence[_Plan]) -> DenseVectors:
        """All steps number s of all texts at once, for s = 1, 2, …; longest texts first, so the active ones lead."""
        lengths = np.array([len(plan.rates) for plan in plans])
        order = np.argsort(-lengths, kind="stable")
        most = int(lengths.max())
        rows = np.zeros((most, len(plans), 1 + self._negatives), dtype=np.intp)
        rates = np.zeros((most, len(plans), 1), dtype=np.float32)
        for place, number in enumerate(order):
            rows[: lengths[number], place] = plans[number].rows
            rates[: lengths[number], place, 0] = plans[number].rates
        # A random word that happens to be the word itself is skipped.
        pushes = rows != rows[:, :, :1]
        pushes[:, :, 0] = True
        rates = rates * pushes
        vectors = np.stack([plans[number].start for number in order])
        wanted = np.zeros(1 + self._negatives, dtype=np.float32)
        wanted[0] = 1.0
        active = (lengths[order][None, :] > np.arange(most)[:, None]).sum(axis=1)
        buffer = np.empty((len(plans), 1 + self._negatives, self._output.shape[1]), dtype=np.float32)
        for step in range(most):
            live = int(active[step])
            # "clip" reads straight into the buffer; every row exists.
            near = np.take(self._output, rows[step, :live], axis=0, out=buffer[:live], mode="clip")
            products = np.matmul(near, vectors[:live, :, None])[:, :, 0]
            pull = (wanted - 1.0 / (1.0 + np.exp(-np.clip(products, -30, 30)))) * rates[step, :live]
            vectors[:live] += np.matmul(pull[:, None, :], near)[:, 0]
        back = np.empty_like(vectors)
        back[order] = vectors
        return back
