"""No class is recognised where nothing can be."""

import math

import numpy as np
import pytest

from unembed.metrics.classes import recognised


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
