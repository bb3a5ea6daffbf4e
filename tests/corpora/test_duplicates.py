"""Leaks are found exactly: never a false removal, never a missed near duplicate."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.corpora import Corpus, drop_duplicates, near_duplicates, remove_leaks
from unembed.corpora.comparison import normalised
from unembed.corpora.words import words
from unembed.errors import UsageError


def shingles(text):
    found = words(text)
    return {tuple(found[i : i + 3]) for i in range(len(found) - 2)}


def pairs_of_words(text):
    found = words(text)
    return {tuple(found[i : i + 2]) for i in range(len(found) - 1)}


def is_quoted(left, right, rare):
    """What the documentation says, pair by pair; ``rare`` says of a pair of words whether few texts have it."""
    a, b = pairs_of_words(left), pairs_of_words(right)
    shared, fewer_rare = a & b, min(len(set(filter(rare, a))), len(set(filter(rare, b))))
    return (
        min(len(a), len(b)) > 0
        and len(shared) >= 0.35 * min(len(a), len(b)) + 2.5 - 1e-9
        and len(set(filter(rare, shared))) >= max(3, 0.35 * fewer_rare + 1)
    )


def jaccard(left, right):
    a, b = shingles(left), shingles(right)
    if a and b:
        return len(a & b) / len(a | b)
    return float(not a and not b and normalised(left) == normalised(right))


texts_of_few_words = st.lists(
    st.lists(st.sampled_from(["red", "green", "blue", "dog", "cat"]), max_size=9).map(" ".join), max_size=12
)


@settings(max_examples=150, deadline=None)
@given(texts_of_few_words, texts_of_few_words, st.sampled_from([0.3, 0.5, 0.7, 0.9, 1.0]))
def test_pairs_are_those_of_brute_force(left, right, threshold):
    rows, columns, scores = near_duplicates(left, right, threshold=threshold)
    expected = {
        (i, j): jaccard(a, b) for i, a in enumerate(left) for j, b in enumerate(right) if jaccard(a, b) >= threshold
    }
    found = {(int(i), int(j)): s for i, j, s in zip(rows, columns, scores, strict=True)}
    assert found.keys() == expected.keys()
    assert all(found[pair] == pytest.approx(expected[pair]) for pair in expected)


@settings(max_examples=150, deadline=None)
@given(texts_of_few_words, texts_of_few_words, st.sampled_from([0.5, 0.7, 1.0]))
def test_removed_texts_are_those_of_brute_force(left, right, threshold):
    kept, report = remove_leaks(Corpus.of(left), Corpus.of(right), threshold=threshold)
    equal = {normalised(b) for b in right}

    def is_rare(pair):
        return sum(pair in pairs_of_words(b) for b in equal) <= 3  # at most twelve texts on the adversary's side

    close = [a for a in left if normalised(a) in equal or any(jaccard(a, b) >= threshold for b in right)]
    expected = [
        str(i) for i, a in enumerate(left) if a not in close and not any(is_quoted(a, b, is_rare) for b in right)
    ]
    assert kept.ids == expected
    assert report.exact + report.disguised + report.near + report.quoted + report.kept == report.rows == len(left)
    assert report.removed == report.rows - report.kept


def test_many_targets_are_compared_in_blocks():
    rng = random.Random(0)
    pool = [f"w{i}" for i in range(400)]
    target = [" ".join(rng.choices(pool, k=20)) for _ in range(1_300)]
    copies = [t + " tail" for t in target]
    fresh = [" ".join(rng.choices(pool, k=20)) for _ in range(700)]
    kept, report = remove_leaks(Corpus.of(copies + fresh), Corpus.of(target))
    assert report.near == 1_300
    assert kept.texts == fresh


def test_case_space_and_punctuation_do_not_hide_a_duplicate():
    adversary = Corpus.of(["Hello,  WORLD!", "yes", "?!", "no way out", "something else altogether"])
    kept, report = remove_leaks(adversary, Corpus.of(["hello world", "Yes.", "?!", "No way, out"]))
    assert kept.texts == ["something else altogether"]
    assert (report.exact, report.near, report.targets) == (4, 0, 4)


def test_drop_duplicates_keeps_the_first():
    kept, report = drop_duplicates(Corpus.of(["A b.", "c", "a  b", "C!", "d"], n=[1, 2, 3, 4, 5]))
    assert kept.texts == ["A b.", "c", "d"]
    assert kept.columns["n"] == [1, 2, 5]
    assert (report.rows, report.dropped, report.kept) == (5, 2, 3)


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5])
def test_a_threshold_out_of_range_is_refused(threshold):
    with pytest.raises(UsageError, match="threshold"):
        remove_leaks(Corpus.of(["a"]), Corpus.of(["b"]), threshold=threshold)


def test_an_empty_side_is_no_error():
    assert remove_leaks(Corpus.of([]), Corpus.of(["a b c d"]))[1].kept == 0
    assert remove_leaks(Corpus.of(["a b c d"]), Corpus.of([]))[1].kept == 1


def test_large_vocabularies_give_the_same_pairs(monkeypatch):
    rng = random.Random(1)
    left = [" ".join(rng.choices("abcdef", k=12)) for _ in range(60)]
    right = [" ".join(rng.choices("abcdef", k=12)) for _ in range(60)] + left[:5]
    packed = near_duplicates(left, right, threshold=0.2)
    monkeypatch.setattr("unembed.corpora.shingles._PACKABLE", 1)
    unpacked = near_duplicates(left, right, threshold=0.2)
    assert len(packed[0]) > 5
    assert all((a == b).all() for a, b in zip(packed, unpacked, strict=True))
