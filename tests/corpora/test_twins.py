"""Copies of targets leave the adversary's side however they are dressed, and then a random label can't be told."""

import random

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from altered_copies import KINDS, invented_texts, make_twins, short_texts
from unembed.corpora import Corpus, drop_duplicates, remove_leaks
from unembed.corpora.generators.messages import generate_messages
from unembed.encoders import build_encoder
from unembed.metrics.estimate import wilson
from unembed.runner.twins import vector_twins

COUNT = 200
SHORT = "one word of eight changed"
#: How many of 200 twins may stay; none of the kinds that aren't named.
LEFT = {SHORT: 16, "half of it in an equally long reply": 10}


@pytest.fixture(scope="module")
def texts():
    """Targets, texts to dress the twins with, and unrelated texts of the adversary."""
    return invented_texts(COUNT, seed=1), invented_texts(COUNT, seed=2), invented_texts(300, seed=3)


@pytest.fixture(scope="module")
def texts_of_eight_words(texts):
    target = short_texts(COUNT, seed=1)
    return target, texts[1], [text for text in short_texts(500, seed=9) if text not in target]


@pytest.mark.parametrize("kind", KINDS)
def test_twins_are_removed_and_other_texts_stay(kind, texts, texts_of_eight_words):
    target, dress, others = texts_of_eight_words if kind == SHORT else texts
    kept, report = remove_leaks(Corpus.of(make_twins(kind, target, dress) + others), Corpus.of(target))
    left = sum(int(row) < COUNT for row in kept.ids)
    assert left <= LEFT.get(kind, 0)
    assert len(others) - (len(kept) - left) <= (0.05 * len(others) if kind == SHORT else 0)
    assert report.removed == report.rows - len(kept)


@pytest.mark.parametrize("kind", ["<b> tags", "soft hyphen", "Cyrillic look-alikes", "full-width forms", "HTML page"])
def test_disguised_copies_are_counted_as_such(kind, texts):
    target, dress, others = texts
    report = remove_leaks(Corpus.of(make_twins(kind, target, dress) + others), Corpus.of(target))[1]
    assert (report.exact, report.disguised, report.near, report.quoted) == (0, COUNT, 0, 0)


@pytest.mark.parametrize("kind", ["case", "<b> tags", "zero-width space", "Cyrillic look-alikes", "quoted-printable"])
def test_disguised_copies_are_dropped_within_a_corpus(kind, texts):
    target, dress, _ = texts
    twins = make_twins(kind, target, dress)
    assert drop_duplicates(Corpus.of(target + twins))[0].texts == target


def test_many_twins_of_one_target_are_all_removed(texts):
    target, dress, others = texts
    twins = [text for kind in KINDS if kind not in LEFT for text in make_twins(kind, target[:40], dress[:40])]
    kept, _ = remove_leaks(Corpus.of(twins + others), Corpus.of(target))
    assert kept.texts == others


def test_texts_of_one_template_stay():
    """Messages share openings, closings and whole sentences with slots: alike, but no copies."""
    messages = generate_messages(3_000, seed=5)
    order = random.Random(0).sample(range(3_000), 3_000)
    _, report = remove_leaks(messages.select(order[:2_000]), messages.select(order[2_000:]))
    assert report.removed < 0.03 * report.rows


def random_label_told(adversary, labels, target, truth):
    """Of the targets' labels, how many a nearest neighbour and a logistic regression get right."""
    for model in (KNeighborsClassifier(1), LogisticRegression(max_iter=2_000)):
        right = int((model.fit(adversary, labels).predict(target) == truth).sum())
        yield wilson(right, len(truth))


def test_a_random_label_can_not_be_told_although_each_target_has_a_twin():
    rng = np.random.default_rng(11)
    target = invented_texts(400, seed=21)
    dress = invented_texts(400, seed=22)
    kinds = rng.choice(list(KINDS), size=400)
    twins = [make_twins(kind, [text], [other])[0] for kind, text, other in zip(kinds, target, dress, strict=True)]
    others = invented_texts(800, seed=23)
    truth = rng.integers(0, 2, size=400)
    held = Corpus.of(twins + others, label=[*truth.tolist(), *rng.integers(0, 2, size=800).tolist()])
    encode = build_encoder("hashing", {"features": 512}).encode

    planted = random_label_told(encode(held.texts), held.column("label"), encode(target), truth)
    assert all(estimate.low > 0.55 for estimate in planted)

    kept, _ = remove_leaks(held, Corpus.of(target))
    kept = kept.select(np.flatnonzero(~vector_twins(encode(kept.texts), encode(target))))
    assert len(kept) >= 760
    cleaned = random_label_told(encode(kept.texts), kept.column("label"), encode(target), truth)
    assert all(estimate.low <= 0.5 <= estimate.high for estimate in cleaned)
