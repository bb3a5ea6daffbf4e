"""The conformance suites find the faults they are there for."""

import numpy as np
import pytest

from unembed.attacks.attribute.linear import AttributeLinear
from unembed.defenses.base import DefenseFacts
from unembed.encoders.base import EncoderCard
from unembed.params import Parametrised
from unembed.testing import check_attack, check_defense, check_encoder, checks


class Guesser(AttributeLinear):
    """Ignores the vectors."""

    def run(self, vectors):
        rng = np.random.default_rng(0)
        return rng.standard_normal((vectors.shape[0], 2))


class Unseeded(AttributeLinear):
    """Random on its own."""

    def run(self, vectors):
        scores = super().run(vectors)
        return scores + np.random.default_rng().standard_normal(scores.shape) * 1e-3


class Busy(AttributeLinear):
    """A constructor that computes."""

    def __init__(self, *, seed=0):
        super().__init__(seed=seed)
        self.extra = "computed"


class Contextual:
    """A vector that depends on the neighbours."""

    card = EncoderCard("contextual", "toy", digest=None, dimension=3, normalised=False)

    def encode(self, texts, *, role="document"):
        return np.array([[len(t), i, len(texts)] for i, t in enumerate(texts)], dtype=np.float32).reshape(-1, 3)


class Greedy(Parametrised):
    """A defense without facts."""

    def fit(self, vectors):
        return self

    def transform(self, vectors, ids):
        return vectors


def test_an_attack_that_ignores_vectors_fails():
    with pytest.raises(AssertionError, match="fails its check: the attack does not even find a planted leak"):
        checks.attack_succeeds_on_leaky_vectors(Guesser)


def test_an_unseeded_attack_fails():
    with pytest.raises(AssertionError, match="different guesses"):
        check_attack(Unseeded)


def test_a_computing_constructor_fails():
    with pytest.raises(AssertionError, match="more than its parameters"):
        checks.constructor_stores_parameters(Busy)


def test_an_encoder_that_looks_at_neighbours_fails():
    with pytest.raises(AssertionError, match=r"two vectors|neighbours"):
        check_encoder(Contextual())


def test_a_defense_without_facts_fails():
    with pytest.raises(AssertionError, match="DefenseFacts"):
        check_defense(Greedy)


class Drawing(Parametrised):
    """Noise in the order of calls: asked twice, a record gets two."""

    facts = DefenseFacts(name="drawing", title="Noise as it comes")

    def __init__(self, *, seed=0):
        self.seed = seed

    def fit(self, vectors):
        self.rng_ = np.random.default_rng(self.seed)
        return self

    def transform(self, vectors, ids):
        return (vectors + self.rng_.standard_normal(vectors.shape)).astype(np.float32)


def test_a_defense_whose_noise_follows_the_order_of_calls_fails():
    with pytest.raises(AssertionError, match="depends on the order of calls"):
        check_defense(Drawing)
