"""Whose texts a model learnt from: the deal of an audit, judged by text and by user, and what can't be asked."""

from dataclasses import replace

import numpy as np
import pytest

from unembed.artifacts import Artifacts
from unembed.attacks.membership.class_thresholds import ClassThresholds
from unembed.attacks.membership.likelihood_ratio import LikelihoodRatio
from unembed.corpora.corpus import Corpus
from unembed.errors import CannotMeasureError, UnknownNameError, UsageError
from unembed.games.asking import Audited, Question, Refused
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_model import MembershipModelGame, ModelTrials, dealt
from unembed.games.membership_model_trials import ClassifierTrials, Side
from unembed.games.model_answers import OF_TEXTS, Answered, Columns
from unembed.games.play import play, status_of
from unembed.shadows.classifiers import LinearTrainer, classifier_trainer
from unembed.testing.toys import LeakyEncoder, toy_corpus, toy_material


def game(**params):
    return MembershipModelGame(column="side", **{"shadows": 4, "models": 2, "classifier": "linear", **params})


@pytest.fixture(scope="module")
def noisy():
    """Texts whose vectors and labels are chance: a classifier can only learn them by heart."""
    rng = np.random.default_rng(0)
    sides = [rng.standard_normal((n, 200)).astype(np.float32) for n in (200, 240)]
    material = replace(toy_material(known=240, targets=200), target_vectors=sides[0], known_vectors=sides[1])
    return labelled(material, lambda n: rng.choice(["a", "b"], n).tolist())


def labelled(material, labels):
    sides = (
        Corpus(side.texts, side.ids, {"side": labels(len(side))}, side.name)
        for side in (material.target, material.known)
    )
    target, known = sides
    return replace(material, target=target, known=known)


def test_what_was_learnt_by_heart_is_recognised(noisy):
    deal = game().deal(noisy)
    played = play(game(), ClassThresholds(), deal, 1)
    assert status_of(played)[:2] == ("leak", "moderate")
    assert played.estimate.value > 0.8
    assert played.floor.value == pytest.approx(0.5, abs=0.06)
    assert any("right in 100.0% of what they learnt from" in note for note in deal.notes)
    assert "'side'" in MembershipModelGame.claim(
        replace_subject(played.scores.secondary, "side", played.estimate, played.floor)
    )


def replace_subject(secondary, subject, estimate, floor):
    class Found:
        pass

    found = Found()
    found.secondary, found.subject, found.estimate, found.floor = secondary, subject, estimate, floor
    return found


def test_half_of_the_texts_are_in_and_every_model_has_a_half_of_its_own(noisy):
    deal = game().deal(noisy)
    texts = deal.knowledge.columns.numbers(deal.vectors, "text")
    members = deal.truth.inside.reshape(2, 200)
    assert members.sum(axis=1).tolist() == [100, 100]
    assert not np.array_equal(*members)
    assert deal.rows.tolist() == texts.tolist() == [*range(200), *range(200)]
    own = deal.knowledge.columns.numbers(deal.knowledge.vectors, "text")
    assert own.min() >= 200, "shadow models learn from the adversary's own texts"
    assert deal.pairs == len(np.unique(own))
    for model in range(4):
        assert deal.knowledge.members[deal.knowledge.models == model].mean() == pytest.approx(0.5, abs=0.01)
    assert deal.knowledge.beside.shape == (4 * 200, deal.vectors.shape[1])


def test_shadow_models_of_the_texts_asked_about_hold_each_in_half(noisy):
    deal = game(pool="targets", shadows=6).deal(noisy)
    texts = deal.knowledge.columns.numbers(deal.knowledge.vectors, "text")
    assert set(texts) == set(range(200))
    assert deal.knowledge.beside is None
    share = np.bincount(texts, weights=deal.knowledge.members) / np.bincount(texts)
    assert 0.1 < share.std() < 0.4
    scores = game().judge(deal.truth, LikelihoodRatio().fit(deal.knowledge).run(deal.vectors), 0)
    assert scores.point > 0.8


def test_the_figures_are_those_of_scikit_learn(noisy):
    """Twenty lines beside it: taking right answers for members is right as often as the two accuracies differ."""
    from sklearn.linear_model import LogisticRegression

    vectors = np.random.default_rng(1).standard_normal((120, 40)).astype(np.float32)
    labels = np.arange(120) % 2
    side = Side(vectors, labels)
    trials = ClassifierTrials(side, side, 2, shadows=2, models=1, seed=3)
    tables = trials.tables(LinearTrainer(strength=1e4))
    members = tables["targets_members"].astype(bool)
    scaled = (vectors - vectors[members].mean(axis=0)) / vectors[members].std(axis=0)
    model = LogisticRegression(C=1e4, max_iter=500).fit(scaled[members], labels[members])
    p = model.predict_proba(np.clip(scaled, -10, 10))
    assert np.allclose(tables["targets_rows"][:, 3:], p, atol=0.02)
    right = p.argmax(axis=1) == labels
    guess = InOrOutGuess(right.astype(float), right.astype(float))
    wanted = (1 + right[members].mean() - right[~members].mean()) / 2
    assert game().judge(ModelTrials(members), guess, 0).point == pytest.approx(wanted)


def test_users_are_in_or_out_as_a_whole_and_judged_as_a_whole(noisy):
    owners = [f"user {i // 5}" for i in range(200)]
    material = replace(noisy, groups=owners, known_groups=[f"other {i // 6}" for i in range(240)])
    deal = game().deal(material)
    assert deal.truth.units is not None
    for unit in set(deal.truth.units):
        rows = [i for i, u in enumerate(deal.truth.units) if u == unit]
        assert len(set(deal.truth.inside[rows])) == 1
    guess = ClassThresholds().fit(deal.knowledge).run(deal.vectors)
    scores = game().judge(deal.truth, guess, 0)
    assert scores.secondary["users_balanced_accuracy"].value >= scores.point
    assert scores.secondary["users_auc"].n == 2 * 40
    assert "users_auc" not in game().judge(game().deal(noisy).truth, guess, 0).secondary


def test_most_of_the_texts_decide_about_a_user():
    units = [("ann", 0)] * 3 + [("bob", 0)] * 3 + [("eve", 0)] * 2
    truth = ModelTrials(np.array([True] * 3 + [False] * 5), [u for u, _ in units], {}, units=units)
    said = np.array([1, 1, 0, 0, 1, 0, 1, 0], dtype=float)
    found = game().judge(truth, InOrOutGuess(said, said), 0).secondary
    assert found["users_found"].value == 1
    assert found["users_false_alarms"].value == 0, "a tie is not most of them"


def test_several_attacks_train_the_models_once(noisy, tmp_path, monkeypatch):
    material = replace(noisy, keep=Artifacts(tmp_path))
    first = game().deal(material)
    monkeypatch.setattr(ClassifierTrials, "tables", None)
    again = game().deal(material)
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.knowledge.vectors, again.knowledge.vectors)
    with pytest.raises(TypeError):
        game(shadows=5).deal(material)


def test_sparse_vectors_and_quantities_are_asked_about_too():
    from scipy.sparse import csr_matrix

    corpus = toy_corpus(300)
    vectors = csr_matrix(np.asarray(LeakyEncoder().encode(corpus.texts)))
    target, known = corpus.select(range(150)), corpus.select(range(150, 300))
    material = replace(toy_material(), target=target, known=known, target_vectors=vectors[:150],
                       known_vectors=vectors[150:])  # fmt: skip
    deal = MembershipModelGame(column="weight", classifier="linear", shadows=2, models=1).deal(material)
    assert deal.knowledge.columns.classes == 4
    assert any("cut into 4 ranges" in note for note in deal.notes)


def test_a_model_that_learns_nothing_by_heart_gives_nothing_away():
    class Steady:
        def train(self, vectors, labels, classes, seed):
            return lambda asked: np.full((asked.shape[0], classes), 1 / classes)

    rng = np.random.default_rng(0)
    sides = [Side(rng.standard_normal((200, 8)).astype(np.float32), np.arange(200) % 2) for _ in range(2)]
    deal = ClassifierTrials(*sides, 2, shadows=4, models=2).deal(Steady())
    for attack in (ClassThresholds(), LikelihoodRatio()):
        played = play(game(), attack, deal, 1)
        assert status_of(played)[0] != "leak"
        assert played.estimate.value == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"column": ""}, "--attribute"),
        ({"answers": "canaries"}, "trains a classifier"),
        ({"pool": "both"}, "'own' or 'targets'"),
        ({"shadows": 0}, "'shadows'"),
        ({"epochs": 0}, "'epochs'"),
    ],
)
def test_parameters_that_make_no_game_are_one_line(noisy, params, said):
    with pytest.raises(UsageError, match=said):
        MembershipModelGame(**{"column": "side", **params}).deal(noisy)


def test_what_can_not_be_asked_is_said(noisy):
    with pytest.raises(UnknownNameError, match="classifier"):
        classifier_trainer("forest")
    with pytest.raises(CannotMeasureError, match="has 1 value"):
        game().deal(labelled(noisy, lambda n: ["a"] * n))
    few = replace(noisy, known=noisy.known.select(range(8)), known_vectors=noisy.known_vectors[:8])
    with pytest.raises(CannotMeasureError, match="8 texts of the adversary"):
        game().deal(labelled(few, lambda n: ["a", "b"] * (n // 2)))


def answered(members, rows=None):
    rows = np.ones((len(members), 5)) if rows is None else rows
    return Answered(rows, np.array(members, dtype=bool), np.zeros(len(members), dtype=np.int64))


def test_answers_that_nothing_can_be_learnt_from_are_refused():
    half = [i % 2 == 0 for i in range(40)]
    with pytest.raises(CannotMeasureError, match="members alone"):
        dealt(OF_TEXTS, answered([True] * 40), answered(half))
    with pytest.raises(CannotMeasureError, match="members alone"):
        dealt(OF_TEXTS, None, answered(half))
    with pytest.raises(CannotMeasureError, match="0 with others"):
        dealt(OF_TEXTS, answered(half), answered([True] * 40))
    with pytest.raises(CannotMeasureError, match="5 finite numbers"):
        dealt(OF_TEXTS, answered(half), answered(half, np.full((40, 5), np.nan)))
    with pytest.raises(CannotMeasureError, match="5 finite numbers"):
        dealt(OF_TEXTS, answered(half, np.ones((40, 3))), answered(half))


def test_rates_that_so_few_texts_can_not_show_are_not_given():
    deal = dealt(OF_TEXTS, answered([i % 2 == 0 for i in range(40)]), answered([i % 2 == 0 for i in range(40)]))
    assert any("1 % false alarms can't be seen with 20" in note for note in deal.notes)
    scores = game().judge(deal.truth, InOrOutGuess.nobody(40), 0)
    assert np.isnan(scores.secondary["found_at_1_percent_false_alarms"].value)


def test_a_question_follows_from_every_column():
    corpus = toy_corpus(10)
    name = "membership-model"
    audited = Audited(corpus, corpus, ("side", "weight"), (name,), {}, {name: {"models": 1}}, True)
    asked = list(MembershipModelGame.for_audit(audited))
    assert [q.game.subject for q in asked if isinstance(q, Question)] == ["side", "weight"]
    assert all(q.game.models == 1 for q in asked)
    none = list(MembershipModelGame.for_audit(replace(audited, columns=())))
    assert isinstance(none[0], Refused)
    assert "--attribute" in none[0].reason


def test_columns_read_what_they_name():
    columns = Columns.of_classifier(3)
    rows = np.array([[2, 7, 4, 0.1, 0.2, 0.7], [9, -1, 0, 2.0, -1.0, 0.5]])
    assert columns.labels(rows).tolist() == [2, 2], "a row that is no answer of a model has a class all the same"
    assert columns.probabilities(rows).tolist() == [[0.1, 0.2, 0.7], [1.0, 0.0, 0.5]]
    assert columns.numbers(rows, "text").tolist() == [7, -1]
