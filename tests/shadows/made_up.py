"""Texts from a generator: words in topics, so that trained vectors have something to agree on."""

import numpy as np

from unembed.shadows.base import TokenCorpus

TOPICS, WORDS = 5, 12


def texts(n=400, length=25, seed=0):
    """Every text draws its words from one topic, the commoner ones more often."""
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, WORDS + 1)
    drawn = [(rng.integers(TOPICS), rng.choice(WORDS, size=length, p=share / share.sum())) for _ in range(n)]
    return [" ".join(f"t{topic}w{word}" for word in row) for topic, row in drawn]


def corpus(**more):
    return TokenCorpus.of(texts(**more))


def likeness(first, second):
    """The correlation of the similarities of all pairs of words that both tables know."""
    both = np.intersect1d(first.numbers, second.numbers)
    found = []
    for table in (first, second):
        vectors = table.vectors[table.rows_of(both)]
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        found.append((vectors @ vectors.T)[np.triu_indices(len(both), 1)])
    return float(np.corrcoef(found)[0, 1])
