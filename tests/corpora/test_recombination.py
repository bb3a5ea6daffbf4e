"""Texts made of the adversary's own: only its words, as many as asked for, the same under the same seed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from unembed.corpora.recombination import recombine

WORDS = st.lists(st.text(st.characters(categories=["Ll"]), min_size=1, max_size=6), min_size=1, max_size=20)
TEXTS = st.lists(WORDS.map(" ".join), min_size=1, max_size=8)


@given(texts=TEXTS, count=st.integers(0, 30), seed=st.integers(0, 2**16))
def test_made_texts_hold_only_words_of_the_given_ones(texts, count, seed):
    made = recombine(texts, count, np.random.default_rng(seed))
    assert len(made) == count
    assert all(made)
    assert {w for t in made for w in t.split()} <= {w for t in texts for w in t.split()}


@given(texts=TEXTS, seed=st.integers(0, 2**16))
def test_same_seed_same_texts(texts, seed):
    assert recombine(texts, 9, np.random.default_rng(seed)) == recombine(texts, 9, np.random.default_rng(seed))


def test_a_part_is_contiguous_and_a_splice_joins_two():
    texts = ["one two three four five six seven eight nine ten", "a b c d e f g h i j"]
    made = recombine(texts, 300, np.random.default_rng(0))
    assert all(any(part in text for text in texts) for part in made[0::3])
    mixed = [t for t in made[2::3] if set(t.split()) & set(texts[0].split()) and set(t.split()) & set(texts[1].split())]
    assert len(mixed) > 20


def test_texts_without_a_word_make_nothing():
    assert recombine(["", "  "], 5, np.random.default_rng(0)) == []
    assert recombine([], 5, np.random.default_rng(0)) == []
