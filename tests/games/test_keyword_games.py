"""The keyword games: where keywords are put, what is dealt, how rankings and unsettled answers are judged."""

from dataclasses import replace

import numpy as np
import pytest

from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.corpora.substitution import contains_keyword
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Material
from unembed.games.keyword import EpochGuess, KeywordGame
from unembed.games.play import play
from unembed.games.reassembly import ReassemblyGame
from unembed.games.threat import ADVERSARIES
from unembed.testing.toys import TOY_WORDS, LeakyEncoder, toy_material

TARGETS = [f"{'knee' if i % 3 == 0 else 'elbow'} operation of patient {i}" for i in range(90)]
MENU = [f"the salad with sauce {i} was fine" for i in range(40)] + [f"we paid bill {i}" for i in range(40)]


def world(known=MENU, targets=TARGETS, adversary="outsider"):
    encoder = LeakyEncoder()
    target, own = Corpus.of(targets), Corpus.of(known)
    vectors = encoder.encode(target.texts), encoder.encode(own.texts)
    return Material(target, own, *vectors, encoder.encode, ADVERSARIES[adversary], 0)


class TestPlaces:
    def test_the_keyword_takes_the_place_of_the_word_and_nothing_else_changes(self):
        game = KeywordGame(keywords=("knee", "elbow"), samples=40, place="salad")
        deal = game.deal(world())
        texts = np.array(deal.knowledge.texts)
        for rows, labels, keyword in zip(deal.knowledge.rows, deal.knowledge.labels, game.keywords, strict=True):
            assert contains_keyword(texts[rows], [keyword])[:, 0].tolist() == labels.tolist()
            assert labels.mean() == 0.5
        assert all(" with sauce " in t and "salad" not in t for t in texts)

    def test_contrast_says_how_many_texts_without_a_keyword_hold_another(self):
        def others(contrast):
            deal = KeywordGame(keywords=("knee", "elbow"), samples=80, place="salad", contrast=contrast).deal(world())
            negative = deal.knowledge.rows[0][~deal.knowledge.labels[0]]
            texts = [deal.knowledge.texts[r] for r in negative]
            return contains_keyword(texts, ["elbow"])[:, 0].mean()

        assert others(0.0) == 0
        assert others(1.0) == 1
        assert 0.2 < others(0.5) < 0.8

    def test_texts_serve_several_keywords_and_are_encoded_once(self):
        game = KeywordGame(keywords=("knee", "elbow"), samples=80, place="salad")
        stuff = world()
        asked = []
        encode = stuff.encode
        deal = game.deal(replace(stuff, encode=lambda texts: (asked.extend(texts), encode(texts))[1]))
        assert sorted(asked) == sorted(game.queries(stuff.known, stuff.adversary, stuff.seed))
        assert len(asked) == len(set(asked)) == deal.queries <= 3 * 40

    def test_nouns_are_found_without_a_list(self):
        deal = KeywordGame(keywords=("knee", "elbow"), samples=40, place="nouns").deal(world())
        assert any("the knee with" in t.lower() for t in deal.knowledge.texts)

    @pytest.mark.parametrize(("place", "error"), [("cake", CannotMeasureError), ("two words", UsageError)])
    def test_a_place_that_is_not_there_is_named(self, place, error):
        with pytest.raises(error, match=place):
            KeywordGame(keywords=("knee", "elbow"), place=place).deal(world())


class TestWhatIsDealt:
    def test_the_vectors_under_attack_are_known_and_their_answers_are_not(self):
        stuff = world()
        deal = KeywordGame(keywords=("knee", "elbow"), samples=40, place="salad").deal(stuff)
        assert deal.knowledge.unlabelled is stuff.target_vectors
        assert np.array_equal(deal.knowledge.asked, deal.truth.asked)
        assert deal.knowledge.frequency.tolist() == [0, 0]

    def test_a_keyword_that_is_nowhere_counts_false_alarms_only_where_that_is_wanted(self):
        game = KeywordGame(keywords=("knee", "wrist"), samples=40, place="salad", absent=True, asked=20)
        deal = game.deal(world())
        assert deal.truth.asked[:, 1].sum() == 40
        assert not deal.truth.present[:, 1].any()
        silent = game.judge(deal.truth, np.full((90, 2), -1.0), 0)
        assert [s.estimate.value for s in silent.slices] == [0.5, 1.0]
        assert [s.floor for s in silent.slices] == [0.5, 1.0]

    @pytest.mark.parametrize(
        ("keyword", "message"),
        [
            ("wrist", "none of the adversary's: check its spelling"),
            ("salad", "nothing to find; leave it out, or count false alarms"),
            ("operation", "none without it to tell apart"),
        ],
    )
    def test_keywords_that_can_not_be_measured_say_why(self, keyword, message):
        with pytest.raises(CannotMeasureError, match=message) as error:
            KeywordGame(keywords=(keyword,), samples=40).deal(world())
        assert "patient" not in str(error.value), "no text of the corpus in a message"


class TestUnsettledAnswers:
    def test_the_headline_is_the_mean_over_epochs_and_the_best_stands_beside(self):
        game = KeywordGame(keywords=("knee",), samples=40, place="salad", contrast=0)
        truth = game.deal(world()).truth
        right = truth.present
        guess = EpochGuess(np.where(right, 1.0, -1.0), np.stack([right, ~right, right, right]))
        scores = game.judge(truth, guess, 0)
        assert float(scores.statistic(scores.parts.sum(axis=0))) == pytest.approx(0.75)
        assert scores.secondary["best_epoch_accuracy"].value == 1
        assert scores.slices[0].estimate.value == pytest.approx(0.75, abs=0.02)

    def test_rows_are_taken_from_all_epochs(self):
        guess = EpochGuess(np.arange(6.0).reshape(3, 2), np.arange(12).reshape(2, 3, 2) > 5)
        picked = guess[np.array([2, 0])]
        assert np.asarray(picked).tolist() == [[4, 5], [0, 1]]
        assert picked.decided.shape == (2, 2, 2)


class TestReassembly:
    words = TOY_WORDS[:20]

    def test_lists_of_a_leaky_encoder_hold_the_words_of_the_text(self):
        game = ReassemblyGame(keywords=self.words, samples=80, top=5)
        played = play(game, ATTACKS.get("keyword/aligned")(seed=0), game.deal(toy_material()), seed=0)
        assert played.check.passed
        assert played.estimate.value > 0.8
        assert played.excess.low > 0.2
        assert played.scores.secondary["first_word_right"].value > 0.9
        assert played.scores.secondary["balanced_word_accuracy"].value > 0.8

    def test_unsettled_answers_rank_by_their_last_scores(self):
        game = ReassemblyGame(keywords=("a1", "b2", "c3"), top=2)
        scores = np.array([[0.1, 0.9, 0.5]])
        assert game.ranking(EpochGuess(scores, scores[None] > 0)).tolist() == [[1, 2]]

    def test_texts_without_a_listed_word_are_not_asked_about(self):
        game = ReassemblyGame(keywords=self.words[:6], samples=40, top=3)
        stuff = toy_material()
        deal = game.deal(stuff)
        assert deal.truth.present.any(axis=1).all()
        assert len(deal.rows) == int(deal.vectors.shape[0]) < len(stuff.target)
        assert str(len(deal.rows)) in deal.notes[0]

    def test_a_list_is_proposed_from_the_adversarys_texts(self):
        listed = ReassemblyGame(propose=12).listed(toy_material().known)
        assert len(listed) == 12
        assert set(listed) <= set(TOY_WORDS)

    def test_announced_queries_are_the_ones_asked(self):
        game = ReassemblyGame(keywords=self.words, samples=20)
        stuff = toy_material()
        asked = []
        encode = stuff.encode
        game.deal(replace(stuff, encode=lambda texts: (asked.extend(texts), encode(texts))[1]))
        assert sorted(asked) == sorted(set(game.queries(stuff.known, stuff.adversary, stuff.seed)))

    def test_a_short_list_and_a_list_of_absent_words_are_errors(self):
        with pytest.raises(CannotMeasureError, match="give more words"):
            ReassemblyGame(keywords=("apple", "forest")).deal(toy_material())
        with pytest.raises(CannotMeasureError, match="0 of 200 target texts hold a word"):
            ReassemblyGame(keywords=("qqa", "qqb", "qqc"), top=2).deal(toy_material())
