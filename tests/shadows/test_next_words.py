"""Where a user's pairs stand in their sentences, and whether a language model would say the second word there."""

from __future__ import annotations

import numpy as np

from unembed.shadows.base import TokenCorpus
from unembed.shadows.next_words import Lexicon, Places, places_of, rare_pairs, that_stand
from unembed.shadows.signals import Asked

TEXTS = ["moor heath tarn", "heath moor", "tarn beck moor heath", "beck"]
CORPUS = TokenCorpus.of(TEXTS)  # moor 0, heath 1, tarn 2, beck 3


def asked(*pairs: tuple[int, int]) -> Asked:
    once = np.ones(len(pairs), dtype=np.int64)
    return Asked(np.arange(4), np.full(4, 9.0), np.array(pairs, dtype=np.int64).reshape(-1, 2), once, once)


def named(places: Places) -> set[tuple[int, int, int]]:
    return set(zip(places.pair.tolist(), places.text.tolist(), places.word.tolist(), strict=True))


def test_a_pair_is_found_in_either_order_and_never_across_texts() -> None:
    found = places_of(CORPUS, np.arange(4), asked((2, 3), (0, 1)))
    assert named(found) == {(1, 0, 0), (1, 1, 0), (1, 2, 2), (0, 2, 0)}
    assert named(places_of(CORPUS, np.array([2]), asked((2, 3), (0, 1)))) == {(0, 0, 0), (1, 0, 2)}
    assert named(places_of(CORPUS, np.arange(4), asked())) == set()


def test_pairs_with_a_word_between_them_are_not_asked_about() -> None:
    both = asked((0, 3), (0, 2), (1, 2))
    kept = that_stand(both, places_of(CORPUS, np.arange(4), both))
    assert kept.pairs.tolist() == [[0, 3], [1, 2]], "moor and tarn stand together nowhere"


def test_a_hit_is_the_users_own_next_word_somewhere() -> None:
    pairs = asked((2, 3), (0, 1), (1, 2), (0, 2))
    texts = [CORPUS.text(row) for row in range(4)]
    places = places_of(CORPUS, np.arange(4), pairs)
    nothing = [np.full(len(text), 9) for text in texts]
    said = [np.array([9, 2, 9]), *nothing[1:]]
    assert places.hits(said, texts, others=4, pairs=4).tolist() == [-1, -1, 1, 0]
    right = [np.append(text[1:], 9) for text in texts]
    assert places.hits(right, texts, others=4, pairs=4).tolist() == [1, 1, 1, 0]
    assert places.hits(right, texts, others=3, pairs=4).tolist() == [-1, 1, 1, 0], "no word in particular is no hit"


def test_rare_words_share_a_number() -> None:
    lexicon = Lexicon.of(CORPUS, least=3)
    moor, heath, tarn, beck = lexicon.numbers
    assert tarn == beck == lexicon.others == 2
    assert len(lexicon) == 3
    assert [row.tolist() for row in lexicon.sequences(CORPUS, np.array([3, 1]))] == [[lexicon.others], [heath, moor]]


def test_a_pair_is_rare_if_a_dictionary_lacks_one_of_its_words() -> None:
    pairs = asked((0, 1), (0, 3), (2, 3))
    assert rare_pairs(CORPUS, pairs, frozenset({"moor", "heath", "tarn"})).tolist() == [False, True, True]
    assert rare_pairs(CORPUS, pairs, frozenset()).all()
