"""The way back through a secret rotation, with and without pairs, and how well it judges itself."""

import numpy as np
import pytest
from clouds import share_recovered, skewed_cloud, turn_of
from scipy.sparse import csr_matrix

from unembed.defenses.alignment import match_unpaired, mutual_neighbours, procrustes
from unembed.defenses.alignment_start import agreement, third_moments
from unembed.errors import CannotMeasureError, UsageError

PUBLIC = skewed_cloud(3000, world=1, draw=1)
PLAIN = skewed_cloud(3000, world=1, draw=2)
TURN = turn_of(48, 7)


def stored(change=lambda turned: turned):
    return change(PLAIN @ TURN).astype(np.float32)


def test_as_many_pairs_as_dimensions_give_the_rotation_and_fewer_give_part_of_it():
    shares = []
    for pairs in (6, 24, 48):
        found = procrustes(stored()[:pairs], PLAIN[:pairs])
        shares.append(float(np.einsum("ij,ij->i", found, TURN.T).mean()))
    assert shares[0] < shares[1] < shares[2]
    np.testing.assert_allclose(found, TURN.T, atol=1e-3)


@pytest.mark.parametrize(
    "change",
    [
        lambda turned: turned,
        lambda turned: np.round(turned, 1),
        lambda turned: np.round(turned / np.abs(turned).max() * 127),
        lambda turned: 40 * turned,
    ],
    ids=["turned", "rounded", "whole numbers", "another unit"],
)
def test_the_shape_alone_gives_the_rotation(change):
    found = match_unpaired(PUBLIC, stored(change), seed=1)
    assert share_recovered(found.back(stored(change)), PLAIN) > 0.95
    assert found.confidence > 0.8


def test_the_way_back_is_a_rotation():
    found = match_unpaired(PUBLIC, stored(), seed=1)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(48), atol=1e-6)
    assert found.scale == 1.0


def test_vectors_without_a_shape_stay_hidden_and_it_says_so():
    rng = np.random.default_rng(3)
    public, plain = rng.standard_normal((2, 3000, 48)).astype(np.float32)
    found = match_unpaired(public, (plain @ TURN).astype(np.float32), seed=1)
    assert share_recovered(found.back((plain @ TURN).astype(np.float32)), plain) < 0.01
    assert found.confidence < 0.1


def test_vectors_of_another_world_are_not_brought_back_by_this_one():
    found = match_unpaired(skewed_cloud(3000, world=2, draw=1), stored(), seed=1)
    assert share_recovered(found.back(stored()), PLAIN) < 0.05


def test_third_moments_tell_a_direction_from_its_opposite():
    table = third_moments(PUBLIC[:, :6] - PUBLIC[:, :6].mean(axis=0))
    assert agreement(table, table, np.eye(6)) == pytest.approx(1, abs=1e-5)
    assert agreement(table, table, -np.eye(6)) == pytest.approx(-1, abs=1e-5)


def test_neighbours_are_mutual_and_a_hub_is_not_everybodys():
    rng = np.random.default_rng(4)
    rows = rng.standard_normal((300, 20)).astype(np.float32)
    hub = rows.mean(axis=0, keepdims=True) + 0.01
    here, there = mutual_neighbours(rows, np.concatenate([rows, hub]).astype(np.float32))
    np.testing.assert_array_equal(here, np.arange(300))
    np.testing.assert_array_equal(there, np.arange(300))


def test_the_same_seed_gives_the_same_way_back():
    one, other = (match_unpaired(PUBLIC, stored(), seed=4, most=2000) for _ in range(2))
    np.testing.assert_array_equal(one.rotation, other.rotation)
    assert one.confidence == other.confidence


@pytest.mark.parametrize(
    ("public", "behind", "said"),
    [
        (PUBLIC[:20], PLAIN, "too few"),
        (PUBLIC, PLAIN[:20], "too few"),
        (PUBLIC[:, :40], PLAIN, "dimensions"),
        (PUBLIC, np.ones_like(PLAIN), "all the same"),
        (PUBLIC, np.where(PLAIN > 9, np.nan, PLAIN), "NaN"),
        (PUBLIC, csr_matrix(PLAIN), "sparse"),
    ],
)
def test_what_cannot_be_aligned_is_refused(public, behind, said):
    with pytest.raises(CannotMeasureError, match=said):
        match_unpaired(public, behind)


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"most": 10}])
def test_parameters_without_sense_are_refused(wrong):
    with pytest.raises(UsageError):
        match_unpaired(PUBLIC, PLAIN, **wrong)
