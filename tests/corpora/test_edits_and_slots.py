"""Texts written a little differently, in other words, and with one word exchanged."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.corpora.comparison import normalised
from unembed.corpora.edits import nearly, reworded
from unembed.corpora.slots import find_slots, slot_lists
from unembed.corpora.words import words

TEXTS = (
    "The doctor sent Maria a letter on 14 May, and the company did not answer.",
    "After the game, the team bought a big house near the lake.",
    "Prices rose again in the city.",
)


@given(st.text(max_size=80), st.integers(0, 1000))
def test_any_text_can_be_edited(text, seed):
    for edit in (nearly, reworded):
        assert edit(text, np.random.default_rng(seed)) == edit(text, np.random.default_rng(seed))


@given(st.sampled_from(TEXTS), st.integers(0, 1000))
def test_an_edit_is_small_and_changes_something(text, seed):
    made = nearly(text, np.random.default_rng(seed))
    assert made != text
    assert abs(len(words(made)) - len(words(text))) <= 1
    assert len(set(words(made)) ^ set(words(text))) <= 3, "a word dropped and one mistyped at most"


@given(st.sampled_from(TEXTS), st.integers(0, 1000))
def test_other_words_are_another_text_that_keeps_most_words(text, seed):
    made = reworded(text, np.random.default_rng(seed))
    assert normalised(made) != normalised(text)
    assert len(set(words(made)) & set(words(text))) >= len(set(words(text))) / 2


def test_rules_of_rewording():
    made = reworded(TEXTS[1], np.random.default_rng(0))
    assert made == "The squad purchased a large home near the lake, after the game."
    assert "didn't" in reworded(TEXTS[0], np.random.default_rng(0))
    assert reworded("Bread and butter cost more.", np.random.default_rng(0)) == "butter and Bread cost more."


def test_slots_by_kind():
    kinds = {slot.word: slot.kind for slot in find_slots(TEXTS[0])}
    assert kinds["14"] == "digits"
    assert kinds["Maria"] == "name"
    assert kinds["letter"] == "word"
    assert "The" not in kinds
    assert "the" not in kinds


def _letters(n=40):
    names = ("Anna", "Ben", "Clara", "David", "Emil", "Frida", "Georg", "Hanna")
    return [f"Dear {names[i % 8]}, room {100 + i} is ready for week {i % 9 + 10}." for i in range(n)]


def test_texts_of_a_list_differ_in_one_word():
    found = slot_lists(_letters(), 6, "salt")
    assert len(found) == 40
    for text, (slot, made) in found.items():
        assert text in made
        assert made == sorted(set(made))
        assert len(made) == 6
        assert all(one.startswith(slot.before) and one.endswith(slot.after) for one in made)


def test_lists_follow_from_the_texts_and_not_from_their_order():
    assert slot_lists(_letters(), 6, "salt") == slot_lists(_letters()[::-1], 6, "salt")
    assert slot_lists(_letters(), 6, "salt") != slot_lists(_letters(), 6, "pepper")


@pytest.mark.parametrize("size", [2, 5])
def test_without_enough_words_there_is_no_list(size):
    assert slot_lists(["Only this"], size, "") == {}
