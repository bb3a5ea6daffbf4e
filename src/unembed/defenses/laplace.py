"""The Laplace mechanism with an estimated sensitivity (Pan 2020, VII (2) and Appendix C)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.substitution import exchange_one
from unembed.corpora.words import build_vocabulary
from unembed.defenses.base import DefenseFacts, Owned, check_dimension, check_finite, dense, laplace_noise
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.params import Parametrised
from unembed.seeds import generator

_WHAT = "noise on every number"
#: Pairs that are encoded at once.
_AT_ONCE = 512


class Laplace(Parametrised):
    """Adds Laplace noise whose scale is the L1 sensitivity of the encoder divided by ε.

    The sensitivity is how far a vector can move, in L1 distance, when one word of the text is exchanged. It is
    estimated: the largest distance seen over pairs of the owner's texts and copies that differ in one word. A larger
    distance may exist, and then the guarantee does not hold there. It is about one word and not about a whole text: for
    texts that differ in w words it is w·ε.

    Args:
        epsilon: ε of the guarantee.
        sensitivity: L1 sensitivity, where it is known; nothing is estimated then.
        pairs: Pairs of texts that it is estimated from. The paper takes 10,000; 2,000 are 4,000 texts to
            encode.
        seed: The key.
    """

    facts: ClassVar[DefenseFacts] = DefenseFacts(
        name="laplace",
        title="Laplace mechanism",
        paper="pan2020",
        section="VII (2), Appendix C",
        departures="the sensitivity is estimated from 2,000 pairs of texts, not from 10,000, unless 'pairs' says so; "
        "a record's noise is drawn once, so that averaging over releases gains nothing",
        keyed="noise",
    )

    epsilon: float = 10.0
    sensitivity: float | None = None
    pairs: int = 2_000
    seed: int = 0

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Learn the sensitivity, unless it was given."""
        self.check_parameters()
        self.dimension_ = int(dense(vectors, _WHAT).shape[1])
        if self.sensitivity is not None:
            self.sensitivity_, self.pairs_ = float(self.sensitivity), 0
            told = "as it was given"
        else:
            self.sensitivity_, self.pairs_ = self._estimate(owned)
            told = f"the largest of {self.pairs_:,} pairs, which is an estimate: a larger one may exist"
        self.guarantee_ = (
            f"{self.epsilon:g}-differential privacy of one word of a text, if exchanging it moves a vector by at most "
            f"{self.sensitivity_:.4g} in L1 distance ({told}); for one release, or any number of them under one key"
        )
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """Vectors with their records' noise."""
        check_dimension(self.facts.name, self.dimension_, vectors)
        added = laplace_noise(ids, self.dimension_, self.seed)
        added *= np.float32(self.sensitivity_ / self.epsilon)
        added += check_finite(dense(vectors, _WHAT), self.facts.name)
        return added

    def check_parameters(self) -> None:
        """Refuse parameters out of range."""
        if not 0 < self.epsilon < math.inf:
            raise UsageError(f"'epsilon' of the defense 'laplace' must be above 0, not {self.epsilon}")
        if self.sensitivity is not None and not 0 < self.sensitivity < math.inf:
            raise UsageError(f"'sensitivity' of the defense 'laplace' must be above 0, not {self.sensitivity}")
        if self.pairs < 1:
            raise UsageError(f"'pairs' of the defense 'laplace' must be at least 1, not {self.pairs}")

    def _estimate(self, owned: Owned | None) -> tuple[float, int]:
        """The largest distance within a pair, and the number of pairs."""
        if owned is None or not owned.texts or owned.encode is None:
            raise CannotMeasureError(
                "the defense 'laplace' needs texts and their encoder to estimate the sensitivity: give 'sensitivity'"
            )
        pairs = pairs_of(owned.texts, self.pairs)
        if not pairs:
            raise CannotMeasureError(
                "the defense 'laplace' found no text with a word to exchange for another: give 'sensitivity'"
            )
        found = float(l1_distances(pairs, owned.encode).max())
        if not 0 < found < math.inf:
            raise CannotMeasureError(
                f"the defense 'laplace' saw no usable difference between texts that differ in one word ({found:g}): "
                "give 'sensitivity'"
            )
        return found, len(pairs)


def pairs_of(texts: Sequence[str], count: int) -> list[tuple[str, str]]:
    """Texts and copies with one word exchanged, each text as often as any other; fewer where texts have no word.

    Which pairs they are follows from the texts and not from a key, because what is learnt from them may be known.
    """
    pool = build_vocabulary(texts, size=5_000, min_count=1).words
    rng = generator(0, "pairs that differ in one word")
    if len(pool) < 2:
        return []
    order = np.concatenate([rng.permutation(len(texts)) for _ in range(-(-count // len(texts)))])[:count]
    made = [(texts[row], exchange_one(texts[row], pool, rng)) for row in order]
    return [(text, other) for text, other in made if other is not None]


def l1_distances(pairs: Sequence[tuple[str, str]], encode: Callable[[Sequence[str]], Vectors]) -> NDArray[np.float64]:
    """The L1 distance between the vectors of each pair."""
    found = np.empty(len(pairs))
    for start in range(0, len(pairs), _AT_ONCE):
        part = pairs[start : start + _AT_ONCE]
        one, other = (dense(encode([pair[side] for pair in part]), _WHAT).astype(np.float64) for side in (0, 1))
        found[start : start + len(part)] = np.abs(one - other).sum(axis=1)
    return found
