"""Who learns from vectors without noise chooses for the vectors of the store, which have it."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from unembed.attacks import ATTACKS
from unembed.games import GAMES
from unembed.games.base import Material
from unembed.testing.toys import toy_material

NOISE = 0.5


def noisy(vectors: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    spread = NOISE * np.random.default_rng(seed).standard_normal(vectors.shape)
    return np.asarray(vectors + spread, dtype=np.float32)


@pytest.fixture(scope="module")
def material() -> Material:
    """Plain pairs, and a store with noise."""
    plain = toy_material(known=900, targets=400)
    return replace(plain, target_vectors=noisy(np.asarray(plain.target_vectors), 1))


@pytest.mark.parametrize("attack", ["inversion/portfolio", "inversion/mlp"])
def test_thresholds_are_chosen_on_vectors_as_they_are_stored(material: Material, attack: str) -> None:
    game = GAMES.get("inversion")()
    deal = game.deal(material)
    scores = {}
    for name, stored in (("blind", None), ("told", noisy(np.asarray(material.known_vectors), 2))):
        made = ATTACKS.get(attack)(seed=1, device="cpu")
        guess = made.fit(replace(deal.knowledge, as_stored=stored)).run(deal.vectors)
        scores[name] = game.judge(deal.truth, guess, 0).point
    assert scores["told"] > scores["blind"] + 0.005


def test_fewer_pairs_keep_their_own_vectors_as_stored(material: Material) -> None:
    game = GAMES.get("inversion")()
    stored = noisy(np.asarray(material.known_vectors), 2)
    knowledge = replace(game.deal(material).knowledge, as_stored=stored)
    kept = np.array([3, 1, 7])
    np.testing.assert_array_equal(game.some_pairs(knowledge, kept).as_stored, stored[kept])
