"""An attack, a defense and an encoder, each as small as the contracts allow."""

import string

import numpy as np

from unembed.attacks.base import AttackFacts
from unembed.defenses.base import DefenseFacts, noise
from unembed.encoders.base import EncoderCard
from unembed.games.threat import Capability
from unembed.params import Parametrised


class NearestClass(Parametrised):
    """Guesses the class whose mean vector is nearest."""

    facts = AttackFacts(
        name="fixture/nearest",
        game="attribute",
        title="Nearest class mean",
        requires=frozenset({Capability.VECTORS, Capability.PAIRS, Capability.LABELS}),
        cost="seconds",
        default=False,
    )

    def __init__(self, *, seed=0):
        self.seed = seed

    def fit(self, knowledge):
        vectors = np.asarray(knowledge.vectors, dtype=np.float64)
        self.scale_ = vectors.std(axis=0) + 1e-9
        scaled = vectors / self.scale_
        self.means_ = np.stack([scaled[knowledge.labels == c].mean(axis=0) for c in range(len(knowledge.classes))])
        return self

    def run(self, vectors):
        scaled = np.asarray(vectors, dtype=np.float64) / self.scale_
        return -np.linalg.norm(scaled[:, None, :] - self.means_[None], axis=2)


class Noise(Parametrised):
    """Adds normal noise."""

    facts = DefenseFacts(name="fixture-noise", title="Normal noise", keyed="noise")

    def __init__(self, *, scale=1.0, seed=0):
        self.scale = scale
        self.seed = seed

    def fit(self, vectors, owned=None):
        self.deviation_ = float(np.asarray(vectors).std())
        return self

    def transform(self, vectors, ids):
        drawn = noise(ids, vectors.shape[1], self.seed) * self.deviation_ * self.scale
        return (np.asarray(vectors) + drawn).astype(np.float32)


class LetterCounts:
    """Counts letters."""

    def __init__(self, *, normalise: bool = False):
        self.normalise = normalise

    @property
    def card(self):
        return EncoderCard(
            "letters", "fixture", digest=f"letters-{self.normalise}", dimension=26, normalised=self.normalise
        )

    def encode(self, texts, *, role="document"):
        rows = np.array([[t.lower().count(c) for c in string.ascii_lowercase] for t in texts], dtype=np.float32)
        rows = rows.reshape(len(texts), 26)
        if self.normalise:
            rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        return rows
