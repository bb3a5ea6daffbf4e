"""What stands beside the headline of the inversion game: identities and bounds of its metrics."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from unembed.corpora.corpus import Corpus
from unembed.corpora.words import build_vocabulary, word_sets
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Material
from unembed.games.inversion import InversionGame, InversionTruth
from unembed.games.inversion_scores import rarity
from unembed.games.threat import ADVERSARIES
from unembed.metrics import sets
from unembed.testing.toys import LeakyEncoder

WORDS = ("apple", "bridge", "candle", "dragon", "the", "1999")
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), min_size=2, max_size=8)


def truth_of(texts, **changes):
    vocabulary = build_vocabulary([" ".join(WORDS)], min_count=1)
    labels = word_sets([" ".join(t) for t in texts], vocabulary)
    return InversionTruth(labels, np.zeros((len(texts), 2)), vocabulary, None, **changes)


def guess_of(truth, texts):
    return word_sets([" ".join(t) for t in texts], truth.vocabulary).astype(np.float32)


def material(known, target):
    encoder = LeakyEncoder()
    known, target = Corpus.of(known), Corpus.of(target)
    return Material(
        target, known, encoder.encode(target.texts), encoder.encode(known.texts), encoder.encode,
        ADVERSARIES["insider"], 0,
    )  # fmt: skip


@given(TEXTS, st.data())
@settings(max_examples=40, deadline=None)
def test_every_metric_lies_between_0_and_1(texts, data):
    truth = truth_of(texts)
    said = [data.draw(st.lists(st.sampled_from(WORDS), max_size=5)) for _ in texts]
    scores = InversionGame().judge(truth, guess_of(truth, said), 0)
    for estimate in [*scores.secondary.values(), *(s.estimate for s in scores.slices)]:
        if not np.isnan(estimate.value):
            assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


@given(TEXTS)
@settings(max_examples=40, deadline=None)
def test_a_perfect_guess_scores_1_everywhere(texts):
    truth = truth_of(texts)
    scores = InversionGame().judge(truth, truth.labels.astype(np.float32), 0)
    content = bool((truth.labels @ truth.content.astype(int)).any())
    for name, estimate in scores.secondary.items():
        if content or name in ("f1", "precision", "recall"):
            assert np.isnan(estimate.value) or estimate.value == pytest.approx(1), name
    assert all(s.estimate.value == pytest.approx(1) for s in scores.slices)


@given(TEXTS, st.data(), st.randoms())
@settings(max_examples=30, deadline=None)
def test_the_order_of_words_means_nothing(texts, data, random):
    said = [data.draw(st.lists(st.sampled_from(WORDS), max_size=5)) for _ in texts]
    truth, shuffled = truth_of(texts), truth_of([random.sample(t, len(t)) for t in texts])
    one = InversionGame().judge(truth, guess_of(truth, said), 0)
    two = InversionGame().judge(shuffled, guess_of(truth, [random.sample(t, len(t)) for t in said]), 0)
    assert {k: str(v) for k, v in one.secondary.items()} == {k: str(v) for k, v in two.secondary.items()}


@given(TEXTS, st.data())
@settings(max_examples=30, deadline=None)
def test_weights_of_one_give_the_unweighted_counts(texts, data):
    truth = truth_of(texts)
    guess = guess_of(truth, [data.draw(st.lists(st.sampled_from(WORDS), max_size=5)) for _ in texts])
    ones = sets.set_counts(truth.labels, guess, weights=np.ones(len(WORDS)))
    assert np.array_equal(ones, sets.set_counts(truth.labels, guess))


def test_the_weights_are_those_of_equation_4_8():
    labels = csr_matrix(np.array([[1, 1, 0], [1, 0, 0], [1, 0, 0]]))
    assert rarity(labels) == pytest.approx([0, np.log(4 / 2), np.log(4 / 1)])


def test_weighted_metrics_by_hand():
    truth = truth_of([["apple", "bridge"], ["apple", "candle"], ["apple", "dragon"]])
    guess = guess_of(truth, [["apple", "bridge"], ["apple"], ["apple", "bridge"]])
    found = InversionGame().judge(truth, guess, 0).secondary
    # "apple" is in every target and weighs nothing, so only the first text shows something.
    assert found["weighted_recall"].value == pytest.approx(1 / 3)
    assert found["weighted_precision"].value == pytest.approx(1 / 3)
    assert found["content_recall_per_text"].value == pytest.approx((1 + 0.5 + 0.5) / 3)


def test_rare_words_weigh_more_than_frequent_ones():
    texts = [["apple", "bridge"]] + [["apple", "candle"]] * 3
    truth = truth_of(texts)
    rare = InversionGame().judge(truth, guess_of(truth, [["bridge"], [], [], []]), 0).secondary
    common = InversionGame().judge(truth, guess_of(truth, [["apple"], [], [], []]), 0).secondary
    assert rare["weighted_recall"].value > common["weighted_recall"].value
    assert rare["content_recall"].value == common["content_recall"].value


def test_share_of_texts_that_come_back():
    truth = truth_of([["apple", "bridge", "candle", "dragon"]] * 4 + [["the"]])
    guess = guess_of(truth, [["apple"], ["apple", "bridge"], ["apple", "bridge", "candle"], [], []])
    found = InversionGame().judge(truth, guess, 0).secondary
    assert found["texts_a_quarter_recovered"].value == pytest.approx(3 / 4)
    assert found["texts_half_recovered"].value == pytest.approx(2 / 4)
    assert found["texts_three_quarters_recovered"].value == pytest.approx(1 / 4)
    assert found["texts_half_recovered"].n == 4, "a text without a content word has no share"


def test_words_most_often_recovered_come_with_how_often_they_were_there():
    truth = truth_of([["apple", "the"], ["apple", "bridge"], ["apple", "bridge"]])
    guess = guess_of(truth, [["apple", "the"], ["apple"], ["bridge"]])
    listed = [s for s in InversionGame().judge(truth, guess, 0).slices if s.kind == "word"]
    assert [(s.name, s.estimate.n) for s in listed] == [("apple", 3), ("bridge", 2)]
    assert listed[0].estimate.value == pytest.approx(2 / 3)
    assert listed[0].estimate.method == "wilson"


def test_bands_and_classes_have_f1_and_recall():
    texts = [["apple", "1999"], ["bridge", "1999"]] * 15
    truth = truth_of(texts, classes=["other", "other", "other", "other", "", "numbers"])
    kinds = truth.vocabulary.words
    truth = truth_of(texts, classes=["numbers" if w == "1999" else "" if w == "the" else "other" for w in kinds])
    guess = guess_of(truth, [["apple"]] * 30)
    found = {(s.kind, s.name): s.estimate.value for s in InversionGame().judge(truth, guess, 0).slices}
    assert found["word class", "numbers"] == 0
    assert found["word class", "other"] == pytest.approx(0.5)
    assert found["word class, recall", "other"] == pytest.approx(0.5)
    assert {"word frequency", "word frequency, recall", "word"} <= {k for k, _ in found}


@pytest.mark.parametrize(("documents", "method"), [(2, "too few groups"), (6, "cluster jackknife")])
def test_texts_of_one_document_are_taken_together(documents, method):
    truth = truth_of([["apple"], ["bridge"]] * documents)
    groups = [i // 2 for i in range(2 * documents)]
    grouped = InversionTruth(truth.labels, truth.outside, truth.vocabulary, groups)
    scores = InversionGame().judge(grouped, guess_of(truth, [["apple"]] * len(groups)), 0)
    assert {e.method for n, e in scores.secondary.items() if not np.isnan(e.value)} == {method}


class TestDeal:
    def test_classes_are_of_the_targets(self):
        game = InversionGame(min_count=1, classes="rules", names=["Anna"])
        deal = game.deal(material(["old anna walked 12 miles"], ["There Anna walked 12 miles"]))
        found = dict(zip(deal.truth.vocabulary.words, deal.truth.classes, strict=True))
        assert found == {"old": "other", "anna": "names", "walked": "other", "12": "numbers", "miles": "other"}

    def test_only_scored_words_count(self):
        game = InversionGame(min_count=1, scored_words=["red", "castle"])
        deal = game.deal(material(["red house", "blue house"], ["red castle", "blue house"]))
        scores = game.judge(deal.truth, deal.truth.labels.astype(np.float32), 0)
        assert scores.parts.sum(axis=0).tolist() == [1, 1, 2], "castle is scored and missed, house and blue are not"

    def test_scored_words_nobody_knows_are_an_error(self):
        with pytest.raises(CannotMeasureError, match="scored_words"):
            InversionGame(min_count=1, scored_words=["castle"]).deal(material(["red house"], ["red castle"]))

    def test_a_missing_tagger_is_a_usage_error(self):
        with pytest.raises(UsageError):
            InversionGame(min_count=1, classes="tagger").deal(material(["red house"], ["red castle"]))


def test_words_beyond_what_the_encoder_reads_have_a_figure_of_their_own():
    """The second target is cut inside its third word, so that one is not read either."""
    texts = ["apple bridge", "apple bridge candles dragon"]
    played = replace(material(texts * 3, texts), seen=np.array([len(texts[0]), len("apple bridge cand")]))
    deal = InversionGame().deal(played)
    assert "33.3% of the targets' words lie beyond what the encoder reads and count as missed" in deal.notes
    read = word_sets(["apple bridge"] * 2, deal.truth.vocabulary).astype(np.float32)
    scores = InversionGame().judge(deal.truth, read, 0)
    assert scores.secondary["content_f1_seen"].value == 1
    assert scores.estimate().value == pytest.approx(2 * 4 / (4 + 6))
    unknown = InversionGame().deal(replace(played, seen=None))
    assert "content_f1_seen" not in InversionGame().judge(unknown.truth, read, 0).secondary
    assert not [note for note in unknown.notes if "beyond" in note]


def test_words_the_vocabulary_lacks_count_in_that_figure_where_they_were_read():
    texts = ["apple zebra", "apple bridge"]
    played = replace(material(["apple bridge"] * 4, texts), seen=np.array([len(texts[0]), len("apple")]))
    deal = InversionGame().deal(played)
    read = word_sets(["apple"] * 2, deal.truth.vocabulary).astype(np.float32)
    found = InversionGame().judge(deal.truth, read, 0).secondary["content_f1_seen"].value
    assert found == pytest.approx(2 * 2 / (2 + 3)), "apple and zebra were read of the first, apple of the second"
