"""The linear map: ridge in closed form, strength by validation, safe on odd input."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.linear_model import Ridge

from unembed.errors import CannotMeasureError
from unembed.nn.ridge import RidgeMap


def pairs(n=400, d=20, k=7, noise=0.1, seed=0):
    rng = np.random.default_rng(seed)
    inputs = (rng.standard_normal((n, d)) * rng.uniform(0.5, 2, d) + rng.standard_normal(d)).astype(np.float32)
    outputs = inputs @ rng.standard_normal((d, k)) + rng.standard_normal(k) + noise * rng.standard_normal((n, k))
    return inputs, outputs.astype(np.float32)


@pytest.mark.parametrize("strength", [1e-3, 0.3, 10.0])
def test_equals_scikit_learns_ridge(strength):
    inputs, outputs = pairs()
    found = RidgeMap(strengths=(strength,), device="cpu").fit(inputs, outputs)
    spread = inputs.astype(np.float64).std(axis=0)
    standard = (inputs - inputs.mean(axis=0)) / spread
    # Standardised inputs have variances of one, so the mean eigenvalue is one and scikit-learn's alpha is n times ours.
    expected = Ridge(alpha=strength * len(inputs)).fit(standard, outputs).predict(standard)
    np.testing.assert_allclose(found.apply(inputs), expected, atol=2e-3)


def test_chunks_change_nothing(monkeypatch):
    inputs, outputs = pairs()
    whole = RidgeMap(device="cpu").fit(inputs, outputs, 3)
    monkeypatch.setattr("unembed.nn.ridge.CHUNK", 33)
    parts = RidgeMap(device="cpu").fit(inputs, lambda rows: outputs[rows], 3)
    assert parts.strength_ == whole.strength_
    np.testing.assert_allclose(parts.apply(inputs), whole.apply(inputs), atol=1e-4)


def test_more_noise_asks_for_more_strength_and_explains_less():
    clean, noisy = (RidgeMap(device="cpu").fit(*pairs(n=60, noise=noise), seed=1) for noise in (0.01, 20.0))
    assert clean.strength_ < noisy.strength_
    assert clean.r2_ > 0.99
    assert noisy.r2_ < clean.r2_


def test_outputs_without_relation_are_their_mean():
    rng = np.random.default_rng(0)
    inputs = rng.standard_normal((300, 40)).astype(np.float32)
    outputs = (rng.standard_normal((300, 3)) + 5).astype(np.float32)
    found = RidgeMap(device="cpu").fit(inputs, outputs)
    assert abs(found.r2_) < 0.1
    np.testing.assert_allclose(found.apply(inputs).mean(axis=0), outputs.mean(axis=0), atol=0.1)
    assert found.apply(inputs).std() < 0.5


def test_constant_dead_and_huge_dimensions():
    inputs, outputs = pairs()
    spoiled = np.hstack([inputs, np.full((400, 1), 7.5), np.zeros((400, 1)), 1e6 * inputs[:, :1]]).astype(np.float32)
    found = RidgeMap(device="cpu").fit(spoiled, outputs)
    assert found.r2_ > 0.98
    assert np.isfinite(found.apply(spoiled)).all()


def test_only_the_rows_asked_for_are_learnt_from():
    inputs, outputs = pairs()
    wrong = outputs.copy()
    wrong[200:] = 1e3
    part = RidgeMap(device="cpu").fit(inputs, wrong, rows=np.arange(200))
    assert np.abs(part.apply(inputs) - outputs).mean() < 0.5


def test_sparse_vectors():
    rng = np.random.default_rng(0)
    inputs = csr_matrix(rng.random((200, 30)) * (rng.random((200, 30)) < 0.3), dtype=np.float32)
    outputs = np.asarray(inputs @ rng.standard_normal((30, 4)), dtype=np.float32)
    assert RidgeMap(device="cpu").fit(inputs, outputs).r2_ > 0.99


def test_same_seed_same_bits():
    inputs, outputs = pairs(noise=3)
    first, second = (RidgeMap(device="cpu").fit(inputs, outputs, 5).apply(inputs) for _ in range(2))
    assert np.array_equal(first, second)


def test_what_cannot_be_learnt_is_said():
    inputs, outputs = pairs()
    with pytest.raises(CannotMeasureError, match="3 pairs"):
        RidgeMap(device="cpu").fit(inputs[:3], outputs[:3])
    found = RidgeMap(device="cpu").fit(inputs, outputs)
    with pytest.raises(CannotMeasureError, match="dimensions"):
        found.apply(inputs[:, :5])
