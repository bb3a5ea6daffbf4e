"""Intervals hold what they promise."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.games.base import Scores
from unembed.metrics import sets
from unembed.metrics.classes import macro_recall
from unembed.metrics.estimate import Estimate, apart, estimate_of, mean, ratio, undefined, wilson


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


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=60))
def test_mean_is_the_mean_and_lies_inside(values):
    found = mean(values)
    assert found.value == pytest.approx(np.mean(values), abs=1e-9)
    assert found.low <= found.value <= found.high


def test_missing_values_do_not_count():
    found = mean([1.0, math.nan, 3.0])
    assert found.value == 2.0
    assert found.n == 2


def test_interval_covers_the_truth_as_often_as_it_says():
    covered = 0
    for seed in range(200):
        drawn = rng(seed).normal(0.3, 1, size=80)
        found = mean(drawn)
        covered += found.low <= 0.3 <= found.high
    assert 0.88 <= covered / 200 <= 0.99


def test_texts_of_one_document_widen_the_interval():
    values = np.repeat(rng(1).normal(size=20), 30)
    alone = mean(values)
    together = mean(values, groups=np.repeat(np.arange(20), 30))
    assert together.method == "cluster jackknife"
    assert together.high - together.low > 3 * (alone.high - alone.low)


def test_nothing_is_left_to_chance():
    values = rng(3).normal(size=50)
    assert mean(values) == mean(values)


def test_ratio_without_a_denominator_is_not_a_number():
    assert math.isnan(float(ratio(np.array([1.0, 0.0]))))


def test_nothing_gives_undefined():
    assert math.isnan(estimate_of(np.empty((0, 2)), ratio).value)
    assert undefined().n == 0


def test_a_value_outside_its_interval_is_refused():
    with pytest.raises(ValueError, match="outside its interval"):
        Estimate(0.5, 0.6, 0.7, 10)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), min_size=1, max_size=40))
def test_a_share_always_has_an_interval_with_a_width(texts):
    hits, groups = np.array([t[0] for t in texts]), [t[1] for t in texts]
    found = mean(hits, groups=groups)
    assert found.value == pytest.approx(hits.mean())
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high - found.low >= 0.9 * (wilson(0, len(set(groups))).high if hits.all() or not hits.any() else 0.01)


def test_the_difference_of_two_rates_that_never_hit_is_not_certain():
    found = apart(wilson(0, 20), wilson(0, 20))
    assert found.value == 0
    assert found.low == pytest.approx(-wilson(0, 20).high)
    assert found.high == pytest.approx(wilson(0, 20).high)


def test_one_number_without_bounds_says_nothing():
    assert math.isnan(mean([2.5]).value)


class TestFewGroups:
    def test_fewer_than_five_groups_give_the_widest_interval_there_is(self):
        right = rng().random(200) < 0.9
        found = mean(right, groups=np.arange(200) % 4)
        assert (found.low, found.high, found.method) == (0, 1, "too few groups")

    def test_so_does_the_excess(self):
        groups = [i % 4 for i in range(200)]
        parts = [np.stack([rng(s).random(200) < p, np.ones(200)], axis=1) for s, p in ((1, 0.95), (2, 0.5))]
        found = Scores(parts[0], ratio, groups).excess_over(Scores(parts[1], ratio, groups))
        assert (found.low, found.high, found.method) == (-1, 1, "too few groups")

    def test_a_metric_without_bounds_is_not_given(self):
        found = mean(rng().normal(size=200), groups=np.arange(200) % 4)
        assert math.isnan(found.value)
        assert found.method == "too few groups"

    def test_one_huge_group_among_small_ones_is_hardly_more_than_one(self):
        groups = np.where(np.arange(300) < 280, 0, np.arange(300))
        alike = mean(rng().random(300) < 0.7, groups=np.arange(300) % 21)
        uneven = mean(rng().random(300) < 0.7, groups=groups)
        assert uneven.high - uneven.low > 0.8 > 0.3 > alike.high - alike.low

    def test_groups_of_one_text_each_are_no_groups(self):
        right = rng().random(50) < 0.7
        assert mean(right, groups=range(50)) == mean(right)


judged = st.tuples(st.integers(0, 2**32 - 1), st.integers(6, 80), st.floats(0, 1), st.floats(0, 1), st.booleans())


def two(drawn):
    """Two balanced accuracies of the same texts."""
    seed, n, first, second, grouped = drawn
    r = rng(seed)
    labels = np.eye(3)[r.integers(0, 3, n)]
    groups = [int(g) for g in r.integers(0, 8, n)] if grouped else None
    return [
        Scores(np.hstack([labels * (r.random(n) < p)[:, None], labels]), macro_recall, groups) for p in (first, second)
    ]


@given(judged)
def test_intervals_hold_their_value_and_stay_in_range(drawn):
    mine, other = two(drawn)
    found, excess = mine.estimate(), mine.excess_over(other)
    assert 0 <= found.low <= found.value <= found.high <= 1
    assert found.high > found.low
    assert -1 <= excess.low <= excess.value <= excess.high <= 1
    assert excess.high > excess.low
    assert excess.value == pytest.approx(found.value - other.estimate().value)


@given(judged)
def test_the_excess_the_other_way_round_is_its_mirror(drawn):
    mine, other = two(drawn)
    there, back = mine.excess_over(other), other.excess_over(mine)
    assert (there.low, there.high) == (pytest.approx(-back.high), pytest.approx(-back.low))


@given(judged)
def test_wrong_for_right_mirrors_the_interval(drawn):
    mine, _ = two(drawn)
    half = mine.parts.shape[1] // 2
    mirrored = np.hstack([mine.parts[:, half:] - mine.parts[:, :half], mine.parts[:, half:]])
    there, back = mine.estimate(), Scores(mirrored, macro_recall, mine.groups).estimate()
    assert (there.low, there.high) == (pytest.approx(1 - back.high), pytest.approx(1 - back.low))


@given(judged)
def test_more_texts_narrow_the_interval(drawn):
    mine, other = two((*drawn[:4], False))
    more = [Scores(np.vstack([s.parts] * 8), macro_recall) for s in (mine, other)]
    few, many = mine.estimate(), more[0].estimate()
    assert many.high - many.low < few.high - few.low
    few, many = mine.excess_over(other), more[0].excess_over(more[1])
    assert many.high - many.low < few.high - few.low


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=30))
def test_word_metrics_have_intervals_between_zero_and_one(rows):
    counts = np.array([(min(row), row[1], row[2]) for row in rows], dtype=np.float64)
    for statistic in (sets.f1, sets.precision, sets.recall):
        found = estimate_of(counts, statistic)
        assert 0 <= found.low <= found.value <= found.high <= 1


def test_answers_that_are_all_alike_do_not_make_the_excess_certain():
    right = np.stack([rng().random(60) < 0.7, np.ones(60)], axis=1)
    found = Scores(right, ratio).excess_over(Scores(right, ratio))
    assert found.low < -0.01 < 0 < 0.01 < found.high


def test_a_statistic_that_is_said_to_be_a_rate_stays_between_zero_and_one():
    found = Scores(np.ones((30, 2)), lambda sums: sums[..., 0] / sums[..., 1], rate=True).estimate()
    assert found.value == found.high == 1
    assert 0.8 < found.low < 0.95
