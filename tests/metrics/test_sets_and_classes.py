"""Word-set and class metrics against plain definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from unembed.metrics import sets
from unembed.metrics.classes import macro_recall, top_k_hits

matrices = st.integers(0, 2**32 - 1).map(
    lambda s: tuple((np.random.default_rng(s + i).random((6, 9)) < 0.4).astype(np.float32) for i in range(2))
)


@given(matrices)
def test_counts_and_f1_equal_python_sets(pair):
    truth, guess = pair
    counts = sets.set_counts(csr_matrix(truth), csr_matrix(guess))
    for row in range(6):
        true, said = set(np.flatnonzero(truth[row])), set(np.flatnonzero(guess[row]))
        hits = len(true & said)
        assert counts[row].tolist() == [hits, len(said), len(true)]
        expected = 2 * hits / (len(said) + len(true)) if said or true else 0.0
        assert sets.f1(counts[row]) == pytest.approx(expected)


@given(matrices)
def test_f1_is_the_harmonic_mean(pair):
    sums = sets.set_counts(csr_matrix(pair[0]), csr_matrix(pair[1])).sum(axis=0)
    p, r = float(sets.precision(sums)), float(sets.recall(sums))
    assert float(sets.f1(sums)) == pytest.approx(2 * p * r / (p + r) if p + r else 0.0)


def test_perfect_and_empty_guess():
    truth = csr_matrix(np.eye(4))
    assert sets.f1(sets.set_counts(truth, truth).sum(axis=0)) == 1
    assert sets.f1(sets.set_counts(truth, csr_matrix((4, 4))).sum(axis=0)) == 0


def test_columns_and_weights_leave_words_out():
    truth = guess = csr_matrix(np.ones((2, 3)))
    kept = np.array([True, False, True])
    assert sets.set_counts(truth, guess, columns=kept)[0].tolist() == [2, 2, 2]
    assert sets.set_counts(truth, guess, weights=np.array([1.0, 10.0, 0.5]))[0].tolist() == [11.5] * 3


def test_a_text_without_such_words_has_no_f1():
    counts = np.array([[0.0, 1.0, 0.0], [1.0, 1.0, 1.0]])
    assert np.isnan(sets.per_text(counts)[0])
    assert sets.per_text(counts)[1] == 1


def test_best_prefix_is_the_best_of_all():
    hits = np.array([5.0, 4.0, 1.0, 0.2])
    size = np.array([6.0, 6.0, 6.0, 6.0])
    scores = [2 * hits[:k].sum() / (size[:k].sum() + 12) for k in range(1, 5)]
    assert sets.best_prefix(hits, 12, size=size) == int(np.argmax(scores)) + 1
    assert sets.best_prefix(np.array([]), 3) == 0


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="truth is"):
        sets.set_counts(csr_matrix((2, 3)), csr_matrix((2, 4)))


def test_ties_count_against_the_adversary():
    scores = np.array([[1.0, 1.0, 0.0], [0.0, 2.0, 1.0]])
    assert top_k_hits(scores, np.array([0, 1]), 1).tolist() == [False, True]
    assert top_k_hits(scores, np.array([0, 1]), 2).tolist() == [True, True]
    assert top_k_hits(scores, np.array([0, 1]), 3).all()


def test_macro_recall_ignores_classes_nobody_asked_about():
    sums = np.array([3.0, 0.0, 0.0, 4.0, 2.0, 0.0])
    assert macro_recall(sums) == pytest.approx((0.75 + 0.0) / 2)
    assert np.isnan(macro_recall(np.zeros(4)))
