"""Membership through a classifier's labels and a language model's words: what is asked, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from unembed.artifacts.keeping import Artifacts
from unembed.attacks.membership.label_queries import LabelQueries
from unembed.attacks.membership.next_word import NextWord
from unembed.attacks.membership.preparation import chosen_pairs
from unembed.attacks.membership.shadow_lasso import ShadowLasso
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.membership_user import MembershipUserGame, NextWordColumns, UserColumns, UserKnowledge
from unembed.games.membership_user_labels import Labelled, LabelTrials
from unembed.games.membership_user_trials import UserTrials
from unembed.games.membership_user_words import WordTrials
from unembed.games.play import play
from unembed.nn.language_model import LanguageModel
from unembed.shadows.base import Settings, TokenCorpus, WordTable
from unembed.shadows.next_words import Lexicon
from unembed.shadows.with_gensim import Gensim
from unembed.testing.trials import toy_trials

USERS, OWN, POOL, WORDS = 6, 8, 300, 40


class Counting(Gensim):
    """gensim, and how many models it was asked for."""

    made = 0

    def train(self, corpus: TokenCorpus, rows: Any, seed: int) -> WordTable:
        self.made += 1
        return super().train(corpus, rows, seed)


def trainer() -> Counting:
    return Counting(Settings(dimension=12, passes=4, min_count=3))


@pytest.fixture(scope="module")
def corpus() -> TokenCorpus:
    """Each user has a pair of words of their own; the pool has words of two kinds, one or the other in a text."""
    rng = np.random.default_rng(0)
    own = [
        " ".join(["pair", f"w{user}", f"w{39 - user}", *[f"w{w}" for w in rng.integers(0, WORDS, 5)]])
        for user in range(USERS)
        for _ in range(OWN)
    ]
    pool = [" ".join(f"w{w}" for w in rng.integers(0, 20, 8) + 20 * (n % 2)) for n in range(POOL)]
    return TokenCorpus.of([*own, *pool, "nobody knows this"])


@pytest.fixture(scope="module")
def trials(corpus: TokenCorpus) -> UserTrials:
    pool = np.arange(USERS * OWN, USERS * OWN + POOL)
    return UserTrials(
        corpus,
        np.split(np.arange(USERS * OWN), USERS),
        pool=pool[: POOL // 2],
        shadow_pool=np.split(pool[POOL // 2 :], 15),
        size=130,
        shadows=12,
        models=3,
        seed=1,
    )


def labelled(corpus: TokenCorpus, trials: UserTrials) -> Labelled:
    kinds = np.arange(len(corpus)) % 2 == 0
    shadow = np.concatenate(list(trials.shadow_pool))
    return Labelled(kinds, shadow[:10], np.arange(60, 90), shadow, 40)


@pytest.fixture(scope="module")
def asked(corpus: TokenCorpus, trials: UserTrials) -> LabelTrials:
    return LabelTrials(trials, labelled(corpus, trials), trainer(), partial(chosen_pairs, penalty=1e-3), min_count=3)


class TestLabels:
    def test_an_answer_is_a_label_and_what_all_shadow_classifiers_answer_alike_is_not_asked(
        self, asked: LabelTrials
    ) -> None:
        deal = asked.deal()
        assert deal.vectors.shape[0] == USERS * 3
        assert all(user.asked is None for user in deal.knowledge.users)
        for number, user in enumerate(deal.knowledge.users):
            answers, members = deal.knowledge.of(number)
            assert answers.shape == (12, user.width)
            assert set(np.unique(answers)) == {-1.0, 1.0}
            assert members.sum() == 6
        most = 10 * (1 + 5 * max(len(words) for words in asked.words))
        assert 0 < deal.queries <= most

    def test_words_are_those_of_the_chosen_pairs(self, asked: LabelTrials, corpus: TokenCorpus) -> None:
        for rows, words in zip(asked.trials.users, asked.words, strict=True):
            own = {int(word) for row in rows for word in corpus.text(int(row))}
            assert set(words.tolist()) <= own
        assert any(len(words) for words in asked.words)

    def test_classifiers_tell_the_kinds_on_texts_that_they_have_not_seen(self, asked: LabelTrials) -> None:
        assert asked.targets.right.shape == (3, 2)
        assert (asked.targets.right > [0.9, 0.75]).all()

    def test_the_deal_can_be_played_and_so_can_its_distances(self, asked: LabelTrials) -> None:
        played = play(MembershipUserGame(), LabelQueries(trees=10), asked.deal([0, 1, 2]), seed=1, calibrate=False)
        assert len(played.scores.parts) == 9
        vectors = play(MembershipUserGame(), ShadowLasso(), asked.distances([0, 1, 2]), seed=1, calibrate=False)
        assert len(vectors.scores.parts) == 9

    def test_without_texts_of_its_own_a_classifier_learns_from_those_of_its_word_vectors(
        self, corpus: TokenCorpus, trials: UserTrials
    ) -> None:
        own = replace(labelled(corpus, trials), rows=None)
        rows = trials.samples.rows[0]
        assert own.drawn(rows, seed=3) is rows
        drawn = labelled(corpus, trials).drawn(rows, seed=3)
        assert not set(drawn) & set(rows)
        assert own.labels[drawn].sum() == len(drawn) / 2 == 20

    def test_models_are_trained_once(self, corpus: TokenCorpus, trials: UserTrials, tmp_path: Any) -> None:
        few = replace(trials, shadows=10, models=2)
        made = []
        for _ in range(2):
            teacher = trainer()
            again = LabelTrials(
                few, labelled(corpus, trials), teacher, chosen_pairs, min_count=3, keep=Artifacts(tmp_path)
            )
            made.append((teacher.made, again.deal().vectors, teacher))
        assert made[0][2].made == 12
        assert made[1][2].made == 0
        assert np.array_equal(made[0][1], made[1][1])

    def test_a_user_of_whom_nothing_can_be_asked_is_left_out_and_said_to_be(
        self, corpus: TokenCorpus, trials: UserTrials
    ) -> None:
        stranger = replace(trials, users=[*trials.users, np.array([len(corpus) - 1])])
        dealt = LabelTrials(stranger, labelled(corpus, trials), trainer(), _none, min_count=3, appended=1)
        only_plain = dealt.deal()
        assert all(user.width <= 10 for user in only_plain.knowledge.users), "no word is appended"
        distances = dealt.distances(range(USERS + 1))
        assert any("1 of 7 users are not asked about" in note for note in distances.notes)


def _none(user: UserColumns, answers: Any, members: Any) -> Any:
    return np.zeros(0, dtype=np.int64)


@pytest.fixture(scope="module")
def spoken(corpus: TokenCorpus, trials: UserTrials) -> WordTrials:
    model = LanguageModel(vocabulary=1, units=24, embedding=16, epochs=60, batch_size=16, learning_rate=1e-2)
    halves = replace(trials, pool=None, models=2)
    return WordTrials(halves, model, Lexicon.of(corpus, 2), trainer(), frozenset({f"w{n}" for n in range(30)}), 3)


class TestNextWords:
    def test_a_language_model_that_learnt_by_heart_says_its_members_pairs(self, spoken: WordTrials) -> None:
        members = spoken.trials.samples.members
        inside = [hits[members[:, user]] for user, hits in enumerate(spoken.spoken.hits)]
        outside = [hits[~members[:, user]] for user, hits in enumerate(spoken.spoken.hits)]
        shares = [np.mean(np.concatenate([(h > 0).ravel() for h in side])) for side in (inside, outside)]
        assert shares[0] > 0.5
        assert shares[1] < 0.2
        assert (spoken.spoken.perplexity[:, 0] < spoken.spoken.perplexity[:, 1]).all()

    def test_knowledge_holds_distances_and_trials_hold_hits(self, spoken: WordTrials) -> None:
        deal = spoken.deal()
        assert len(deal.truth.inside) == 2 * USERS
        assert deal.truth.inside.sum() == USERS
        for number, user in enumerate(deal.knowledge.users):
            assert isinstance(user, NextWordColumns)
            assert user.asked is not None
            assert user.rare is not None
            assert user.width == len(user.asked.pairs) == len(user.rare)
            assert (deal.knowledge.of(number)[0] > 0).all()
        assert set(np.unique(deal.vectors[:, 1:])) <= {-1.0, 0.0, 1.0}

    @pytest.mark.parametrize("pairs", ["chosen", "all", "rare"])
    def test_it_can_be_played_with_the_published_pairs_and_with_both_baselines(
        self, spoken: WordTrials, pairs: str
    ) -> None:
        played = play(MembershipUserGame(), NextWord(pairs=pairs), spoken.deal(), seed=1, calibrate=False)
        assert len(played.scores.parts) == 2 * USERS


class TestNextWord:
    """The attack itself, on made-up answers."""

    def test_one_hit_is_enough_and_a_pair_that_was_not_asked_counts_for_nothing(self) -> None:
        knowledge = toy_trials("membership-user", "leaky", attack="membership/next-word").knowledge  # type: ignore[union-attr]
        attack = NextWord(pairs="all").fit(knowledge)
        rows = np.zeros((3, 12), dtype=np.float32)
        rows[0, 1:] = -1
        rows[1, 1:] = -1
        rows[1, 4] = 1
        rows[2, 5] = 1
        guess = attack.run(rows)
        assert guess.said.tolist() == [0, 1, 1]
        assert guess.scores.tolist() == pytest.approx([0, 1 / 11, 1])

    def test_chosen_pairs_beat_both_baselines_where_one_pair_is_said_to_everybody(self) -> None:
        deal = toy_trials("membership-user", "leaky", attack="membership/next-word")
        assert deal is not None
        found = {
            pairs: play(MembershipUserGame(), NextWord(pairs=pairs), deal, seed=1, calibrate=False).estimate.value
            for pairs in ("chosen", "all")
        }
        assert found["all"] == 0.5, "everybody is a member"
        assert found["chosen"] > 0.7

    def test_unknown_pairs_and_a_missing_dictionary_are_said(self) -> None:
        deal = toy_trials("membership-user", "leaky", attack="membership/next-word")
        assert deal is not None
        with pytest.raises(UsageError, match="chosen, all or rare"):
            NextWord(pairs="some").fit(deal.knowledge)  # type: ignore[arg-type]
        users = tuple(replace(user, rare=None) for user in deal.knowledge.users)
        with pytest.raises(CannotMeasureError, match="dictionary"):
            NextWord(pairs="rare").fit(replace(deal.knowledge, users=users))

    @pytest.mark.parametrize("attack", [NextWord(), LabelQueries()])
    def test_distances_of_word_vectors_are_refused_with_where_to_go(self, attack: Any) -> None:
        deal = toy_trials("membership-user", "leaky")
        assert deal is not None
        with pytest.raises(CannotMeasureError, match="Membership through a model"):
            attack.fit(deal.knowledge)


def test_a_forest_needs_members_and_others() -> None:
    rows = np.column_stack([np.zeros(12), np.tile([1.0, -1.0], 6)]).astype(np.float32)
    knowledge = UserKnowledge(rows, np.ones(12, dtype=bool), np.arange(12), (UserColumns("user 0", 1),))
    with pytest.raises(CannotMeasureError, match="user 0"):
        LabelQueries().fit(knowledge)
