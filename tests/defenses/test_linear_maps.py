"""Rotation and truncation: what a linear map keeps, and what its owner gets back."""

import copy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.defenses.base import with_key
from unembed.defenses.chain import Chain
from unembed.defenses.int8 import Int8
from unembed.defenses.rotation import Rotation, orthogonal
from unembed.defenses.truncation import Truncation
from unembed.errors import CannotMeasureError

RNG = np.random.default_rng(2)
VECTORS = (RNG.standard_normal((400, 20)) @ RNG.standard_normal((20, 20)) + 3).astype(np.float32)
IDS = [str(row) for row in range(len(VECTORS))]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**63 - 1), st.integers(1, 40))
def test_a_rotation_keeps_inner_products_and_comes_back(key, dimension):
    vectors = np.random.default_rng(key).standard_normal((30, dimension)).astype(np.float32)
    made = Rotation(seed=key).fit(vectors)
    out = np.asarray(made.transform(vectors, IDS[:30]))
    np.testing.assert_allclose(out @ out.T, vectors @ vectors.T, atol=1e-3)
    np.testing.assert_allclose(made.inverse(out, IDS[:30]), vectors, atol=1e-4)


def test_rotations_are_even_among_all_orthogonal_matrices():
    drawn = np.stack([orthogonal(key, 3) for key in range(3000)])
    # Of an even rotation every entry has mean 0 and variance 1 / dimension, and half mirror.
    assert np.abs(drawn.mean(axis=0)).max() < 0.05
    np.testing.assert_allclose(np.square(drawn).mean(axis=0), 1 / 3, atol=0.03)
    assert (np.linalg.det(drawn) > 0).mean() == pytest.approx(0.5, abs=0.04)


def test_a_copy_under_another_key_rotates_otherwise_and_holds_no_matrix():
    made = Rotation(seed=1).fit(VECTORS)
    first = np.asarray(made.transform(VECTORS, IDS))
    other, same = with_key(made, 2), copy.deepcopy(made)
    assert np.abs(np.asarray(other.transform(VECTORS, IDS)) - first).max() > 1
    np.testing.assert_array_equal(same.transform(VECTORS, IDS), first)
    np.testing.assert_array_equal(made.transform(VECTORS, IDS), first)
    assert {name: value for name, value in vars(made).items() if name.endswith("_")} == {"dimension_": 20}
    assert not any(isinstance(value, np.ndarray) for value in vars(made).values())


def test_a_kept_matrix_can_not_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        orthogonal(1, 5)[0, 0] = 2


@pytest.mark.parametrize("kept", [1, 5, 19, 20])
def test_principal_components_are_the_best_of_their_number(kept):
    from sklearn.decomposition import PCA

    made = Truncation(components=kept, kind="principal").fit(VECTORS)
    out = np.asarray(made.transform(VECTORS, IDS))
    assert out.shape == (400, kept)
    reference = PCA(kept, svd_solver="full").fit(VECTORS.astype(np.float64))
    np.testing.assert_allclose(np.abs(out), np.abs(reference.transform(VECTORS)), atol=2e-3)
    best = np.square(reference.inverse_transform(reference.transform(VECTORS)) - VECTORS).sum()
    ours = np.square(np.asarray(made.inverse(out, IDS)).astype(np.float64) - VECTORS).sum()
    assert ours == pytest.approx(best, rel=1e-4, abs=1e-3)


def test_the_first_dimensions_stay_as_they_are():
    made = Truncation(components=6).fit(VECTORS)
    out = np.asarray(made.transform(VECTORS, IDS))
    np.testing.assert_array_equal(out, VECTORS[:, :6])
    back = np.asarray(made.inverse(out, IDS))
    np.testing.assert_array_equal(back[:, :6], VECTORS[:, :6])
    np.testing.assert_allclose(back[:, 6:], np.tile(VECTORS[:, 6:].mean(axis=0), (400, 1)), rtol=1e-5)


def test_principal_components_need_more_vectors_than_there_are_of_them():
    with pytest.raises(CannotMeasureError, match="more vectors than the 10 principal components"):
        Truncation(components=10, kind="principal").fit(VECTORS[:10])


def test_a_chain_is_undone_as_far_as_its_formats_allow():
    chain = Chain([Rotation(), Truncation(components=20, kind="principal"), Int8()]).fit(VECTORS, 7, ids=IDS)
    stored = chain.transform(VECTORS, IDS)
    assert np.abs(np.asarray(stored) - VECTORS).max() > 1
    lost = np.abs(np.asarray(chain.inverse(stored, IDS)) - VECTORS)
    assert lost.max() < 0.02 * np.ptp(VECTORS)
