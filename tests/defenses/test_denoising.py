"""Noise is taken out of vectors as far as their own variance lets it be told apart, and no further."""

import numpy as np
import pytest
from numpy.typing import NDArray

from unembed.defenses.denoising import Denoiser, learn_denoiser
from unembed.errors import CannotMeasureError

WIDTH, RANK = 24, 4


def texts(count: int, seed: int) -> NDArray[np.float32]:
    """Vectors of few directions, off the origin, as those of an encoder are."""
    rng = np.random.default_rng(seed)
    axes = np.random.default_rng(0).standard_normal((RANK, WIDTH))
    return np.asarray(3 + rng.standard_normal((count, RANK)) @ axes, dtype=np.float32)


def noisy(vectors: NDArray[np.float32], scale: float, seed: int) -> NDArray[np.float32]:
    drawn = np.random.default_rng(seed).standard_normal(vectors.shape)
    return np.asarray(vectors + scale * drawn, dtype=np.float32)


def learnt(scale: float, stored: NDArray[np.float32]) -> Denoiser:
    own = texts(600, 2)
    return learn_denoiser(stored, (noisy(own, scale, 10 + key) for key in range(16)))


def test_it_comes_as_near_to_the_vectors_as_whoever_knows_their_variance_can() -> None:
    plain = texts(2000, 1)
    stored = noisy(plain, 2.0, 3)
    found = learnt(2.0, stored).calm(stored)
    variance = np.cov(texts(20_000, 4).T)
    best = (stored - plain.mean(axis=0)) @ np.linalg.solve(variance + 4 * np.eye(WIDTH), variance) + plain.mean(axis=0)
    wrong, least, raw = (float(np.square(one - plain).mean()) for one in (found, best, stored))
    assert wrong < 0.4 * raw
    assert wrong < 1.1 * least


def test_without_noise_everything_is_kept_and_of_nothing_but_noise_nothing() -> None:
    plain = texts(500, 1)
    assert learnt(0.0, plain).calm(plain) == pytest.approx(plain, abs=1e-3)
    blank = np.full((500, WIDTH), 3, dtype=np.float32)
    stored = noisy(blank, 1.0, 5)
    alone = learn_denoiser(stored, (noisy(blank, 1.0, 10 + key) for key in range(16)))
    assert alone.share < 0.05
    assert np.abs(alone.calm(stored) - 3).mean() < 0.2


@pytest.mark.parametrize(("own", "draws"), [(600, 1), (1, 16), (600, 0)])
def test_one_draw_or_one_text_tells_no_noise(own: int, draws: int) -> None:
    held = texts(own, 2)
    with pytest.raises(CannotMeasureError, match="fewer than two"):
        learn_denoiser(texts(50, 1), (noisy(held, 1.0, key) for key in range(draws)))
