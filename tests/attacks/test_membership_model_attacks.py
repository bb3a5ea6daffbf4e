"""Attacks on models' answers: each reads what its section says, in the right direction, and does not believe noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.attacks.membership.canary_exposure import CanaryExposure
from unembed.attacks.membership.class_thresholds import ClassThresholds
from unembed.attacks.membership.extraction import Extraction
from unembed.attacks.membership.features import confidence, log_odds, modified_entropy, rank
from unembed.attacks.membership.likelihood_ratio import LikelihoodRatio
from unembed.attacks.membership.shadow_classifier import ShadowClassifier
from unembed.attacks.membership.thresholds import best_threshold
from unembed.attacks.membership.user_aggregates import UserAggregates
from unembed.errors import CannotMeasureError, UnknownNameError, UsageError
from unembed.games.membership_model import MembershipModelGame, dealt
from unembed.games.model_answers import OF_CANARIES, OF_TEXTS, Answered, Columns
from unembed.testing.trials import toy_trials

GAME = MembershipModelGame()
P = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
LABELS = np.array([0, 2, 1])


def test_features_are_those_of_the_formulas():
    assert confidence(P, LABELS).tolist() == [0.7, 0.3, 0.25]
    assert rank(P, LABELS).tolist() == [1, 2, 3]
    own = -0.3 * np.log(0.7) - 0.2 * np.log(0.2) - 0.1 * np.log(0.1)
    assert modified_entropy(P, LABELS)[0] == pytest.approx(own)
    assert np.allclose(log_odds(P, LABELS), np.log([0.7 / 0.3, 0.3 / 0.7, 0.25 / 0.75]))


def test_sure_and_right_has_the_least_modified_entropy_and_sure_and_wrong_the_most():
    sure, unsure, wrong = np.array([[0.99, 0.01], [0.5, 0.5], [0.01, 0.99]])
    found = modified_entropy(np.stack([sure, unsure, wrong]), np.zeros(3, dtype=np.int64))
    assert found[0] < found[1] < found[2]
    assert np.isfinite(modified_entropy(np.array([[0.0, 1.0], [1.0, 0.0]]), np.zeros(2, dtype=np.int64))).all()


def test_log_odds_tell_confidences_apart_that_are_one_but_for_rounding():
    p = np.array([[1.0, 1e-12], [1.0, 1e-9]], dtype=np.float32).astype(np.float64)
    first, second = log_odds(p, np.zeros(2, dtype=np.int64))
    assert first - second == pytest.approx(np.log(1000), rel=1e-3)


@given(st.lists(st.tuples(st.integers(-5, 5), st.booleans()), min_size=1, max_size=40))
def test_no_threshold_tells_better_than_the_best(pairs):
    values, members = np.array([float(v) for v, _ in pairs]), np.array([m for _, m in pairs])

    def right(threshold):
        return (values[members] >= threshold).sum() + (values[~members] < threshold).sum()

    assert right(best_threshold(values, members)) == max(right(t) for t in np.arange(-6, 7) + 0.5)


def classified(phi, members, labels, texts, *, classes=2, models=None, owners=None):
    """Answers of a classifier with these log-odds for the right class."""
    own = 1 / (1 + np.exp(-np.asarray(phi, dtype=float)))
    p = np.full((len(own), classes), ((1 - own) / (classes - 1))[:, None])
    p[np.arange(len(own)), labels] = own
    users = texts if owners is None else owners
    rows = np.concatenate([np.stack([labels, texts, users], axis=1), p], axis=1)
    models = np.zeros(len(own), dtype=np.int64) if models is None else models
    return Answered(rows, members, models, None if owners is None else [f"u{o}" for o in owners])


def world(n, seed, *, lift, first=0):
    """Two classes, of which the second is answered four times as surely by every model."""
    rng = np.random.default_rng(seed)
    labels, members = np.arange(n) % 2, rng.permutation(np.arange(n) % 2 == 0)
    phi = 4.0 * labels + lift * members + 0.5 * rng.standard_normal(n)
    return classified(phi, members, labels, first + np.arange(n))


def played(attack, deal):
    return GAME.judge(deal.truth, attack.fit(deal.knowledge).run(deal.vectors), 0)


@pytest.mark.parametrize("feature", ["confidence", "entropy"])
def test_each_class_has_a_threshold_of_its_own(feature):
    deal = dealt(Columns.of_classifier(2), world(600, 0, lift=2, first=600), world(600, 1, lift=2))
    assert played(ClassThresholds(feature=feature), deal).point > 0.95, "no common threshold could tell both classes"


def test_ranks_tell_what_is_right_where_it_was_learnt_only():
    rng = np.random.default_rng(0)

    def right_where_learnt(seed, first):
        members = np.random.default_rng(seed).permutation(np.arange(400) % 2 == 0)
        phi = np.where(members, 2.0, rng.choice([-2.0, 2.0], size=400))
        return classified(phi, members, rng.integers(0, 3, size=400), first + np.arange(400), classes=3)

    deal = dealt(Columns.of_classifier(3), right_where_learnt(1, 400), right_where_learnt(2, 0))
    scores = played(ClassThresholds(feature="rank"), deal)
    assert scores.point == pytest.approx(0.75, abs=0.05), "half of the others are right by chance"


def difficult(pool, seed=0):
    """Texts of very different difficulty: alone, an answer says little of whether the text was learnt from."""
    rng = np.random.default_rng(seed)
    hardness = 3 * rng.standard_normal(800)

    def asked(texts, count, key):
        draw = np.random.default_rng(key)
        rows = np.tile(texts, count)
        members = np.concatenate([draw.permutation(np.arange(len(texts)) % 2 == 0) for _ in range(count)])
        phi = hardness[rows] + 2.0 * members + 0.5 * draw.standard_normal(len(rows))
        models = np.repeat(np.arange(count), len(texts))
        return classified(phi, members, rows % 2, rows, models=models)

    targets, own = np.arange(400), np.arange(400, 800)
    beside = None
    if pool == "own":
        phi = np.concatenate([hardness[targets] + 0.5 * rng.standard_normal(400) for _ in range(12)])
        texts = np.tile(targets, 12)
        beside = classified(phi, np.zeros(len(phi), dtype=bool), texts % 2, texts).rows
    shadows = asked(own if pool == "own" else targets, 12, 5)
    return dealt(Columns.of_classifier(2), shadows, asked(targets, 1, 6), beside=beside)


@pytest.mark.parametrize("pool", ["own", "targets"])
def test_the_likelihood_ratio_holds_each_text_against_what_others_answer_to_it(pool):
    deal = difficult(pool)
    alone, ratio = played(ClassThresholds(), deal), played(LikelihoodRatio(), deal)
    assert alone.point < 0.75
    assert ratio.point > 0.9
    low = "found_at_1_percent_false_alarms"
    assert ratio.secondary[low].value > 2 * alone.secondary[low].value + 0.2


def test_without_answers_about_the_texts_the_ratio_falls_back_to_all_of_them():
    deal = dealt(Columns.of_classifier(2), world(600, 0, lift=6, first=600), world(600, 1, lift=6))
    assert played(LikelihoodRatio(), deal).point > 0.8


@pytest.mark.parametrize("attack", [ClassThresholds, ShadowClassifier, LikelihoodRatio])
def test_a_class_that_no_shadow_model_knows_is_answered_all_the_same(attack):
    shadows = world(400, 0, lift=3, first=400)
    shadows.rows[:, 0] = 0
    deal = dealt(Columns.of_classifier(2), shadows, world(200, 1, lift=3))
    guess = attack().fit(deal.knowledge).run(deal.vectors)
    assert np.isfinite(guess.scores).all()
    assert set(guess.said) <= {0.0, 1.0}


def test_users_are_told_by_all_of_their_texts_together():
    rng = np.random.default_rng(0)

    def of_users(seed, first):
        draw = np.random.default_rng(seed)
        owners = np.repeat(np.arange(80), 10)
        members = draw.permutation(np.arange(80) % 2 == 0)[owners]
        phi = 0.8 * members + rng.standard_normal(800)
        return classified(phi, members, owners % 2, first + np.arange(800), owners=owners)

    deal = dealt(Columns.of_classifier(2), of_users(1, 800), of_users(2, 0))
    guess = UserAggregates().fit(deal.knowledge).run(deal.vectors)
    assert len(np.unique(guess.scores.round(9))) == 80, "one verdict for all texts of a user"
    whole, single = played(UserAggregates(), deal), played(ClassThresholds(), deal)
    assert whole.secondary["users_balanced_accuracy"].value > 0.7
    assert whole.secondary["users_auc"].value > single.secondary["auc"].value + 0.1
    assert single.secondary["users_auc"].value > single.secondary["auc"].value + 0.1, "the mean over texts"


def about_texts(n, seed, column, lift):
    """What models make of texts, of which the named column alone tells who was in."""
    rng = np.random.default_rng(seed)
    members = rng.permutation(np.arange(n) % 2 == 0)
    tokens = rng.integers(20, 200, size=n)
    usual = tokens * rng.uniform(2, 4, size=n)
    rows = np.stack([usual, tokens, usual, usual, usual], axis=1) * (1 + 0.02 * rng.standard_normal((n, 5)))
    place = OF_TEXTS.names.index(column)
    rows[:, place] *= 1 + lift * members
    return Answered(rows, members, np.zeros(n, dtype=np.int64))


@pytest.mark.parametrize(("ranking", "column"), [("ratio", "second"), ("zlib", "zlib"), ("lower", "lower")])
def test_each_ranking_reads_its_own_column(ranking, column):
    for other in ("second", "zlib", "lower"):
        deal = dealt(OF_TEXTS, about_texts(400, 0, other, 0.2), about_texts(400, 1, other, 0.2))
        found = played(Extraction(ranking=ranking), deal).point
        assert (found > 0.9) == (other == column)


def test_perplexity_is_counted_per_token():
    deal = dealt(OF_TEXTS, about_texts(400, 0, "log_perplexity", -0.8), about_texts(400, 1, "log_perplexity", -0.8))
    assert played(Extraction(ranking="perplexity"), deal).point > 0.9


def test_chance_passes_the_threshold_of_a_canary_as_often_as_stated():
    rng = np.random.default_rng(0)
    rank_ = np.log2(rng.integers(1, 100_001, size=20_000))
    rows = np.stack([rank_, rank_, rank_, np.full(20_000, np.log2(100_000))], axis=1)
    members = np.arange(20_000) < 10
    deal = dealt(OF_CANARIES, None, Answered(rows, members, np.zeros(20_000, dtype=np.int64)))
    for rate in (0.05, 0.001):
        said = CanaryExposure(false_alarm=rate).fit(deal.knowledge).run(deal.vectors).said
        assert said.mean() == pytest.approx(rate, rel=0.5)


def test_what_an_attack_does_not_know_or_can_not_read_is_one_line():
    deal = toy_trials("membership-model", "leaky")
    with pytest.raises(UnknownNameError, match="did you mean 'entropy'"):
        ClassThresholds(feature="entropie").fit(deal.knowledge)
    with pytest.raises(UnknownNameError, match="ranking"):
        Extraction(ranking="gzip").fit(deal.knowledge)
    with pytest.raises(CannotMeasureError, match="not the 'log_perplexity'"):
        Extraction().fit(deal.knowledge)
    with pytest.raises(CannotMeasureError, match="not the 'possible'"):
        CanaryExposure().fit(deal.knowledge).run(deal.vectors)
    with pytest.raises(UsageError, match="between 0 and 1"):
        CanaryExposure(false_alarm=0).fit(deal.knowledge)
    texts = toy_trials("membership-model", "leaky", {"answers": "texts"})
    with pytest.raises(CannotMeasureError, match="not the 'p'"):
        ClassThresholds().fit(texts.knowledge)
