"""What a classifier's answer to a text says of whether it learnt from it: three numbers of Corò 3.3.

    confidence          F(p, c) = p[c]                                             high for members
    rank                F(p, c) = |{i : p[i] ≥ p[c]}|                               low for members
    modified entropy    F(p, c) = −(1 − p[c]) log p[c] − Σ_{i≠c} p[i] log p[i]      low for members

The thesis takes whatever reaches a threshold for a member, so the last two are turned round here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np

from unembed.encoders.base import Vectors
from unembed.errors import UnknownNameError
from unembed.games.base import IntArray
from unembed.games.model_answers import Columns
from unembed.metrics.spread import FloatArray

Feature: TypeAlias = Literal["confidence", "rank", "entropy"]
#: Probabilities are not taken for smaller than this.
LEAST = 1e-30


def confidence(p: FloatArray, labels: IntArray) -> FloatArray:
    """The probability of the right class."""
    return np.asarray(p[np.arange(len(p)), labels])


def rank(p: FloatArray, labels: IntArray) -> FloatArray:
    """How many classes are at least as probable as the right one, itself among them."""
    return np.asarray((p >= confidence(p, labels)[:, None]).sum(axis=1), dtype=np.float64)


def modified_entropy(p: FloatArray, labels: IntArray) -> FloatArray:
    """Low where the model is sure and right, high where it is sure and wrong."""
    own = confidence(p, labels)
    terms = p * np.log(np.maximum(p, LEAST))
    others = terms.sum(axis=1) - terms[np.arange(len(p)), labels]
    return np.asarray(-(1 - own) * np.log(np.maximum(own, LEAST)) - others)


def log_odds(p: FloatArray, labels: IntArray) -> FloatArray:
    """Of the right class against all others together: what makes confidences near 1 as far apart as others."""
    own = confidence(p, labels)
    others = p.sum(axis=1) - own
    # Near 1 the sum has lost what the others hold; they keep it where they are added up alone.
    exact = np.where(np.arange(p.shape[1]) == labels[:, None], 0, p).sum(axis=1)
    return np.asarray(np.log(np.maximum(own, LEAST)) - np.log(np.maximum(np.where(own > 0.5, exact, others), LEAST)))


_HIGH_FOR_MEMBERS: dict[str, Callable[[FloatArray, IntArray], FloatArray]] = {
    "confidence": confidence,
    "rank": lambda p, labels: -rank(p, labels),
    "entropy": lambda p, labels: -modified_entropy(p, labels),
}


def feature_of(name: Feature, columns: Columns, vectors: Vectors) -> FloatArray:
    """One of the three for each answer, turned so that members have the higher ones."""
    if name not in _HIGH_FOR_MEMBERS:
        raise UnknownNameError("feature of a classifier's answers", name, _HIGH_FOR_MEMBERS)
    return _HIGH_FOR_MEMBERS[name](columns.probabilities(vectors), columns.labels(vectors))
