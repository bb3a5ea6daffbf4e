"""What is held back to choose a reader: a share of every class, and a text never without its changed copies."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from unembed.attacks.learners.folds import folds

SEEDS = st.integers(0, 99)


@given(st.lists(st.integers(0, 2), min_size=6, max_size=80), st.integers(2, 4), SEEDS)
def test_every_row_is_held_back_once_and_classes_are_spread_evenly(target, count, seed):
    target = np.array(target)
    parts = folds(target, seed, count)
    assert sorted(np.concatenate(parts)) == list(range(len(target)))
    shares = np.array([[int((target[part] == kind).sum()) for part in parts] for kind in range(3)])
    assert (np.ptp(shares, axis=1) <= 1).all()


@given(st.integers(3, 30), st.integers(2, 3), SEEDS, st.randoms(use_true_random=False))
def test_a_text_and_its_copy_with_the_other_answer_are_held_back_together(texts, count, seed, shuffler):
    rows = list(range(2 * texts))
    shuffler.shuffle(rows)
    origins, target = np.repeat(np.arange(texts), 2)[rows], (np.arange(2 * texts) % 2 == 0)[rows]
    parts = folds(target, seed, count, origins)
    assert sorted(np.concatenate(parts)) == list(range(len(target)))
    held = [set(origins[part]) for part in parts]
    assert all(not a & b for i, a in enumerate(held) for b in held[:i])


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=4, max_size=40), SEEDS)
def test_two_classes_are_left_to_learn_from_wherever_there_are_two_rows_of_each(made, seed):
    origins, target = (np.array(column) for column in zip(*made, strict=True))
    assume(2 <= target.sum() <= len(target) - 2)
    for part in folds(target, seed, 2, origins):
        assert len(part)
        assert len(np.unique(np.delete(target, part))) == 2


@pytest.mark.parametrize("origins", [None, np.repeat(np.arange(500), 2)])
def test_of_many_rows_some_are_taken(origins):
    target = np.arange(1000) % 2 == 0
    parts = folds(target, 0, 3, origins, most=400)
    taken = np.concatenate(parts)
    assert len(taken) == len(set(taken)) == 400
    assert int(target[taken].sum()) == 200
