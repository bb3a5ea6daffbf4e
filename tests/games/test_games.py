"""The questions: what is dealt, how it is judged, what the floors are."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.attribute import AttributeGame
from unembed.games.base import Material
from unembed.games.inversion import InversionGame
from unembed.games.keyword import KeywordGame
from unembed.games.play import play, status_of
from unembed.games.rows import random_like
from unembed.games.threat import ADVERSARIES, Capability, closure
from unembed.testing.toys import LeakyEncoder, toy_game, toy_material


def material(known, target, adversary="insider", **columns):
    encoder = LeakyEncoder()
    known = Corpus.of(known, **{k: v[0] for k, v in columns.items()})
    target = Corpus.of(target, **{k: v[1] for k, v in columns.items()})
    return Material(
        target, known, encoder.encode(target.texts), encoder.encode(known.texts), encoder.encode,
        ADVERSARIES[adversary], 0,
    )  # fmt: skip


class TestThreatModel:
    def test_queries_and_text_make_pairs(self):
        assert Capability.PAIRS in closure({Capability.QUERIES, Capability.EXTERNAL_CORPUS})
        assert Capability.PAIRS not in closure({Capability.QUERIES})

    def test_each_default_adversary_is_at_least_as_strong_as_the_one_before_but_for_public_text(self):
        insider, weights = (ADVERSARIES[a].capabilities for a in ("insider", "weights"))
        assert insider < weights

    def test_the_outsider_has_no_labels(self):
        assert ADVERSARIES["outsider"].missing({Capability.LABELS, Capability.VECTORS}) == [Capability.LABELS]


class TestInversion:
    def test_words_outside_the_vocabulary_count_as_missed(self):
        game = InversionGame(min_count=1)
        deal = game.deal(material(["red house", "blue house"], ["red castle"]))
        perfect = game.judge(deal.truth, deal.truth.labels.astype(np.float32), 0)
        assert perfect.secondary["content_recall"].value == pytest.approx(0.5)
        assert perfect.secondary["content_f1_in_vocabulary"].value == 1

    def test_the_vocabulary_comes_from_the_adversary_alone(self):
        deal = InversionGame(min_count=1).deal(material(["red house"], ["secret castle house"]))
        assert "castle" not in deal.knowledge.vocabulary.index

    def test_function_words_do_not_count_in_the_headline(self):
        game = InversionGame(min_count=1)
        deal = game.deal(material(["the house of the king"], ["the house of the king"]))
        words = deal.truth.vocabulary
        only_function = csr_matrix((~words.content)[None].astype(np.float32))
        scores = game.judge(deal.truth, only_function, 0)
        assert float(scores.statistic(scores.parts.sum(axis=0))) == 0
        assert scores.secondary["recall"].value > 0

    def test_prior_guess_is_the_best_constant_set(self):
        known = ["apple bridge"] * 8 + ["candle dragon"] * 2
        game = InversionGame(min_count=1)
        deal = game.deal(material(known, known))
        guess = game.prior_guess(deal.knowledge, 10)
        names = {deal.knowledge.vocabulary.words[c] for c in guess[0].indices}
        assert names == {"apple", "bridge"}

    def test_no_usable_word_is_an_error_not_a_zero(self):
        with pytest.raises(CannotMeasureError, match="no word that occurs"):
            InversionGame(min_count=3).deal(material(["red house"], ["blue house"]))

    def test_examples_name_right_words(self):
        game = InversionGame(min_count=1)
        deal = game.deal(material(["red house", "blue house"], ["red house"]))
        example = game.examples(deal.truth, deal.truth.labels.astype(np.float32), [0])[0]
        assert set(example.truth) == set(example.recovered) == {"red", "house"}


class TestKeyword:
    texts = tuple(f"{'apple' if i % 4 == 0 else 'pear'} tree number {i}" for i in range(80))

    def test_test_sets_are_balanced(self):
        game = KeywordGame(keywords=("apple",), samples=40)
        deal = game.deal(material(self.texts, self.texts))
        asked = deal.truth.asked[:, 0]
        assert deal.truth.present[asked, 0].mean() == 0.5

    def test_constant_answers_are_right_half_the_time(self):
        game = KeywordGame(keywords=("apple",), samples=40)
        deal = game.deal(material(self.texts, self.texts))
        scores = game.judge(deal.truth, game.prior_guess(deal.knowledge, 80), 0)
        assert float(scores.statistic(scores.parts.sum(axis=0))) == 0.5

    def test_announced_queries_are_the_ones_asked(self):
        game = KeywordGame(keywords=("apple", "pear"), samples=40)
        stuff = material(self.texts, self.texts)
        announced = set(game.queries(stuff.known, stuff.adversary, stuff.seed))
        asked = []
        recording = Material(
            **{**vars(stuff), "encode": lambda texts: (asked.extend(texts), LeakyEncoder().encode(texts))[1]}
        )
        game.deal(recording)
        assert set(asked) == announced
        assert len(asked) == len(set(asked)), "no text is encoded twice"

    def test_without_queries_training_is_balanced_and_nothing_is_asked(self):
        stuff = material(self.texts, self.texts)
        alone = Material(**{**vars(stuff), "adversary": _without_queries(stuff.adversary)})
        deal = KeywordGame(keywords=("apple",), samples=100).deal(alone)
        assert deal.queries == 0
        assert deal.knowledge.labels[0].mean() == 0.5

    @pytest.mark.parametrize("attack", ["keyword/svm", "keyword/mlp"])
    def test_stored_vectors_without_queries_can_be_attacked(self, attack):
        stuff = toy_material()
        alone = Material(**{**vars(stuff), "adversary": _without_queries(stuff.adversary)})
        game = toy_game("keyword")
        played = play(game, ATTACKS.get(attack)(seed=0), game.deal(alone), seed=0)
        assert played.check.passed
        assert played.excess.low > 0.1

    def test_an_absent_keyword_is_an_error_not_a_zero(self):
        with pytest.raises(CannotMeasureError, match="occurs in 0 of 80"):
            KeywordGame(keywords=("zebra",)).deal(material(self.texts, self.texts))

    def test_a_keyword_in_every_text_is_an_error(self):
        with pytest.raises(CannotMeasureError, match="80 of 80"):
            KeywordGame(keywords=("tree",)).deal(material(self.texts, self.texts))

    def test_no_keywords_is_a_usage_error(self):
        with pytest.raises(UsageError, match="needs keywords"):
            KeywordGame().deal(material(self.texts, self.texts))


class TestAttribute:
    def test_only_shared_classes_are_asked_about(self):
        known, target = ["x"] * 30, ["y"] * 30
        labels = (["a"] * 10 + ["b"] * 10 + ["c"] * 10, ["a"] * 10 + ["b"] * 10 + ["d"] * 10)
        deal = AttributeGame(column="who").deal(material(known, target, who=labels))
        assert {deal.truth.classes[c] for c in deal.truth.labels} == {"a", "b"}
        assert deal.knowledge.classes == ("a", "b", "c"), "that no target is 'c' is not for the adversary to know"
        assert len(deal.rows) == 20
        assert "10 of 30" in deal.notes[0]

    def test_labels_per_class_are_limited(self):
        labels = (["a"] * 30 + ["b"] * 30, ["a"] * 30 + ["b"] * 30)
        deal = AttributeGame(column="who", labels_per_class=7).deal(material(["x"] * 60, ["y"] * 60, who=labels))
        assert np.bincount(deal.knowledge.labels).tolist() == [7, 7]

    def test_numbers_are_cut_into_ranges(self):
        ages = [20 + i % 50 for i in range(200)]
        deal = AttributeGame(column="age").deal(material(["x"] * 200, ["y"] * 200, age=(ages, ages)))
        assert len(deal.truth.classes) == 4
        assert any("numeric" in note for note in deal.notes)

    def test_one_class_is_an_error(self):
        with pytest.raises(CannotMeasureError, match="two are needed"):
            AttributeGame(column="who").deal(material(["x"] * 20, ["y"] * 20, who=(["a"] * 20, ["a"] * 20)))

    def test_missing_labels_are_left_out(self):
        labels = (["a", "b", None, ""] * 10, ["a", "b", None, float("nan")] * 10)
        deal = AttributeGame(column="who").deal(material(["x"] * 40, ["y"] * 40, who=labels))
        assert len(deal.truth.labels) == 20


class TestPlay:
    def test_floors_are_at_chance_and_the_attack_above(self):
        game = toy_game("attribute")
        played = play(game, ATTACKS.get("attribute/linear")(seed=0), game.deal(toy_material()), seed=0)
        assert set(played.floors) == {"prior", "shuffled", "random"}
        assert all(0.3 < f.value < 0.7 for f in played.floors.values())
        assert status_of(played)[0] == "leak"

    def test_an_attack_that_can_not_learn_is_not_called_safe(self):
        stuff = toy_material()
        flat = Material(
            **{
                **vars(stuff),
                "known_vectors": np.zeros_like(stuff.known_vectors),
                "target_vectors": np.zeros_like(stuff.target_vectors),
            }
        )
        game = toy_game("attribute")
        played = play(game, ATTACKS.get("attribute/linear")(seed=0), game.deal(flat), seed=0)
        assert not played.check.passed
        assert status_of(played)[:2] == ("could-not-measure", "unknown")

    def test_random_vectors_look_like_the_real_ones(self):
        rng = np.random.default_rng(0)
        real = (rng.standard_normal((4000, 3)) * [1, 5, 0] + [0, 2, 7]).astype(np.float32)
        fake = random_like(real, rng)
        assert np.allclose(fake.mean(axis=0), real.mean(axis=0), atol=0.4)
        assert np.allclose(fake.std(axis=0), real.std(axis=0), atol=0.3)
        assert not np.allclose(fake, real)

    def test_random_sparse_vectors_keep_rows_sparse(self):
        real = csr_matrix(np.eye(20, 50, dtype=np.float32))
        fake = random_like(real, np.random.default_rng(0))
        assert fake.shape == real.shape
        assert fake.nnz <= real.nnz


def _without_queries(adversary):
    return type(adversary)(
        adversary.name, adversary.title, adversary.description, adversary.capabilities - {Capability.QUERIES}
    )


def test_random_vectors_leave_the_real_ones_alone():
    from scipy.sparse import random as random_sparse

    from unembed.games.rows import random_like

    vectors = random_sparse(40, 12, density=0.6, format="csr", random_state=0, dtype=np.float32)
    before = vectors.copy()
    random_like(vectors, np.random.default_rng(0))
    assert (vectors != before).nnz == 0
    assert np.array_equal(vectors.indptr, before.indptr)
