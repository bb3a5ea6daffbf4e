"""Intervals hold what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.metrics.estimate import Estimate, apart, bootstrap, mean, ratio, share, undefined, wilson


def rng(seed=0):
    return np.random.default_rng(seed)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_its_value_inside_zero_and_one(pair):
    successes, n = pair
    found = wilson(successes, n)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.value == successes / n


def test_wilson_known_value():
    found = wilson(8, 10)
    assert (round(found.low, 4), round(found.high, 4)) == (0.4902, 0.9433)


def test_wilson_narrows_with_n():
    assert wilson(50, 100).high - wilson(50, 100).low > wilson(500, 1000).high - wilson(500, 1000).low


def test_wilson_of_nothing_is_undefined():
    assert math.isnan(wilson(0, 0).value)


def test_more_successes_than_trials_is_refused():
    with pytest.raises(ValueError, match="3 successes of 2"):
        wilson(3, 2)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=60))
def test_mean_is_the_mean_and_lies_inside(values):
    found = mean(values, rng=rng())
    assert found.value == pytest.approx(np.mean(values), abs=1e-9)
    assert found.low <= found.value <= found.high


def test_missing_values_do_not_count():
    found = mean([1.0, math.nan, 3.0], rng=rng())
    assert found.value == 2.0
    assert found.n == 2


def test_interval_covers_the_truth_as_often_as_it_says():
    covered = 0
    for seed in range(200):
        drawn = rng(seed).normal(0.3, 1, size=80)
        found = mean(drawn, rng=rng(seed + 1000))
        covered += found.low <= 0.3 <= found.high
    assert 0.88 <= covered / 200 <= 0.99


def test_texts_of_one_document_widen_the_interval():
    values = np.repeat(rng(1).normal(size=20), 30)
    alone = mean(values, rng=rng())
    together = mean(values, rng=rng(), groups=np.repeat(np.arange(20), 30))
    assert together.method == "cluster bootstrap"
    assert together.high - together.low > 3 * (alone.high - alone.low)


def test_the_same_generator_gives_the_same_interval():
    values = rng(3).normal(size=50)
    assert mean(values, rng=rng(9)) == mean(values, rng=rng(9))


def test_ratio_without_a_denominator_is_not_a_number():
    assert math.isnan(float(ratio(np.array([1.0, 0.0]))))


def test_nothing_gives_undefined():
    assert math.isnan(bootstrap(np.empty((0, 2)), ratio, rng=rng()).value)
    assert undefined().n == 0


def test_a_value_outside_its_interval_is_refused():
    with pytest.raises(ValueError, match="outside its interval"):
        Estimate(0.5, 0.6, 0.7, 10)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=40))
def test_a_share_always_has_an_interval_with_a_width(texts):
    hits, groups = np.array([t[0] for t in texts]), [t[1] for t in texts]
    found = share(hits, rng=np.random.default_rng(0), groups=groups)
    assert found.value == pytest.approx(hits.mean())
    assert 0 <= found.low <= found.value <= found.high <= 1
    if hits.all() or not hits.any():
        assert found.high - found.low == pytest.approx(wilson(0, len(set(groups))).high)


def test_the_difference_of_two_rates_that_never_hit_is_not_certain():
    found = apart(wilson(0, 20), wilson(0, 20))
    assert found.value == 0
    assert found.low == pytest.approx(-wilson(0, 20).high)
    assert found.high == pytest.approx(wilson(0, 20).high)
