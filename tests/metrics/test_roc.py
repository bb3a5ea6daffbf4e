"""True positives at a false-alarm rate, and the area under the curve."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from unembed.metrics.roc import auc, auc_estimate, negatives_needed, tpr_at_fpr, tpr_at_fpr_estimate


@st.composite
def judged(draw, fewest=2, most=60):
    """Scores with many ties, and truth with both kinds."""
    n = draw(st.integers(fewest, most))
    scores = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)), dtype=np.float64)
    truth = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    truth[:2] = True, False
    return scores, truth


@given(judged(), st.floats(0.001, 0.999))
def test_it_is_the_curve_of_scikit_learn(case, rate):
    scores, truth = case
    alarms, found, _ = roc_curve(truth, scores, drop_intermediate=False)
    assert tpr_at_fpr(scores, truth, rate) == pytest.approx(found[alarms <= rate * (1 + 1e-6)].max())
    assert auc(scores, truth) == pytest.approx(roc_auc_score(truth, scores))


@given(judged(), st.floats(0.01, 0.98), st.floats(0.0, 0.01))
def test_more_false_alarms_never_find_less(case, rate, more):
    scores, truth = case
    assert tpr_at_fpr(scores, truth, rate + more) >= tpr_at_fpr(scores, truth, rate)


@given(judged())
def test_only_the_order_of_scores_counts(case):
    scores, truth = case
    assert tpr_at_fpr(3 * scores + 7, truth, 0.2) == tpr_at_fpr(scores, truth, 0.2)
    assert auc(-scores, truth) == pytest.approx(1 - auc(scores, truth))


def test_by_hand():
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    truth = np.array([True, False, True, False, True, False])
    assert tpr_at_fpr(scores, truth, 0.3) == pytest.approx(1 / 3), "not one of three negatives may be above"
    assert tpr_at_fpr(scores, truth, 1 / 3) == pytest.approx(2 / 3)
    assert auc(scores, truth) == pytest.approx(6 / 9)


def test_equal_scores_for_all_say_nothing():
    scores, truth = np.zeros(200), np.arange(200) % 2 == 0
    assert tpr_at_fpr(scores, truth, 0.01) == 0
    assert auc(scores, truth) == 0.5


def test_without_one_kind_there_is_no_figure():
    assert math.isnan(auc(np.arange(3.0), np.ones(3, dtype=bool)))
    assert math.isnan(tpr_at_fpr(np.arange(3.0), np.ones(3, dtype=bool), 0.1))


@pytest.mark.parametrize(("rate", "needed"), [(0.01, 100), (0.001, 1000), (0.03, 34)])
def test_a_rate_that_too_few_negatives_show_is_undefined_and_not_zero(rate, needed):
    assert negatives_needed(rate) == needed
    rng = np.random.default_rng(0)
    for negatives, known in ((needed, True), (needed - 1, False)):
        truth = np.arange(50 + negatives) < 50
        found = tpr_at_fpr_estimate(truth.astype(float), truth, rate, rng=rng)
        assert math.isnan(found.value) is not known
        assert known or found.method == f"fewer than {needed:,} negatives"


def test_texts_of_one_group_are_one_negative():
    truth = np.arange(150) < 50
    groups = [i if i < 50 else 50 + i % 99 for i in range(150)]
    found = tpr_at_fpr_estimate(truth.astype(float), truth, 0.01, rng=np.random.default_rng(0), groups=groups)
    assert math.isnan(found.value)


def test_an_interval_has_a_width_even_where_all_are_right():
    truth = np.arange(300) < 150
    for found in (
        tpr_at_fpr_estimate(truth.astype(float), truth, 0.01, rng=np.random.default_rng(0)),
        auc_estimate(truth.astype(float), truth, rng=np.random.default_rng(0)),
    ):
        assert found.value == found.high == 1
        assert 0.9 < found.low < 1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_the_interval_holds_the_value(seed):
    rng = np.random.default_rng(seed)
    truth = rng.random(240) < 0.5
    scores = truth + rng.standard_normal(240)
    for found in (tpr_at_fpr_estimate(scores, truth, 0.05, rng=rng), auc_estimate(scores, truth, rng=rng)):
        assert found.low <= found.value <= found.high


def test_the_interval_of_the_area_holds_the_truth_nine_times_of_ten():
    rng = np.random.default_rng(3)
    truth = np.arange(200) < 100
    held = 0
    for _ in range(60):
        found = auc_estimate(truth + rng.standard_normal(200), truth, rng=rng)
        held += found.low <= 0.7602 <= found.high  # the normal distribution at 1 / sqrt(2)
    assert held >= 54
