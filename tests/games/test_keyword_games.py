"""The keyword games: where keywords are put, what is dealt, how rankings and unsettled answers are judged."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.corpora.substitution import contains_keyword
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.base import Material
from unembed.games.keyword import EpochGuess, KeywordGame, KeywordTruth
from unembed.games.keyword_scores import store_scores
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

    @pytest.mark.parametrize("place", ["salad", None])
    def test_it_is_known_of_every_text_which_one_it_was_made_from(self, place):
        deal = KeywordGame(keywords=("knee", "elbow"), samples=40, place=place).deal(world())
        made, origins = deal.knowledge.texts, deal.knowledge.origins
        for text, origin in zip(made, origins, strict=True):
            before, after = MENU[origin].split(), text.split()
            assert sum(a != b for a, b in zip(before, after, strict=True)) <= 1
        for rows in deal.knowledge.rows:
            assert len(np.unique(origins[rows])) <= len(rows) / 2 + 1, "a text stands beside its copy"

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
        assert deal.knowledge.frequency.tolist() == [0, 0]

    def test_a_keyword_that_is_nowhere_counts_false_alarms_only_where_that_is_wanted(self):
        game = KeywordGame(keywords=("knee", "wrist"), samples=40, place="salad", absent=True, asked=20)
        deal = game.deal(world())
        assert deal.truth.asked[:, 1].sum() == 40
        assert not deal.truth.present[:, 1].any()
        silent = game.judge(deal.truth, np.full((90, 2), -1.0), 0)
        balanced = [s for s in silent.slices if s.kind == "keyword"]
        assert [s.estimate.value for s in balanced] == [0.5, 1.0]
        assert [s.floor for s in balanced] == [0.5, 1.0]
        assert {s.name for s in silent.slices if s.kind != "keyword"} == {"knee"}, "nothing to find of the other"

    @pytest.mark.parametrize(
        ("keyword", "message"),
        [
            ("wrist", "none of the adversary's: check its spelling"),
            ("salad", "nothing to find; leave it out, or count false alarms"),
            ("operation", "nothing to tell apart"),
        ],
    )
    def test_keywords_that_can_not_be_measured_say_why(self, keyword, message):
        with pytest.raises(CannotMeasureError, match=message) as error:
            KeywordGame(keywords=(keyword,), samples=40).deal(world())
        assert "patient" not in str(error.value), "no text of the corpus in a message"


def parts_of(knowledge):
    """Every part of what is dealt, in a form that can be compared."""
    for part in fields(knowledge):
        value = getattr(knowledge, part.name)
        yield part.name, [np.asarray(v).tolist() for v in (value if isinstance(value, tuple) else (value,))]


class TestNothingOfTheTruthIsDealt:
    """The same vectors with other texts behind them: whatever is dealt must stay as it is."""

    games = (
        KeywordGame(keywords=("apple", "forest", "violin"), samples=40),
        ReassemblyGame(keywords=TOY_WORDS[:8], samples=20, top=3),
    )

    @pytest.mark.parametrize("game", games, ids=lambda game: game.facts.name)
    @pytest.mark.parametrize("adversary", ["insider", "outsider"])
    @settings(max_examples=3, deadline=None)
    @given(seed=st.integers(0, 10**6))
    def test_other_target_texts_change_the_truth_and_nothing_else(self, game, adversary, seed):
        stuff = toy_material(known=120, targets=200, adversary=ADVERSARIES[adversary])
        order = np.random.default_rng(seed).permutation(len(stuff.target))
        one, two = game.deal(stuff), game.deal(replace(stuff, target=stuff.target.select(order)))
        assert not np.array_equal(one.truth.present, two.truth.present)
        assert dict(parts_of(one.knowledge)) == dict(parts_of(two.knowledge))
        assert np.array_equal(one.vectors, two.vectors)
        assert (one.pairs, one.queries, one.rows) == (two.pairs, two.queries, two.rows)


class TestQueriesAndTraces:
    def test_queries_are_the_distinct_texts_that_are_not_the_adversarys_own(self):
        stuff = world()
        deal = KeywordGame(keywords=("knee", "elbow"), samples=40).deal(stuff)
        asked = set(deal.knowledge.texts) - set(stuff.known.texts)
        assert deal.queries == len(asked) > 0
        assert deal.pairs == len(set(deal.knowledge.texts) & set(stuff.known.texts))

    def test_without_query_access_nothing_is_asked(self):
        stuff = world(known=TARGETS[:60], targets=TARGETS[60:])
        deal = KeywordGame(keywords=("knee",), samples=40, substitution="none").deal(stuff)
        assert deal.queries == 0
        assert set(deal.knowledge.texts) <= set(stuff.known.texts)

    def test_texts_whose_vectors_show_no_trace_of_the_keyword_teach_nothing(self):
        stuff = world(known=[f"bill{i} number{i} came and was paid in the end" for i in range(80)])

        def short_sighted(texts):
            return LeakyEncoder().encode([" ".join(text.split()[:3]) for text in texts])

        cut = replace(stuff, encode=short_sighted, known_vectors=short_sighted(stuff.known.texts))
        game = KeywordGame(keywords=("knee", "elbow"), samples=80)
        deal = game.deal(cut)
        for rows, labels in zip(deal.knowledge.rows, deal.knowledge.labels, strict=True):
            with_it, without = ({v.tobytes() for v in deal.knowledge.vectors[rows[labels == k]]} for k in (True, False))
            assert not with_it & without
            assert 2 <= labels.sum() < 60
        assert "their vectors are the same with the keyword and without it" in deal.notes[0]
        assert not game.deal(stuff).notes

    def test_where_no_text_shows_a_trace_all_are_kept(self):
        stuff = world()
        blind = replace(stuff, encode=lambda texts: np.ones((len(texts), 48), dtype=np.float32))
        blind = replace(blind, known_vectors=blind.encode(stuff.known.texts))
        deal = KeywordGame(keywords=("knee",), samples=40).deal(blind)
        assert len(deal.knowledge.rows[0]) == 80


class TestTheWholeStore:
    """What the attack finds among all texts, at the share of them that hold the word."""

    def figures(self, scores, present, **options):
        options = {"groups": None, "said": (scores > 0).astype(float), **options}
        keywords = tuple(f"word{c}" for c in range(present.shape[1]))
        return store_scores(keywords, present, scores, options["said"], options["groups"], 0)

    @given(st.integers(0, 10**6), st.integers(1, 40), st.integers(0, 4))
    @settings(max_examples=30)
    def test_average_precision_is_that_of_scikit_learn_ties_or_not(self, seed, holding, digits):
        rng = np.random.default_rng(seed)
        present = (np.arange(80) < holding)[:, None]
        scores = np.round(rng.standard_normal((80, 1)) + present, digits)
        found, slices = self.figures(scores, present)
        wanted = average_precision_score(present[:, 0], scores[:, 0])
        assert found["average_precision"].value == pytest.approx(wanted)
        assert found["prevalence"].value == pytest.approx(holding / 80)
        assert slices[0].floor == pytest.approx(holding / 80)
        assert {s.kind for s in slices} == {"keyword, average precision", "keyword, precision among first n"}

    def test_a_perfect_ranking(self):
        present = np.arange(1000)[:, None] < 20
        found, _ = self.figures(np.where(present, 1.0, -1.0), present)
        for name in ("average_precision", "precision_among_first_n", "precision_of_yes", "recall_of_yes"):
            assert found[name].value == 1
        assert found["looked_through_to_find_half"].value == pytest.approx(0.01)
        assert found["looked_through_to_find_nine_tenths"].value == pytest.approx(0.018)

    def test_one_score_for_all_texts_finds_what_chance_finds(self):
        present = np.arange(1000)[:, None] < 20
        found, _ = self.figures(np.ones((1000, 1)), present)
        for name in ("average_precision", "precision_among_first_n", "precision_of_yes", "prevalence"):
            assert found[name].value == pytest.approx(0.02)
        assert found["looked_through_to_find_half"].value == pytest.approx(0.5, abs=0.03)
        assert found["recall_of_yes"].value == 1

    def test_balanced_accuracy_and_precision_tell_different_stories_of_a_rare_word(self):
        rng = np.random.default_rng(0)
        present = (np.arange(4000) < 40)[:, None]
        scores = rng.standard_normal((4000, 1)) + 3 * present - 1.5
        truth = KeywordTruth(present, np.ones_like(present), ("word",), None)
        judged = KeywordGame(keywords=("word",)).judge(truth, scores, 0)
        assert judged.secondary["recall_of_yes"].value > 0.85
        assert judged.secondary["precision_of_yes"].value < 0.2

    def test_intervals_hold_their_values_and_groups_widen_them(self):
        rng = np.random.default_rng(1)
        present = np.repeat(rng.random((40, 2)) < 0.2, 10, axis=0)
        scores = np.repeat(rng.standard_normal((40, 2)), 10, axis=0) + present
        free, _ = self.figures(scores, present)
        bound, _ = self.figures(scores, present, groups=np.repeat(np.arange(40), 10))
        for name, estimate in free.items():
            assert estimate.low <= estimate.value <= estimate.high
            assert bound[name].value == pytest.approx(estimate.value)
        assert bound["average_precision"].method == "cluster bootstrap"
        width = [e["average_precision"].high - e["average_precision"].low for e in (free, bound)]
        assert width[1] > 1.5 * width[0]

    def test_a_score_that_is_no_number_ranks_last(self):
        present = np.array([[True], [False], [False]])
        found, _ = self.figures(np.array([[np.nan], [0.1], [-0.1]]), present)
        assert found["average_precision"].value == pytest.approx(1 / 3)


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

    def test_texts_without_a_listed_word_are_not_judged_and_nobody_is_told_which_they_are(self):
        game = ReassemblyGame(keywords=self.words[:6], samples=40, top=3)
        stuff = toy_material()
        deal = game.deal(stuff)
        assert deal.vectors is stuff.target_vectors
        judged = deal.truth.judged
        assert 0 < len(judged) < len(stuff.target)
        assert str(len(judged)) in deal.notes[0]
        guess = np.random.default_rng(0).standard_normal(deal.truth.present.shape)
        other = guess.copy()
        other[np.setdiff1d(np.arange(len(guess)), judged)] *= -1
        one, two = (game.judge(deal.truth, g, 0) for g in (guess, other))
        assert np.array_equal(one.parts, two.parts)
        assert len(one.parts) == len(judged)

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
