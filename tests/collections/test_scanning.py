"""One pass over stored vectors: the nearest, the threshold, what the store is like, what repeats."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from unembed.collections.looking import look_for
from unembed.collections.nearest import SAME, in_batches, nearest, threshold_for
from unembed.collections.survey import near_duplicates, survey
from unembed.errors import DataError, UsageError
from unembed.testing.toys import LeakyEncoder, toy_corpus


def _cosines(a, b):
    one, two = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
    return one @ two.T


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 40), st.integers(1, 300), st.integers(1, 70), st.integers(0, 99))
def test_the_nearest_is_that_of_a_plain_product(asked, stored, batch, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.standard_normal((asked, 7)).astype(np.float32), rng.standard_normal((stored, 7)).astype(np.float32)
    names = [f"id {i}" for i in range(stored)]
    found = nearest(a, in_batches(b, names, size=batch))
    wanted = _cosines(a, b)
    assert found.vectors == stored
    np.testing.assert_allclose(found.similarity, wanted.max(axis=1), atol=1e-5)
    assert all(wanted[i, names.index(name)] > wanted[i].max() - 1e-5 for i, name in enumerate(found.ids))


def test_sparse_and_zero_vectors_are_compared_too():
    stored = np.array([[0, 0, 0], [1, 0, 2], [0, 3, 0]], dtype=np.float32)
    asked = np.array([[2, 0, 4], [0, 0, 0]], dtype=np.float32)
    for how in (np.asarray, csr_matrix):
        found = nearest(how(asked), in_batches(how(stored)))
        assert found.ids[0] == 1
        assert found.similarity[0] == pytest.approx(1)
        assert found.similarity[1] == pytest.approx(0)


def test_vectors_of_another_dimension_are_refused():
    with pytest.raises(DataError, match="3 dimensions, those asked about 4"):
        nearest(np.ones((1, 4), dtype=np.float32), in_batches(np.ones((2, 3), dtype=np.float32)))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 999))
def test_the_stated_rate_holds_for_texts_of_the_same_kind(seed):
    """On average at most one in twenty further ones passes; the bound allows for luck of 2,000 draws."""
    rng = np.random.default_rng(seed)
    passed = [float((rng.random(20) * 0.9 >= threshold_for(rng.random(99) * 0.9, 0.05)).mean()) for _ in range(100)]
    assert np.mean(passed) < 0.075


def test_a_rate_needs_as_many_outsiders_as_it_is_fine():
    assert threshold_for(np.linspace(0, 0.5, 99), 0.01) == pytest.approx(0.5)
    with pytest.raises(UsageError, match="99 are needed"):
        threshold_for(np.linspace(0, 0.5, 98), 0.01)
    assert threshold_for(np.ones(99), 0.01) == SAME, "the same vector is always taken for stored"


def test_texts_are_found_as_they_stand_and_nearly():
    corpus, encoder = toy_corpus(400, seed=2), LeakyEncoder()
    stored = corpus.texts[:200]
    inside = {frozenset(text.split()) for text in stored}
    outside = [text for text in corpus.texts[200:] if frozenset(text.split()) not in inside]
    wanted = [stored[5], stored[7].upper(), f"{stored[9]} {stored[9]} ember", outside[0]]
    found = look_for(wanted, in_batches(encoder.encode(stored)), encoder, outsiders=outside[1:], false_alarm=0.05)
    assert found.answers[:2] == ["stored", "stored"]
    assert found.answers[2] == "nearly"
    assert found.nearest[:3] == [5, 7, 9]
    assert found.count("stored") + found.count("nearly") + found.count("not found") == 4
    assert not found.made_up


def test_made_up_outsiders_are_said_to_be_made_up():
    encoder = LeakyEncoder()
    found = look_for(["apple bridge"], in_batches(encoder.encode(["apple bridge"])), encoder)
    assert found.made_up
    assert found.outsiders >= 200


def test_what_a_store_is_like():
    rng = np.random.default_rng(1)
    rows = rng.standard_normal((500, 6)).astype(np.float32)
    rows[:, 2] = 4.0
    rows[7] = 0.0
    rows[7, 2] = 4.0
    found = survey(in_batches(rows, size=64))
    assert found.vectors == 500
    assert found.dimension == 6
    assert found.dead.tolist() == [2]
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(found.deviation, rows.std(axis=0), atol=1e-5)
    assert found.longest == pytest.approx(np.linalg.norm(rows, axis=1).max(), rel=1e-5)
    assert not found.normalised
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    unit[3] = 0
    again = survey(in_batches(unit, size=64))
    assert again.normalised
    assert again.zeros == 1


def test_an_empty_store_is_refused():
    with pytest.raises(DataError, match="no vectors"):
        survey(iter(()))


def _with_copies(angle, pairs=200, n=1000, dimension=64, seed=0):
    """Vectors of which the last ones lie at an angle from the first ones."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, dimension))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    side = rng.standard_normal((pairs, dimension))
    side -= (side * rows[:pairs]).sum(axis=1, keepdims=True) * rows[:pairs]
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    copies = np.cos(angle) * rows[:pairs] + np.sin(angle) * side
    return np.concatenate([rows, copies]).astype(np.float32)


@pytest.mark.parametrize("read_again", [True, False])
def test_every_copy_is_found_and_nothing_else(read_again):
    rows = _with_copies(0.0)
    found = near_duplicates(in_batches(rows, size=128), fetch=rows.__getitem__ if read_again else None)
    assert {tuple(group) for group in found.groups} == {(i, 1000 + i) for i in range(200)}
    assert found.ids[0] == list(found.groups[0])


def test_groups_are_told_by_the_ids_of_the_store_whatever_they_are():
    rows = _with_copies(0.0)
    names = [f"note {n}" for n in range(600)] + list(range(600, 1200))
    found = near_duplicates(in_batches(rows, names, size=128))
    assert found.ids == [[names[row] for row in group] for group in found.groups]


@pytest.mark.parametrize(("cosine", "least", "most"), [(0.995, 0.9, 1.0), (0.98, 0.5, 0.8)])
def test_as_many_near_duplicates_are_found_as_is_said(cosine, least, most):
    rows = _with_copies(np.arccos(cosine + 1e-4))
    found = near_duplicates(in_batches(rows), similarity=cosine, fetch=rows.__getitem__)
    assert least * 200 <= len(found.groups) <= most * 200


def test_groups_are_joined_and_the_largest_comes_first():
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.standard_normal((3, 32)), [2, 5, 1], axis=0).astype(np.float32)
    found = near_duplicates(in_batches(rows, size=3))
    assert [group.tolist() for group in found.groups] == [[2, 3, 4, 5, 6], [0, 1]]
    assert found.vectors == 8
