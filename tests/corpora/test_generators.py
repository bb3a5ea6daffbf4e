"""Invented corpora hold what they promise: known secrets, variety, learnable authors, valid numbers."""

from collections import Counter
from itertools import pairwise

import pytest

from unembed.corpora.generators import GENERATORS
from unembed.corpora.generators.citizen_ids import check_character, generate_citizen_ids, is_valid
from unembed.corpora.generators.genomes import generate_genomes
from unembed.corpora.generators.grammar import load_grammar
from unembed.corpora.generators.messages import SECRET_KINDS, generate_messages
from unembed.corpora.generators.people import HABITS, TOPICS
from unembed.corpora.words import STOP_WORDS, words
from unembed.errors import UsageError


@pytest.fixture(scope="module")
def messages():
    return generate_messages(20_000, seed=3)


@pytest.fixture(scope="module")
def public():
    return generate_messages(20_000, seed=3, domain="public")


def blanked(text, secrets):
    """The text with every secret replaced by its kind."""
    out, last = [], 0
    for kind, start, end in secrets:
        out += [text[last:start], f" {kind}secret "]
        last = end
    return "".join([*out, text[last:]])


def test_every_shipped_grammar_is_closed_and_every_rule_expands():
    import re

    for names in (("people", "support"), ("public",)):
        rules = load_grammar(*names).rules
        used = {s for options in rules.values() for o in options for s in re.findall(r"\{(\w+)(?::s)?\}", o)}
        assert {s for s in used if not s.isupper()} <= set(rules)
        assert all(rules.values())
    support = load_grammar("people", "support").rules
    assert set(TOPICS) <= set(support)
    assert set(HABITS) <= set(support)


def test_messages_have_thousands_of_shapes_beyond_their_secrets_and_content_words(messages):
    shapes = set()
    for text, secrets in zip(messages.texts, messages.columns["secrets"], strict=True):
        shape = [w if w in STOP_WORDS or w.endswith("secret") else "_" for w in words(blanked(text, secrets))]
        shapes.add(" ".join(shape))
    assert len(shapes) >= 3_000


def test_messages_have_a_broad_vocabulary_outside_the_secrets(messages):
    found = set()
    for text, secrets in zip(messages.texts, messages.columns["secrets"], strict=True):
        found.update(w for w in words(blanked(text, secrets)) if w.isalpha())
    everything = {w for text in messages.texts for w in words(text) if w.isalpha()}
    assert len(found) > 1_400
    assert len(everything) > 2_000


def test_every_secret_lies_where_the_span_says(messages):
    rules = load_grammar("people", "support").rules
    cities = {c.lower() for c in rules["city"]}
    diagnoses = {d.lower().replace("’", "'") for d in rules["diagnosis"]}
    kinds = Counter()
    for text, secrets in zip(messages.texts, messages.columns["secrets"], strict=True):
        for kind, start, end in secrets:
            value = text[start:end]
            assert value == value.strip()
            assert value
            kinds[kind] += 1
            if kind == "city":
                assert value.lower() in cities
            if kind == "diagnosis":
                assert value.lower().replace("’", "'") in diagnoses
            if kind == "email":
                assert "@" in value
            if kind == "phone":
                assert "555" in value
    assert set(kinds) == set(SECRET_KINDS)


def test_no_city_or_diagnosis_stands_outside_the_spans(messages):
    rules = load_grammar("people", "support").rules
    single = {c.lower() for c in [*rules["city"], *rules["diagnosis"]] if c.isalpha()} - {"reading", "bath"}
    for text, secrets in zip(messages.texts[:5_000], messages.columns["secrets"], strict=False):
        rest = set(words(blanked(text, secrets)))
        assert not rest & single, rest & single


def test_columns_fit_together(messages):
    by_document = {}
    for author, document, topic, city in zip(
        *(messages.columns[c] for c in ("author", "document", "topic", "city")), strict=True
    ):
        assert by_document.setdefault(document, (author, topic, city)) == (author, topic, city)
    sizes = Counter(messages.columns["document"])
    assert max(sizes.values()) > 2
    assert min(Counter(messages.columns["author"]).values()) >= 10
    named = [d for d in messages.columns["diagnosis"] if d]
    assert 0.1 < len(named) / len(messages) < 0.6


def test_the_author_can_be_told_from_the_style():
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.naive_bayes import MultinomialNB

    corpus = generate_messages(1_500, seed=5, authors=10)
    texts = [blanked(t, s) for t, s in zip(corpus.texts, corpus.columns["secrets"], strict=True)]
    authors = corpus.columns["author"]
    vectors = TfidfVectorizer().fit_transform(texts)
    model = MultinomialNB(alpha=0.1).fit(vectors[:1_000], authors[:1_000])
    assert model.score(vectors[1_000:], authors[1_000:]) > 0.3  # chance is about 0.1


def test_public_text_is_broad_and_of_another_domain(messages, public):
    vocabulary = {w for text in public.texts for w in words(text)}
    assert len(vocabulary) > 2_000
    assert len(set(public.texts)) > 0.95 * len(public)
    assert len(set(public.columns["topic"])) == 30
    assert "secrets" not in public.columns
    assert not any("{" in t or "|" in t or "~" in t for t in [*public.texts, *messages.texts])


def test_articles_fit_the_next_word(public, messages):
    for text in [*public.texts[:5_000], *messages.texts[:5_000]]:
        found = words(text)
        for article, word in pairwise(found):
            assert not (article == "an" and word[0] in "bcdfgjklmnpqrstvwyz"), (article, word)
            assert not (article == "a" and word.startswith(("apple", "old", "owl", "orange", "ivory"))), word


@pytest.mark.parametrize("name", ["messages", "public-text", "citizen-ids", "genomes"])
def test_every_generator_is_registered_and_seeded(name):
    make = GENERATORS.get(name)
    first, again, other = make(50, seed=1), make(50, seed=1), make(50, seed=2)
    assert len(first) == len(set(first.ids)) == 50
    assert first.fingerprint == again.fingerprint
    assert first.texts != other.texts
    with pytest.raises(UsageError):
        make(0, seed=1)


def test_citizen_ids_are_valid_and_their_columns_are_their_parts():
    corpus = generate_citizen_ids(500, seed=1)
    for i, text in enumerate(corpus.texts):
        row = {name: values[i] for name, values in corpus.columns.items()}
        assert is_valid(text)
        rest = f"{row['year']:04d}{row['month']:02d}{row['day']:02d}{row['sequence']}{row['check']}"
        assert text == row["residence"] + rest
    assert {text[-1] for text in corpus.texts} == set("0123456789X")


def test_check_character_follows_the_published_example():
    assert check_character("11010519491231002") == "X"
    assert is_valid("11010519491231002X")
    assert not is_valid("110105194912310021")
    assert not is_valid("11010519491331002X")
    assert not is_valid("1101051949123100２X")


def test_genomes_have_a_column_a_position_and_carry_the_motif():
    corpus = generate_genomes(200, seed=1, length=12, motif="gt", motif_at=4)
    assert all(len(t) == 12 and set(t) <= set("ACGT") and t[4:6] == "GT" for t in corpus.texts)
    assert corpus.columns["position_0"] == [t[0] for t in corpus.texts]
    for bad in ({"motif": "GX"}, {"motif": "GT", "motif_at": 19}, {"motif_at": 3}, {"length": 0}):
        with pytest.raises(UsageError):
            generate_genomes(5, seed=1, **bad)


def test_messages_refuse_what_has_no_meaning():
    for bad in ({"domain": "publik"}, {"authors": 0}, {"domain": "public", "authors": 3}):
        with pytest.raises(UsageError):
            generate_messages(5, seed=1, **bad)
