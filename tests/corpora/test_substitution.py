"""Word substitution makes balanced examples whose labels are true and whose surroundings stay."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.corpora import build_vocabulary, contains_keyword, substitute
from unembed.corpora.generators.messages import generate_messages
from unembed.corpora.substitution import noun_like, substitute_at
from unembed.corpora.words import words
from unembed.errors import DataError, UsageError

POOL = ["table", "river", "seven", "cloud"]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.text(alphabet="ab head.,!HEAD's ", max_size=25), min_size=1, max_size=8),
    st.sampled_from(["head", "a b", "Head ache"]),
    st.integers(0, 3),
)
def test_labels_are_true_and_each_text_gives_one_of_each(texts, keyword, seed):
    made = substitute(texts, keyword, POOL, np.random.default_rng(seed))
    assert contains_keyword(made.texts, [keyword])[:, 0].tolist() == made.labels.tolist()
    assert made.labels.sum() * 2 == len(made.texts)
    usable = [i for i, t in enumerate(texts) if words(t)]
    assert made.source_rows[::2].tolist() == made.source_rows[1::2].tolist() == usable
    assert [t for t, o in zip(made.texts, made.original, strict=True) if o] == [texts[i] for i in usable]


def test_case_and_punctuation_around_the_word_stay():
    made = substitute(['My HEAD hurts, "Head" first!'], "head", ["cloud"], np.random.default_rng(0))
    assert made.texts[1] == 'My CLOUD hurts, "Cloud" first!'
    made = substitute(["Foot!"], "head", POOL, np.random.default_rng(0))
    assert made.texts[1] == "Head!"


def test_only_one_place_changes_in_a_text_without_the_keyword():
    text = "one two three four five"
    for seed in range(10):
        changed = substitute([text], "head", POOL, np.random.default_rng(seed)).texts[1]
        assert sum(a != b for a, b in zip(words(text), words(changed), strict=True)) == 1


def test_keywords_of_several_words_keep_the_length():
    made = substitute(
        ["we flew to New  York today", "we stayed at home all day"], "new york", POOL, np.random.default_rng(0)
    )
    assert made.labels.tolist() == [True, False, False, True]
    assert [len(words(t)) for t in made.texts] == [6, 6, 6, 6]


def test_whole_words_only():
    held = contains_keyword(
        ["headache", "Head.", "the head's", "fore-head", "New, York", "newyork"], ["head", "New York"]
    )
    assert held[:, 0].tolist() == [False, True, False, True, False, False]
    assert held[:, 1].tolist() == [False, False, False, False, True, False]


def test_a_random_place_and_a_random_word_depend_on_the_generator():
    text = " ".join(f"w{i}" for i in range(30))
    drawn = {substitute([text], "head", POOL, np.random.default_rng(s)).texts[1] for s in range(20)}
    assert len(drawn) > 5


def test_a_real_vocabulary_serves():
    corpus = generate_messages(200, seed=1)
    vocabulary = build_vocabulary(corpus.texts)
    made = substitute(corpus.texts, "parcel", vocabulary, np.random.default_rng(0))
    assert made.labels.mean() == 0.5
    assert contains_keyword(made.texts, ["parcel"])[:, 0].tolist() == made.labels.tolist()


def test_what_can_not_be_a_keyword_or_vocabulary_is_refused():
    with pytest.raises(UsageError):
        substitute(["a b"], "?!", POOL, np.random.default_rng(0))
    with pytest.raises(UsageError):
        contains_keyword(["a"], [" "])
    with pytest.raises(DataError):
        substitute(["a b"], "head", ["head"], np.random.default_rng(0))


def test_a_keyword_takes_the_place_of_one_word_wherever_it_stands():
    rng = np.random.default_rng(0)
    changed = substitute_at("Salad! The salad, a SALAD bowl.", frozenset({"salad"}), "hip joint", rng)
    assert changed == "Hip joint! The hip joint, a HIP JOINT bowl."
    assert substitute_at("no such word", frozenset({"salad"}), "hip", rng) is None


def test_words_used_like_nouns_are_found_by_the_company_they_keep():
    texts = [
        "the salad was cold",
        "a salad is fine",
        "my salad and soup",
        "we quickly left",
        "they quickly ate the soup",
    ]
    found = noun_like(texts * 2)
    assert "salad" in found
    assert not {"quickly", "the", "cold"} & found
