"""One tokeniser, stop words, vocabulary, label matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.corpora import STOP_WORDS, build_vocabulary, content_words, stop_words, word_sets, word_spans
from unembed.corpora.words import words
from unembed.errors import UnknownNameError, UsageError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("Don't stop; it’s 'fine'", ["don't", "stop", "it's", "fine"]),
        ("Don't café", ["don't", "café"]),
        ("room 101, B2B snake_case", ["room", "101", "b2b", "snake", "case"]),
        ("Straße cafe\u0301", ["straße", "caf\u00e9"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("well-known e-mail", ["well", "known", "e", "mail"]),
        ("", []),
        ("… — !", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@given(st.text())
def test_spans_and_words_agree_and_lie_in_the_text(text):
    spans = word_spans(text)
    assert [w for w, _, _ in spans] == words(text)
    assert all(0 <= a < b <= len(text) for _, a, b in spans)


@given(st.text(alphabet="abcXYZ01'_ .-"))
def test_ascii_and_general_path_cut_alike(text):
    assert words(text) == words(text + " é")[:-1]


def test_stop_words_are_words_of_their_language():
    assert len(STOP_WORDS) > 250
    assert {"the", "and", "don't", "i'm"} <= STOP_WORDS
    assert {"della", "perché", "sono", "un"} <= stop_words("it")
    for language in ("en", "it"):
        assert all(words(w) == [w] for w in stop_words(language))
    with pytest.raises(UnknownNameError, match="known: en, it"):
        stop_words("xx")


def test_content_words_leave_out_function_words_and_numbers():
    assert content_words("The 3 dogs weren't in x the garden") == ["dogs", "garden"]
    assert content_words("Il cane è nel giardino", "it") == ["cane", "giardino"]


def test_vocabulary_is_sorted_by_count_then_alphabet():
    vocabulary = build_vocabulary(["b a a the", "b c the the", "a d"], min_count=2)
    assert vocabulary.words == ("a", "the", "b")
    assert vocabulary.counts.tolist() == [3, 3, 2]
    assert vocabulary.document_counts.tolist() == [2, 2, 2]
    assert vocabulary.content.tolist() == [False, False, False]
    assert vocabulary.texts == 3
    assert "c" not in vocabulary
    assert build_vocabulary(["b a a the"], size=1, min_count=1).words == ("a",)
    with pytest.raises(UsageError):
        build_vocabulary(["a"], size=0)


@given(st.lists(st.text(alphabet="ab cd'", max_size=20), max_size=8))
def test_word_sets_say_which_words_each_text_holds(texts):
    vocabulary = build_vocabulary(texts, min_count=1)
    matrix = word_sets(texts, vocabulary)
    assert matrix.shape == (len(texts), len(vocabulary))
    dense = np.asarray(matrix.todense())
    for row, text in enumerate(texts):
        assert {vocabulary.words[i] for i in np.flatnonzero(dense[row])} == set(words(text))
    assert dense.max(initial=0) <= 1
