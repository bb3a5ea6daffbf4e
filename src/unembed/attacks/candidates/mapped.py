"""Ours: candidates ranked without the encoder, through a map that known pairs teach.

The adversary holds texts with their stored vectors and can't ask the encoder. It turns texts into vectors of its own, a
bag of words or those of another encoder (``surrogate``), learns a ridge regression from there into the stored space,
and puts the candidates through it. Words that none of its texts hold say nothing.

Cost: an eigendecomposition of the pairs' products with each other, n³, of at most ``MOST_PAIRS`` pairs; with a
surrogate also its vectors of all pairs and candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from unembed.attacks.base import AttackFacts
from unembed.attacks.candidates.similarity import Similarities
from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.candidates import CandidatesGuess, CandidatesKnowledge
from unembed.games.threat import Capability
from unembed.nn.features import Standardiser
from unembed.params import Parametrised
from unembed.seeds import generator

MOST_PAIRS = 1_500
FEWEST_PAIRS = 20
#: Strengths tried, as shares of the mean eigenvalue.
STRENGTHS = tuple(float(s) for s in np.logspace(-2, 2, 9))

FloatArray = NDArray[np.float64]


class CandidateMap(Parametrised):
    """Ranks candidates by where a learnt map puts them."""

    facts: ClassVar[AttackFacts] = AttackFacts(
        name="candidates/mapped",
        game="candidates",
        title="Ranking candidate texts through a map learnt from known pairs",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS}),
        cost="minutes",
    )

    surrogate: str = "words"
    seed: int = 0

    def fit(self, knowledge: CandidatesKnowledge) -> Self:
        """Learn the map, its strength by the error on each pair when it alone is left out, and place the candidates."""
        rows = np.arange(len(knowledge.texts))
        if len(rows) < FEWEST_PAIRS:
            raise CannotMeasureError(f"a map can't be learnt from {len(rows)} pairs: {FEWEST_PAIRS} are needed")
        if len(rows) > MOST_PAIRS:
            rows = np.sort(generator(self.seed, "pairs").permutation(rows)[:MOST_PAIRS])
        texts = [knowledge.texts[int(i)] for i in rows]
        self.scaler_ = Standardiser().fit(knowledge.vectors[rows])
        stored = self.scaler_.transform(knowledge.vectors[rows]).astype(np.float64)
        inputs, asked = self._own_vectors(texts, knowledge.candidates)
        placed = _ridge(inputs, stored, asked)
        self.similarities_ = Similarities(placed.astype(np.float32))
        return self

    def run(self, vectors: Vectors) -> CandidatesGuess:
        """One score per candidate."""
        return self.similarities_.of(self.scaler_.transform(vectors))

    def _own_vectors(self, texts: Sequence[str], candidates: Sequence[str]) -> tuple[Any, Any]:
        """Vectors of the known texts and of the candidates that need no access to the encoder under attack."""
        if self.surrogate != "words":
            from unembed.encoders import build_encoder

            encoder = build_encoder(self.surrogate, {}, fit_texts=texts)
            return encoder.encode(list(texts)), encoder.encode(list(candidates))
        from sklearn.feature_extraction.text import TfidfVectorizer

        from unembed.corpora.words import words

        counter = TfidfVectorizer(analyzer=words, sublinear_tf=True)
        try:
            return counter.fit_transform(texts), counter.transform(candidates)
        except ValueError:
            raise CannotMeasureError("the adversary's texts hold no word to learn a map from") from None


def _ridge(inputs: Any, outputs: FloatArray, asked: Any) -> FloatArray:
    """Where ridge regression puts ``asked``; solved among the pairs, so that wide sparse inputs cost nothing more."""
    middle = outputs.mean(axis=0)
    kernel, across = (_dense(part @ inputs.T) for part in (inputs, asked))
    values, axes = np.linalg.eigh(kernel)
    values = np.maximum(values, 0)
    unit = float(values.mean()) or 1.0
    along, squares = axes.T @ (outputs - middle), axes**2
    errors = []
    for strength in STRENGTHS:
        keep = values / (values + strength * unit)
        misses = outputs - middle - axes @ (keep[:, None] * along)
        # Leaving a pair out changes its own error by this factor.
        own = np.minimum(squares @ keep, 1 - 1e-9)
        errors.append(float(np.square(misses / (1 - own)[:, None]).sum()))
    strength = STRENGTHS[int(np.argmin(errors))]
    weights = axes @ (along / (values + strength * unit)[:, None])
    return np.asarray(middle + across @ weights)


def _dense(product: Any) -> FloatArray:
    return np.asarray(product.todense() if hasattr(product, "todense") else product, dtype=np.float64)
