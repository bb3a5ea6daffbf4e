"""Sentences and artificial paragraphs: lengths, document borders, one paragraph a sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.corpora.corpus import Corpus
from unembed.corpora.paragraphs import (
    build_paragraphs,
    cut_into_sentences,
    keep_sentences,
    split_sentences,
    word_count,
)
from unembed.errors import UnknownNameError, UsageError

LENGTHS = st.lists(st.tuples(st.integers(1, 60), st.integers(0, 3)), max_size=120)


def corpus_of(lengths):
    """Sentence number i is made of words that name it, so that it can be told from every other."""
    texts = [" ".join(f"w{i}x{j}" for j in range(length)) for i, (length, _) in enumerate(lengths)]
    return Corpus.of(texts, doc=[f"d{doc}" for _, doc in lengths])


@given(LENGTHS)
@settings(max_examples=60, deadline=None)
def test_paragraphs_keep_the_bounds_the_order_and_the_documents(lengths):
    corpus = corpus_of(lengths)
    made = build_paragraphs(corpus, "doc")
    home = dict(zip(corpus.texts, corpus.column("doc"), strict=True))
    place = {text: i for i, text in enumerate(corpus.texts)}
    used = []
    for row, text in enumerate(made.paragraphs.texts):
        assert 128 <= word_count(text) <= 168
        mine = [made.sentences.texts[i] for i in made.rows[row]]
        assert text == " ".join(mine)
        assert {home[s] for s in mine} == {made.paragraphs.column("doc")[row]}
        assert [place[s] for s in mine] == sorted(place[s] for s in mine)
        assert {made.sentences.column("paragraph")[i] for i in made.rows[row]} == {made.paragraphs.ids[row]}
        used += mine
    assert len(used) == len(set(used)) == len(made.sentences)
    assert all(8 <= word_count(s) <= 40 for s in used)


@given(LENGTHS)
@settings(max_examples=30, deadline=None)
def test_what_is_left_of_a_document_is_shorter_than_a_paragraph(lengths):
    corpus = corpus_of(lengths)
    made = build_paragraphs(corpus, "doc")
    used = set(made.sentences.texts)
    for doc in set(corpus.column("doc")):
        left = [
            t
            for t, d in zip(corpus.texts, corpus.column("doc"), strict=True)
            if d == doc and t not in used and 8 <= word_count(t) <= 40
        ]
        assert sum(map(word_count, left)) < 128


def test_sentences_of_other_lengths_and_without_a_document_are_left_out():
    corpus = Corpus.of(["one " * 7, "two " * 8, "tri " * 40, "for " * 41], doc=["a", "a", None, "a"])
    assert [t.split()[0] for t in keep_sentences(corpus).texts] == ["two", "tri"]
    assert build_paragraphs(corpus, "doc", least=8).sentences.texts == [" ".join(["two"] * 8)]


def test_words_of_one_character_do_not_count():
    assert word_count("I am a man, 5 of 12") == 4


def test_white_space_and_case_are_made_even_where_asked():
    corpus = Corpus.of(["The  Old\tman\nand the SEA and more words"])
    assert keep_sentences(corpus, lower=True).texts == ["the old man and the sea and more words"]


def test_sentences_of_a_side_follow_its_paragraphs():
    made = build_paragraphs(corpus_of([(30, 0)] * 20), "doc")
    some = made.sentences_of([1])
    assert set(some.column("paragraph")) == {made.paragraphs.ids[1]}
    assert len(some) == len(made.rows[1])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One here. Two there! Three?", ["One here.", "Two there!", "Three?"]),
        ("Dr. Smith met J. Doe. They left.", ["Dr. Smith met J. Doe.", "They left."]),
        ("It cost 3.50 euro. Fine", ["It cost 3.50 euro.", "Fine"]),
        ("«Davvero?» Lui rise.", ["«Davvero?»", "Lui rise."]),
        ("no capital. after it", ["no capital. after it"]),
        ("   ", []),
    ],
)
def test_sentences_are_cut_by_a_plain_rule(text, expected):
    assert split_sentences(text) == expected


def test_cut_sentences_keep_columns_and_get_ids():
    cut = cut_into_sentences(Corpus.of(["One here. Two there.", "Three."], doc=["a", "b"]))
    assert cut.column("doc") == ["a", "a", "b"]
    assert cut.ids == ["0-0", "0-1", "1-0"]


def test_wrong_bounds_and_columns_are_refused():
    corpus = Corpus.of(["x"], doc=["a"])
    with pytest.raises(UsageError, match="words"):
        keep_sentences(corpus, shortest=9, longest=8)
    with pytest.raises(UsageError, match="at least 1 word"):
        build_paragraphs(corpus, "doc", least=0)
    with pytest.raises(UnknownNameError):
        build_paragraphs(corpus, "document")
