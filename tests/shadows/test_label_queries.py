"""A classifier on means of word vectors, asked for labels: what the short form says is what every query would get."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unembed.errors import CannotMeasureError
from unembed.shadows.base import TokenCorpus, WordTable
from unembed.shadows.label_queries import LabelClassifier, query_texts, taught, word_counts

WORDS = ("moor", "heath", "tarn", "beck", "gill", "force")
DOCUMENTS = ("moor heath heath", "tarn", "force force", "", "gill moor tarn beck")


def asked_one_by_one(table: WordTable, weights: np.ndarray, offset: float, texts: list[str]) -> list[int]:
    """What a classifier says that reads every text by itself."""
    vectors = {WORDS[number]: vector for number, vector in zip(table.numbers, table.vectors, strict=True)}
    said = []
    for text in texts:
        read = [vectors[word] for word in text.split() if word in vectors]
        mean = np.mean(read, axis=0) if read else np.zeros(len(weights))
        said.append(1 if float(mean @ weights) + offset > 0 else -1)
    return said


@given(st.integers(0, 10**6), st.sets(st.integers(0, 5), min_size=1), st.floats(-0.4, 0.4))
@settings(max_examples=60, deadline=None)
def test_the_short_form_gives_the_label_of_every_query(seed: int, known: set[int], offset: float) -> None:
    corpus = TokenCorpus.of([" ".join(WORDS), *DOCUMENTS])
    rng = np.random.default_rng(seed)
    table = WordTable(np.array(sorted(known)), rng.standard_normal((len(known), 4)).astype(np.float32))
    weights = rng.standard_normal(4)
    classifier = LabelClassifier(table.numbers, (table.vectors @ weights).astype(np.float64), offset)
    texts_read = classifier.read(word_counts(corpus, np.arange(1, 6)))
    asked = np.array([1, 3, 5])
    answers = classifier.answers(texts_read, asked, most=4)
    texts = list(query_texts(DOCUMENTS, [WORDS[w] for w in asked], most=4))
    assert len(texts) == len(answers) == 5 + 5 * 3 * 4
    assert answers.tolist() == asked_one_by_one(table, weights, offset, texts)
    moved = [
        np.mean(
            asked_one_by_one(
                table, weights, offset, [" ".join([d, *[WORDS[w]] * n]) for d in DOCUMENTS for n in (1, 2)]
            )
        )
        for w in asked
    ]
    alone = np.mean(asked_one_by_one(table, weights, offset, list(DOCUMENTS)))
    assert classifier.shifts(texts_read, asked, most=2) == pytest.approx(np.array(moved) - alone)
    assert classifier.labels(texts_read).tolist() == [said > 0 for said in answers[:5]]


def test_a_classifier_learns_to_tell_two_kinds_of_text() -> None:
    rng = np.random.default_rng(0)
    kinds = np.arange(120) % 2 == 0
    corpus = TokenCorpus.of([" ".join(rng.choice(WORDS[:3] if kind else WORDS[3:], 8)) for kind in kinds])
    table = WordTable(np.arange(6), rng.standard_normal((6, 8)).astype(np.float32) + 3)
    counts = word_counts(corpus, np.arange(120))
    classifier = taught(table, counts[:60], kinds[:60], seed=1)
    assert (classifier.labels(classifier.read(counts[60:])) == kinds[60:]).all()


def test_one_kind_of_text_is_nothing_to_learn_from() -> None:
    corpus = TokenCorpus.of(["moor heath", "tarn beck"])
    table = WordTable(np.arange(4), np.eye(4, dtype=np.float32))
    with pytest.raises(CannotMeasureError, match="same label"):
        taught(table, word_counts(corpus, np.arange(2)), np.array([True, True]), seed=0)
