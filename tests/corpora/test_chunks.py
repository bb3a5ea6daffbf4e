"""Chunks: nothing is lost, none is too long, neighbours share what they should, texts keep their names and columns."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.corpora.chunks import ORIGIN, chunk_corpus, count_words, split_text
from unembed.corpora.corpus import Corpus
from unembed.corpora.words import words
from unembed.errors import DataError, UsageError

PIECES = st.sampled_from([" ", "  ", "\n", ". ", "? ", ", ", "-", '" ', ' "', "。", "… ", ". A ", " Mr. "])
TEXTS = st.lists(st.tuples(st.integers(0, 10**6).map(lambda n: f"w{n}"), PIECES), max_size=150).map(
    lambda parts: "".join(word + gap for word, gap in parts)
)
SIZES = st.integers(1, 40).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size // 2)))


def numbered(count: int, gap: str = " ") -> str:
    """A text in which every word occurs once."""
    return gap.join(f"w{i}" for i in range(count))


@given(TEXTS, SIZES)
@settings(max_examples=150, deadline=None)
def test_chunks_hold_every_word_once_but_for_the_overlap(text, sizes):
    size, overlap = sizes
    chunks = split_text(text, size, overlap)
    found = [words(chunk) for chunk in chunks]
    assert all(len(part) <= size for part in found)
    joined = found[0]
    for before, part in pairwise(found):
        assert part[:overlap] == before[len(before) - overlap :], "neighbours share what was asked for"
        assert len(part) > overlap, "and each adds something"
        joined = joined + part[overlap:]
    assert joined == words(text)


@given(TEXTS, SIZES)
@settings(max_examples=60, deadline=None)
def test_a_chunk_is_at_least_three_quarters_full_unless_it_is_the_last(text, sizes):
    size, overlap = sizes
    for chunk in split_text(text, size, overlap)[:-1]:
        assert len(words(chunk)) >= size - size // 4


def test_a_chunk_ends_with_a_sentence_where_one_ends_near():
    text = "One two three four five six seven. Eight nine ten eleven twelve thirteen fourteen fifteen sixteen."
    assert split_text(text, 9, 0)[0] == "One two three four five six seven."
    assert split_text(text, 20, 0) == [text]
    far = "One two. Three four five six seven eight nine ten eleven twelve."
    assert len(words(split_text(far, 8, 0)[0])) == 8, "a sentence that ends early would leave the chunk half empty"


def test_quotes_and_full_stops_stay_with_their_words():
    chunks = split_text('He said so. "Then go on," she said (at last).', 3, 0)
    assert chunks == ["He said so.", '"Then go on,"', "she said (at", "last)."]


def test_texts_without_words_of_one_word_and_without_a_sentence_end():
    assert split_text("", 5, 1) == [""]
    assert split_text("!?", 5, 1) == ["!?"]
    assert split_text("word", 1, 0) == ["word"]
    assert [len(words(c)) for c in split_text(numbered(25), 10, 2)] == [10, 10, 9]


def test_scripts_without_spaces_are_counted_by_character():
    text = "今日は天気がいい。" * 30
    chunks = split_text(text, 20, 0)
    assert "".join(chunks) == text
    assert all(count_words(c) <= 20 for c in chunks)
    assert all(c.endswith("。") for c in chunks), "each of these sentences has eight characters"
    unbroken = "学" * 1000 + "abc" + "校" * 5
    assert "".join(split_text(unbroken, 64, 0)) == unbroken
    assert count_words(unbroken) == 1006


def test_a_huge_text_is_cut_in_one_pass():
    chunks = split_text(numbered(300_000, ". A. "), 200, 20)
    assert len(chunks) >= 600_000 / 200
    assert chunks[-1].endswith("w299999")


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 6), (10, -1)])
def test_impossible_sizes_are_refused(size, overlap):
    with pytest.raises(UsageError, match="chunk"):
        split_text("a b c", size, overlap)


@given(st.lists(st.integers(0, 60), max_size=8))
@settings(max_examples=40, deadline=None)
def test_rows_keep_their_columns_and_the_name_of_their_text(lengths):
    corpus = Corpus([numbered(n) for n in lengths], [f"t#{i}" for i in range(len(lengths))], {"who": lengths}, "c")
    made = chunk_corpus(corpus, 10)
    assert len(set(made.ids)) == len(made), "ids stay unique even where an id looks like that of a chunk"
    by_text = {i: [r for r, origin in enumerate(made.column(ORIGIN)) if origin == i] for i in corpus.ids}
    for i, length in zip(corpus.ids, lengths, strict=True):
        assert [made.ids[r] for r in by_text[i]] == [f"{i}#{n + 1}" for n in range(len(by_text[i]))]
        assert {made.column("who")[r] for r in by_text[i]} == {length}
        assert {w for r in by_text[i] for w in words(made.texts[r])} == set(words(numbered(length)))


def test_a_column_of_the_same_name_is_refused():
    with pytest.raises(DataError, match="rename"):
        chunk_corpus(Corpus(["a"], ["1"], {ORIGIN: [1]}), 5)
