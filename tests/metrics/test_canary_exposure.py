"""Exposure: exact by ranks, by samples with an interval that holds it, and by a fit beyond what samples see."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import skewnorm

from unembed.errors import CannotMeasureError
from unembed.metrics.exposure import (
    EXACT,
    EXTRAPOLATED,
    SAMPLED,
    exact_exposure,
    extrapolated,
    farthest_seen,
    rank,
    sampled_exposure,
)

numbers = st.lists(st.floats(-100, 100), min_size=1, max_size=60).map(np.array)


def test_the_likeliest_text_has_all_bits_and_the_least_likely_none():
    others = np.arange(1.0, 1024)
    assert exact_exposure(0.0, others).value == 10
    assert exact_exposure(5000.0, others).value == 0
    assert rank(3.0, others) == 4, "three others are at least as likely"
    assert exact_exposure(0.0, others).method == EXACT


@given(numbers, st.floats(-100, 100), st.floats(-100, 100))
def test_exposure_lies_in_its_range_and_falls_with_perplexity(others, one, other):
    low, high = sorted((one, other))
    less, more = exact_exposure(low, others).value, exact_exposure(high, others).value
    assert 0 <= more <= less <= math.log2(len(others) + 1)


@given(numbers, st.floats(-100, 100), st.integers(0, 30))
def test_a_sample_gives_an_interval_within_the_range(drawn, own, bits):
    found = sampled_exposure(own, drawn, float(bits))
    assert 0 <= found.low <= found.value <= found.high <= bits


def test_what_was_never_seen_has_a_mean_exposure_of_one_and_a_half_bits():
    perplexities = np.random.default_rng(0).standard_normal(4000)
    found = [exact_exposure(perplexities[i], np.delete(perplexities, i)).value for i in range(0, 4000, 4)]
    assert np.mean(found) == pytest.approx(1 / math.log(2), abs=0.15)
    assert np.mean(np.array(found) > 3) == pytest.approx(1 / 8, abs=0.03)


def test_the_interval_of_a_sample_holds_the_exact_exposure():
    rng = np.random.default_rng(1)
    everything = rng.gamma(8.0, size=200_000)
    held = []
    for own in np.quantile(everything, [0.5, 0.1, 0.01, 0.001, 0.0001, 0.00002]):
        exact = exact_exposure(own, everything).value
        for _ in range(50):
            found = sampled_exposure(own, rng.choice(everything, 3000), math.log2(len(everything)))
            held.append(found.low <= exact <= found.high)
            assert found.method in (SAMPLED, EXTRAPOLATED)
    assert np.mean(held) > 0.94


def test_beyond_the_sample_the_bound_is_said_and_the_value_read_from_a_fit():
    rng = np.random.default_rng(2)
    drawn = skewnorm.rvs(2.0, loc=50, scale=4, size=2000, random_state=rng)
    own = float(skewnorm.ppf(2.0**-20, 2.0, loc=50, scale=4))
    found = sampled_exposure(own, drawn, 30.0)
    assert found.method == EXTRAPOLATED
    assert found.low == pytest.approx(farthest_seen(2000))
    assert found.high == 30
    assert found.value == pytest.approx(20, abs=3)
    assert extrapolated(float(np.median(drawn)), drawn) == pytest.approx(1, abs=0.05)


def test_a_sample_without_spread_says_no_more_than_its_bound():
    found = sampled_exposure(1.0, np.full(50, 2.0), 20.0)
    assert found.value == found.low == pytest.approx(farthest_seen(50), abs=1e-3)


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_what_is_no_number_is_refused(broken):
    with pytest.raises(CannotMeasureError, match="not finite"):
        exact_exposure(broken, np.zeros(3))
    with pytest.raises(CannotMeasureError, match="not finite"):
        sampled_exposure(0.0, np.array([1.0, broken]), 5.0)
    with pytest.raises(CannotMeasureError, match="no text"):
        sampled_exposure(0.0, np.zeros(0), 5.0)
