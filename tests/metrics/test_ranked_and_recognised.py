"""Average precision against scikit-learn's, and no class is recognised where nothing can be."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from unembed.metrics.classes import average_precision, average_precision_estimate, average_precision_spread, recognised
from unembed.metrics.estimate import difference

ranked = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 3)), min_size=1, max_size=40).filter(
    lambda rows: any(true and weight for _, true, weight in rows)
)


@given(ranked)
def test_average_precision_is_scikit_learns_with_and_without_weights(rows):
    scores, truth, weights = (np.array(column) for column in zip(*rows, strict=True))
    assert average_precision(scores, truth) == pytest.approx(average_precision_score(truth, scores))
    draws = np.stack([weights, np.ones(len(rows))])
    expected = [average_precision_score(truth, scores, sample_weight=w) for w in draws]
    assert average_precision(scores, truth, weights=draws) == pytest.approx(np.array(expected))


@given(ranked)
def test_its_interval_holds_it_between_zero_and_one(rows):
    scores, truth, groups = (np.array(column) for column in zip(*rows, strict=True))
    for found in (average_precision_estimate(scores, truth), average_precision_estimate(scores, truth, groups=groups)):
        assert 0 <= found.low <= found.value <= found.high <= 1
        assert found.high > found.low


def test_its_moves_are_its_derivatives():
    rng = np.random.default_rng(0)
    scores, truth, step = rng.integers(0, 9, 200) * 1.0, rng.random(200) < 0.5, 1e-6
    value = float(average_precision(scores, truth))
    slopes = (average_precision(scores, truth, weights=1 + step * np.eye(200)) - value) / step
    moves = average_precision_spread(scores, truth).texts[:-1]
    assert moves / slopes == pytest.approx(np.full(200, (moves / slopes)[0]), rel=1e-3)


def test_equal_scores_and_no_scores_are_worth_the_share_of_positives():
    truth = np.arange(20) < 5
    assert average_precision(np.zeros(20), truth) == 0.25
    assert average_precision(np.full(20, np.nan), truth) == 0.25
    assert average_precision(np.where(truth, np.nan, 0.0), truth) == 0.25


def test_without_a_positive_there_is_none():
    assert math.isnan(average_precision(np.arange(5.0), np.zeros(5, dtype=bool)))
    assert math.isnan(average_precision_estimate(np.arange(5.0), np.zeros(5, dtype=bool)).value)


def test_two_rankings_of_the_same_texts_can_be_compared():
    rng = np.random.default_rng(1)
    truth = rng.random(400) < 0.3
    good, blind = rng.normal(size=400) + 1.5 * truth, rng.normal(size=400)
    found = difference(*(average_precision_spread(s, truth) for s in (good, blind)), 400)
    assert 0.1 < found.low < found.value < found.high < 0.8


def a_guess(seed, n, classes, groups, nested):
    """Random labels and answers; texts of one group mostly get the same answer, and the same label where nested."""
    rng = np.random.default_rng(seed)
    if groups is None:
        return rng.integers(0, classes, n), rng.integers(0, classes, n), None
    members = rng.integers(0, groups, n)
    labels = rng.integers(0, classes, groups)[members] if nested else rng.integers(0, classes, n)
    said = np.where(rng.random(n) < 0.7, rng.integers(0, classes, groups)[members], rng.integers(0, classes, n))
    return labels, said, members.tolist()


@pytest.mark.parametrize(
    ("n", "classes", "groups", "nested"),
    [(300, 2, None, False), (200, 8, None, False), (200, 2, 20, True), (200, 5, 40, True), (200, 5, 40, False)],
)
def test_on_random_labels_hardly_ever_is_any_class_recognised(n, classes, groups, nested):
    """At most 5 % family-wise; at exactly that, 17 of 150 would come up once in a thousand times."""
    alarms = 0
    for seed in range(150):
        labels, said, members = a_guess(seed, n, classes, groups, nested)
        found = recognised(said == labels, said, labels, classes=classes, groups=members)
        alarms += any(c.clear for c in found)
    assert alarms < 17


class TestRecognised:
    def test_a_class_that_is_told_is_found_among_those_that_are_not(self):
        rng = np.random.default_rng(2)
        labels = rng.integers(0, 10, 500)
        said = np.where((labels == 3) & (rng.random(500) < 0.8), 3, rng.integers(0, 10, 500))
        found = recognised(said == labels, said, labels)
        assert [c.clear for c in found] == [i == 3 for i in range(10)]
        assert found[3].recall.low > found[3].mistaken.high

    def test_saying_one_class_of_everything_recognises_none(self):
        labels = np.arange(100) % 4
        found = recognised(labels == 0, np.zeros(100, dtype=np.int64), labels)
        assert found[0].recall.value == found[0].mistaken.value == 1
        assert not any(c.clear for c in found)

    def test_a_class_held_by_few_groups_is_never_clear(self):
        labels = np.repeat([0, 1], 100)
        alone = recognised(np.ones(200, dtype=bool), labels, labels)
        few = recognised(np.ones(200, dtype=bool), labels, labels, groups=(np.arange(200) // 25).tolist())
        assert all(c.clear for c in alone)
        assert not any(c.clear for c in few)

    def test_a_class_without_a_text_is_undefined(self):
        found = recognised(
            np.ones(10, dtype=bool), np.zeros(10, dtype=np.int64), np.zeros(10, dtype=np.int64), classes=2
        )
        assert math.isnan(found[1].recall.value)
        assert not found[1].clear
