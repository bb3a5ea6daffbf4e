"""Were this person's texts used to train the model? Dealt from models trained here, judged like any other question."""

import numpy as np
import pytest

from shadows.made_up import texts
from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.corpora.training import TrainingSide
from unembed.errors import CannotMeasureError
from unembed.games.base import Material
from unembed.games.in_or_out import InOrOutGuess
from unembed.games.membership_user import MembershipUserGame, UserColumns, dealt
from unembed.games.membership_user_trials import UserTrials
from unembed.games.play import play
from unembed.games.threat import ADVERSARIES
from unembed.shadows.base import Settings, TokenCorpus
from unembed.shadows.compiled import Compiled
from unembed.shadows.with_gensim import Gensim
from unembed.testing.trials import toy_trials

SMALL = Settings(dimension=16, passes=10, min_count=3)
BOTH = ["membership/shadow-lasso", "membership/shadow-likelihood"]


def crossed(users, n=260, length=14):
    """Texts of single topics, and users of two texts who each put rare words of several topics side by side."""
    rng = np.random.default_rng(5)
    rare = [f"t{topic}w{word}" for topic in range(5) for word in range(6, 12)]
    own = [rng.choice(rare, size=6, replace=False) for _ in range(users)]
    mixed = [" ".join([*words, *words, *words]) for words in own for _ in range(2)]
    return TokenCorpus.of([*mixed, *texts(n=n, length=length)]), [np.array([2 * u, 2 * u + 1]) for u in range(users)]


def trials(users=10, shadows=40, models=8, **more):
    whole, rows = crossed(users)
    pool = np.arange(2 * users, len(whole))
    half = len(pool) // 2
    return UserTrials(whole, rows, pool[:half], pool[half:], size=120, shadows=shadows, models=models, seed=3, **more)


def answered_deal(asked_of, *trainers):
    return asked_of.deal(asked_of.answers(*trainers, min_count=3, reach=3, jobs=2))


@pytest.fixture(scope="module")
def dealt_here():
    return answered_deal(trials(), Compiled(SMALL))


class TestTrials:
    @pytest.mark.parametrize(("name", "least"), list(zip(BOTH, (0.6, 0.75), strict=True)))
    def test_data_that_were_used_are_recognised(self, dealt_here, name, least):
        shown = play(MembershipUserGame(), ATTACKS.get(name)(), dealt_here, 0)
        assert shown.estimate.value > least

    def test_a_rehearsal_asks_about_shadow_models_that_were_not_learnt_from(self, dealt_here):
        known, asked, truth = MembershipUserGame().rehearsal(dealt_here.knowledge, 0)
        assert len(set(known.models)) == 27
        assert len(asked) == 10 * 13
        attack = ATTACKS.get("membership/shadow-likelihood")().fit(known)
        assert MembershipUserGame().judge(truth, attack.run(asked), 0).point > 0.7

    def test_a_model_trained_by_gensim_is_told_by_shadows_trained_here(self):
        deal = answered_deal(trials(), Gensim(SMALL), Compiled(SMALL))
        attack = ATTACKS.get("membership/shadow-likelihood")().fit(deal.knowledge)
        scores = MembershipUserGame().judge(deal.truth, attack.run(deal.vectors), 0)
        assert scores.estimate().low > 0.5

    def test_models_that_never_saw_the_users_data_are_not_told_apart(self, dealt_here):
        """The trials' answers shuffled between models: whatever is still told would be told by the texts alone."""
        rng = np.random.default_rng(0)
        guess = ATTACKS.get("membership/shadow-likelihood")().fit(dealt_here.knowledge).run(dealt_here.vectors)
        users = dealt_here.vectors[:, 0]
        shuffled = np.concatenate([rng.permutation(np.flatnonzero(users == user)) for user in np.unique(users)])
        scores = MembershipUserGame().judge(dealt_here.truth, guess[shuffled], 0)
        assert scores.estimate().low < 0.5

    def test_a_part_of_the_data_is_harder_to_recognise_than_all(self):
        points = []
        for share in (1.0, 0.5):
            deal = answered_deal(trials(models=16, share=share), Compiled(SMALL))
            attack = ATTACKS.get("membership/shadow-likelihood")().fit(deal.knowledge)
            points.append(MembershipUserGame().judge(deal.truth, attack.run(deal.vectors), 0).secondary["auc"].value)
        assert points[0] > points[1] > 0.5

    def test_a_population_is_trained_on_half_of_its_users_alone(self):
        one = trials(users=12, models=5)
        whole = UserTrials(one.corpus, one.users, None, one.shadow_pool, size=100, shadows=20, models=5)
        assert all(len(rows) == 12 for rows in whole.samples.rows)
        assert (whole.samples.members.sum(axis=1) == 6).all()


class TestDeal:
    def of(self, shadows, answers, users=None):
        users = users or [UserColumns(f"user {k}", a.shape[1]) for k, a in enumerate(shadows)]
        members = np.stack([np.arange(len(shadows[0])) % 2 == 0] * len(shadows), axis=1)
        asked = np.stack([np.arange(len(answers[0])) % 2 == 0] * len(shadows), axis=1)
        return dealt(users, shadows, members, answers, asked)

    def test_fewer_than_ten_shadow_models_are_refused(self):
        with pytest.raises(CannotMeasureError, match="9 shadow models can't show"):
            self.of([np.ones((9, 2))], [np.ones((4, 2))])

    def test_a_user_of_whom_nothing_is_known_is_left_out_and_counted(self):
        deal = self.of([np.ones((12, 2)), np.ones((12, 0))], [np.ones((4, 2)), np.ones((4, 0))])
        assert len(deal.truth.inside) == 4
        assert any("1 of 2 users are not asked about" in note for note in deal.notes)

    def test_nobody_of_whom_anything_is_known_can_not_be_measured(self):
        with pytest.raises(CannotMeasureError, match="no two words"):
            self.of([np.ones((12, 0))], [np.ones((4, 0))])

    def test_a_model_that_knows_no_word_is_not_taken_for_one_without_the_data(self):
        answers = np.ones((4, 2))
        answers[0] = np.nan
        deal = self.of([np.ones((12, 2))], [answers])
        assert len(deal.truth.inside) == 3
        assert any("1 trials are left out" in note for note in deal.notes)
        with pytest.raises(CannotMeasureError, match="answers anything"):
            self.of([np.ones((12, 2))], [np.full((4, 2), np.nan)])

    def test_where_one_side_alone_can_be_asked_about_nothing_is_compared(self):
        answers = np.ones((4, 2))
        answers[1::2] = np.nan
        with pytest.raises(CannotMeasureError, match="the data were used in all"):
            self.of([np.ones((12, 2))], [answers])

    def test_rates_that_so_few_trials_can_not_show_are_not_zero(self):
        deal = toy_trials("membership-user", "leaky")
        guess = InOrOutGuess(deal.truth.inside.astype(float), deal.truth.inside.astype(float))
        found = MembershipUserGame().judge(deal.truth, guess, 0).secondary
        assert np.isnan(found["found_at_0.1_percent_false_alarms"].value)
        assert found["advantage"].value == 1
        assert any("0.1 % false alarms can't be seen" in note for note in deal.notes)


class Trained:
    """An encoder that is a table of word vectors trained here."""

    def __init__(self, whole, rows):
        self.table, self.number = Compiled(SMALL).train(whole, rows, 9), whole.number_of

    def __call__(self, asked):
        rows = self.table.rows_of(np.array([self.number.get(text, -2) for text in asked]))
        return np.where(rows[:, None] >= 0, self.table.vectors[np.maximum(rows, 0)], 0).astype(np.float32)


def audited(users=12, learnt=6, group=True):
    """A collection of users, of whom the encoder learnt from some."""
    whole, rows = crossed(users)
    names = [f"user {k}" for k in range(users) for _ in rows[k]]
    own = [" ".join(whole.vocabulary[int(n)] for n in whole.text(row)) for row in range(2 * users)]
    known = [" ".join(whole.vocabulary[int(n)] for n in whole.text(row)) for row in range(2 * users, len(whole))]
    encode = Trained(whole, np.arange(2 * learnt, len(whole)))
    side = TrainingSide.of([*own[2 * learnt :], *known])
    target = Corpus.of(own, name="users", user=names)
    return Material(
        target=target,
        known=Corpus.of(known, name="known"),
        target_vectors=encode(own),
        known_vectors=encode(known),
        encode=encode,
        adversary=ADVERSARIES["insider"],
        seed=0,
        groups=names if group else None,
        training=side,
    )


class TestAudit:
    GAME = MembershipUserGame(shadows=24, dimension=16, passes=10, min_count=3, users=12)

    def test_users_of_either_side_are_asked_about_with_words_alone(self):
        deal = self.GAME.deal(audited())
        assert deal.truth.inside.sum() == 6
        assert len(deal.truth.inside) == 12
        attack = ATTACKS.get("membership/shadow-likelihood")().fit(deal.knowledge)
        assert self.GAME.judge(deal.truth, attack.run(deal.vectors), 0).secondary["auc"].value > 0.7

    def test_what_is_dealt_does_not_say_whose_texts_were_learnt_from(self):
        from dataclasses import replace

        told = audited()
        others = [text for text in told.target.texts if not told.training.holds([text])[0]]
        other = replace(told, training=TrainingSide.of([*others, *told.known.texts]))
        one, another = self.GAME.deal(told), self.GAME.deal(other)
        assert one.truth.inside.tolist() == (~another.truth.inside).tolist()
        assert np.array_equal(one.vectors, another.vectors)
        for field in ("vectors", "members", "models"):
            assert np.array_equal(getattr(one.knowledge, field), getattr(another.knowledge, field))
        assert [user.name for user in one.knowledge.users] == [user.name for user in another.knowledge.users]

    def test_too_few_users_of_one_side_are_named_with_their_number(self):
        with pytest.raises(CannotMeasureError, match="10 users whose texts the model learnt from and 2"):
            self.GAME.deal(audited(learnt=2))

    def test_without_a_training_side_nothing_can_be_asked(self):
        from dataclasses import replace

        with pytest.raises(CannotMeasureError, match="--trained-on"):
            self.GAME.deal(replace(audited(), training=None))

    def test_an_encoder_that_knows_none_of_the_words_is_said(self):
        from dataclasses import replace

        def nothing(asked):
            return np.zeros((len(asked), 4), dtype=np.float32)

        with pytest.raises(CannotMeasureError, match="no word of the users' texts"):
            self.GAME.deal(replace(audited(), encode=nothing))
