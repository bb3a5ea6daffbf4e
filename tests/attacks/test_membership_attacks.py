"""Attacks on what a model learnt from: their scores are those of the paper's formulas, each finds what it is for."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.metrics import roc_auc_score
from sklearn.metrics.pairwise import cosine_similarity

from unembed.attacks.membership.learned_similarity import LearnedSimilarity
from unembed.attacks.membership.pair_reader import PairReader
from unembed.attacks.membership.pair_similarity import PairSimilarity
from unembed.attacks.membership.similarity import Parts, said_from, separating
from unembed.attacks.membership.window_reader import WindowReader
from unembed.attacks.membership.window_similarity import WindowSimilarity
from unembed.errors import CannotMeasureError
from unembed.games.contexts import ContextKnowledge

ALL = (WindowSimilarity, WindowReader, PairSimilarity, PairReader, LearnedSimilarity)


def knowledge_of(rows, members):
    """Contexts as the adversary knows them, each of another document; ``rows`` are [contexts, parts, dimensions]."""
    count = len(rows)
    flat = np.asarray(rows, dtype=np.float32).reshape(count, -1)
    return ContextKnowledge(flat, np.asarray(members), rows.shape[1], np.arange(count), np.full(count, -1))


def drawn(count, parts, width=20, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((count, parts, width)), rng.permutation(np.arange(count) % 2 == 0), rng


def separation(attack, make, seeds=(1, 2)):
    """How well an attack that learnt from one made-up world tells the contexts of another one of its kind."""
    rows, members, _ = make(seeds[0])
    others, truth, _ = make(seeds[1])
    guess = attack.fit(knowledge_of(rows, members)).run(knowledge_of(others, truth).vectors)
    return roc_auc_score(truth, guess.scores)


def test_the_score_of_a_window_is_the_mean_cosine_with_its_middle():
    rows, members, _ = drawn(40, 5)
    attack = WindowSimilarity().fit(knowledge_of(rows, members))
    by_hand = [cosine_similarity(row[:1], row[1:]).mean() for row in rows]
    np.testing.assert_allclose(attack.run(knowledge_of(rows, members).vectors).scores, by_hand, atol=1e-5)


def test_neighbours_that_the_model_does_not_know_are_left_out_of_the_mean():
    rows, members, _ = drawn(40, 5)
    rows[7, 2:4] = 0
    rows[8, 1:] = 0
    scores = WindowSimilarity().fit(knowledge_of(rows, members)).run(knowledge_of(rows, members).vectors).scores
    assert scores[7] == pytest.approx(cosine_similarity(rows[7, :1], rows[7, [1, 4]]).mean(), abs=1e-5)
    assert scores[8] == 0


def test_the_score_of_a_run_is_the_mean_product_of_its_pairs():
    rows, members, _ = drawn(40, 6)
    rows[3, 2] = 0
    scores = PairSimilarity().fit(knowledge_of(rows, members)).run(knowledge_of(rows, members).vectors).scores
    products = (rows[:, ::2] * rows[:, 1::2]).sum(axis=2)
    assert scores[0] == pytest.approx(products[0].mean(), rel=1e-4)
    assert scores[3] == pytest.approx(products[3, [0, 2]].mean(), rel=1e-4), "a sentence without a known word"


@pytest.mark.parametrize("attack", ALL)
def test_sparse_vectors_are_read_as_well(attack):
    def like(seed):
        rows, members, rng = drawn(300, 4, seed=seed)
        rows = np.abs(rows) * (rng.random(rows.shape) < 0.3)
        rows[members] += np.abs(rng.standard_normal((int(members.sum()), 1, 20))) * 2
        return rows, members, rng

    rows, members, _ = like(1)
    others, truth, _ = like(2)
    known = knowledge_of(rows, members)
    sparse = replace(known, vectors=csr_matrix(known.vectors))
    guess = attack().fit(sparse).run(csr_matrix(knowledge_of(others, truth).vectors))
    assert roc_auc_score(truth, guess.scores) > 0.8


@pytest.mark.parametrize("attack", [WindowSimilarity, PairSimilarity])
def test_ordinary_vectors_are_taken_as_they_are(attack):
    rows, members, _ = drawn(60, 4)
    rows *= np.linspace(1, 30, rows.shape[2])  # first components of an LSA are that much larger than the last
    assert np.array_equal(attack().fit(knowledge_of(rows, members)).parts_.scale, np.ones(rows.shape[2]))


@pytest.mark.parametrize("attack", ALL)
def test_vectors_of_another_width_or_without_numbers_are_refused(attack):
    rows, members, _ = drawn(60, 4)
    fitted = attack().fit(knowledge_of(rows, members))
    with pytest.raises(CannotMeasureError, match="dimensions"):
        fitted.run(np.zeros((3, 7), dtype=np.float32))
    rows[5] = np.nan
    with pytest.raises(CannotMeasureError, match="NaN"):
        attack().fit(knowledge_of(rows, members))


def test_a_shared_direction_hides_windows_from_the_cosine_and_not_from_the_reader():
    """All words point one way, and how far each lies from there says nothing of its neighbours."""

    def like(seed):
        rows, members, rng = drawn(1500, 5, seed=seed)
        rows[members] += 0.6 * rng.standard_normal((int(members.sum()), 1, 20))
        return rows * rng.uniform(0.2, 3, size=(1500, 5, 1)) + 4, members, rng

    plain, reader = separation(WindowSimilarity(), like), separation(WindowReader(), like)
    assert reader > plain + 0.1
    assert reader > 0.75


def test_documents_that_are_alike_throughout_hide_pairs_from_the_product_and_not_from_the_reader():
    def like(seed):
        rows, members, rng = drawn(800, 8, seed=seed)
        rows = np.repeat(rows[:, [0, 2, 4, 6, 7]], [1, 2, 2, 2, 1], axis=1)  # a run of four pairs has five sentences
        rows += 2 * rng.random((800, 1, 1)) * rng.standard_normal((800, 1, 20))
        shared = np.repeat(
            rng.standard_normal((800, 4, 20)), 2, axis=1
        )  # each pair of a member has something of its own
        return rows + 0.6 * members[:, None, None] * shared, members, rng

    plain, reader = separation(PairSimilarity(), like), separation(PairReader(), like)
    assert reader > plain + 0.05


def test_the_learned_similarity_finds_the_dimensions_that_tell():
    """Members are alike in three of twenty dimensions, and all pairs are alike in the others by chance."""

    def like(seed):
        rows, members, rng = drawn(2000, 2, seed=seed)
        rows[:, :, 3:] += rng.standard_normal((2000, 1, 17))
        rows[:, :, :3] += 2 * members[:, None, None] * rng.standard_normal((2000, 1, 3))
        return rows, members, rng

    plain, learned = separation(PairSimilarity(), like), separation(LearnedSimilarity(seed=3), like)
    assert learned > plain + 0.05


def test_nothing_to_learn_from_is_said():
    rows, members, _ = drawn(60, 2)
    rows[:, 1] = 0
    with pytest.raises(CannotMeasureError, match="no two neighbouring sentences"):
        LearnedSimilarity().fit(knowledge_of(rows, members))


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=2, max_size=50))
def test_no_threshold_separates_better_than_the_chosen_one(pairs):
    scores, members = np.array([float(s) for s, _ in pairs]), np.array([m for _, m in pairs])
    if members.all() or not members.any():
        return

    def advantage(threshold):
        said = said_from(scores, threshold).said > 0
        return said[members].mean() - said[~members].mean()

    best = advantage(separating(scores, members))
    assert all(best >= advantage(threshold) - 1e-12 for threshold in (*scores, np.inf))


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 2**31))
def test_parts_are_the_pieces_of_a_row_in_order(parts, width, seed):
    rows = np.random.default_rng(seed).standard_normal((6, parts, width)).astype(np.float32) + 3
    found = Parts(rows.reshape(6, -1), parts).of(rows.reshape(6, -1))
    for number, piece in enumerate(found):
        np.testing.assert_array_equal(piece, rows[:, number])
