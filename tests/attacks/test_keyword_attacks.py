"""Keyword attacks that adapt to the vectors under attack, and the decoder that writes texts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from unembed.attacks.keyword.aligned import Aligned, between_groups
from unembed.attacks.keyword.alignment import TwoSides
from unembed.attacks.keyword.dann import DomainAdversarial
from unembed.attacks.keyword.decoder import KeywordDecoder
from unembed.attacks.keyword.svm import KeywordSVM
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.keyword import KeywordKnowledge
from unembed.testing.toys import toy_game, toy_material


def accuracy(game, truth, guess):
    scores = game.judge(truth, guess, 0)
    return float(scores.statistic(scores.parts.sum(axis=0)))


def shifted_world(shift=6.0, seed=0):
    """Three keywords, each a direction; the vectors under attack are moved, stretched and hold few positives."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((24, 24)))[0][:4]
    game = toy_game("keyword")

    def vectors(held, stretch, moved):
        noise = rng.standard_normal((len(held), 24)) * stretch
        return (noise + 4 * held @ directions[:3] + moved * directions[3]).astype(np.float32)

    kinds = np.repeat(np.eye(4)[:, :3], 80, axis=0) > 0
    own = vectors(kinds, 0.7, 0)
    there = rng.random((400, 3)) < 0.15
    targets = vectors(there, np.linspace(0.4, 1.2, 24), 0) + shift * (directions[3] + 0.5 * directions[:3].sum(axis=0))
    rows = tuple(np.r_[np.arange(c * 80, c * 80 + 80), np.arange(240, 320)] for c in range(3))
    labels = tuple(np.arange(160) < 80 for _ in range(3))
    knowledge = KeywordKnowledge(own, rows, labels, game.keywords, unlabelled=targets.astype(np.float32))
    return knowledge, there


def balanced(guess, there):
    said = np.asarray(guess) > 0
    return np.mean([(said[there[:, c], c].mean() + (~said[~there[:, c], c]).mean()) / 2 for c in range(3)])


def half_of_each(there):
    """Every vector that holds a keyword, and as many that don't."""
    asked = np.zeros_like(there)
    for c in range(there.shape[1]):
        yes, no = np.flatnonzero(there[:, c]), np.flatnonzero(~there[:, c])
        asked[np.r_[yes, no[: len(yes)]], c] = True
    return asked


class TestAligned:
    def test_reads_vectors_of_another_kind_where_a_plain_machine_can_not(self):
        knowledge, there = shifted_world()
        plain = balanced(KeywordSVM(seed=0).fit(knowledge).run(knowledge.unlabelled), there)
        ours = balanced(Aligned().fit(knowledge).run(knowledge.unlabelled), there)
        assert plain < 0.7
        assert ours > 0.9

    def test_self_training_helps_and_no_share_is_assumed(self):
        knowledge, there = shifted_world(seed=1)
        before = balanced(Aligned(rounds=0).fit(knowledge).run(knowledge.unlabelled), there)
        guess = Aligned().fit(knowledge).run(knowledge.unlabelled)
        assert balanced(guess, there) >= before
        assert (guess > 0).mean() < 0.3, "15 % are there; nobody said that half were"

    def test_a_given_share_moves_the_cut_of_the_vectors_asked_about(self):
        knowledge, there = shifted_world()
        asked = np.zeros_like(there)
        asked[:100] = True
        guess = Aligned(share=0.5).fit(replace(knowledge, asked=asked)).run(knowledge.unlabelled)
        assert np.allclose((guess[:100] > 0).mean(axis=0), 0.5, atol=0.02)

    def test_the_first_cut_is_found_among_the_vectors_asked_about(self):
        knowledge, there = shifted_world()
        asked = half_of_each(there)
        guess = Aligned().fit(replace(knowledge, asked=asked)).run(knowledge.unlabelled)
        right = ((guess > 0) == there)[asked]
        assert right.mean() > 0.93

    def test_a_keyword_that_no_vector_holds_is_denied(self):
        knowledge, there = shifted_world()
        nowhere = ~there.any(axis=1)
        asked = np.zeros_like(there)
        asked[nowhere] = True
        guess = Aligned().fit(replace(knowledge, asked=asked)).run(knowledge.unlabelled)
        assert (guess[nowhere] > 0).mean() < 0.05

    def test_self_training_talks_itself_into_nothing_where_no_text_holds_a_keyword(self):
        knowledge, there = shifted_world()
        targets = knowledge.unlabelled[~there.any(axis=1)]
        asked = np.ones((len(targets), 3), dtype=bool)
        asked[0] = False
        guess = Aligned().fit(replace(knowledge, unlabelled=targets, asked=asked)).run(targets)
        assert (guess > 0).mean() < 0.15, "a third, if two answers are made of one heap of scores"

    def test_of_several_keywords_the_one_that_no_text_holds_is_denied_and_the_others_are_read(self):
        knowledge, there = shifted_world()
        free = ~there[:, 0]
        targets, there = knowledge.unlabelled[free], there[free]
        asked = half_of_each(there)
        asked[1:, 0] = True
        attack = Aligned().fit(replace(knowledge, unlabelled=targets, asked=asked))
        guess = attack.run(targets)
        assert (guess[asked[:, 0], 0] > 0).mean() < 0.15
        assert attack.taught_.tolist() == [False, True, True]
        assert ((guess > 0) == there)[:, 1:][asked[:, 1:]].mean() > 0.93

    def test_a_keyword_whose_texts_lie_close_to_the_others_is_read_all_the_same(self):
        knowledge, there = shifted_world()
        rng = np.random.default_rng(3)
        blurred = (knowledge.unlabelled + 1.5 * rng.standard_normal(knowledge.unlabelled.shape)).astype(np.float32)
        asked = half_of_each(there)
        attack = Aligned().fit(replace(knowledge, unlabelled=blurred, asked=asked))
        assert attack.taught_.all()
        assert ((attack.run(blurred) > 0) == there)[asked].mean() > 0.8

    @given(st.integers(2, 60), st.integers(2, 60), st.floats(-5, 5), st.integers(0, 10**6))
    def test_two_heaps_are_parted_between_them(self, left, right, at, seed):
        rng = np.random.default_rng(seed)
        heaps = np.concatenate([rng.uniform(at - 1, at, left), rng.uniform(at + 20, at + 21, right)])
        assert at <= between_groups(heaps) <= at + 20

    def test_own_and_foreign_vectors_are_told_apart(self):
        knowledge, _ = shifted_world()
        sides = TwoSides(0.5).fit(knowledge.vectors, knowledge.unlabelled)
        both = sides.transform(np.concatenate([knowledge.vectors, knowledge.unlabelled]))
        assert np.allclose(both[:320], sides.own.transform(knowledge.vectors))
        assert np.allclose(both[320:], sides.theirs.transform(knowledge.unlabelled))
        assert np.abs(both.mean(axis=0)).max() < 0.05

    def test_targets_like_the_own_vectors_are_measured_as_targets(self):
        rng = np.random.default_rng(0)
        own, theirs = (rng.standard_normal((200, 8)).astype(np.float32) + shift for shift in (0.0, 0.3))
        sides = TwoSides(0.5).fit(own, theirs)
        assert np.array_equal(sides.transform(theirs), sides.theirs.transform(theirs))

    def test_a_shadow_corpus_is_used_as_well_as_by_a_plain_machine(self):
        knowledge, there = shifted_world(shift=0.0)
        asked = half_of_each(there)
        knowledge = replace(knowledge, asked=asked)
        plain, ours = (
            (((attack.fit(knowledge).run(knowledge.unlabelled) > 0) == there)[asked]).mean()
            for attack in (KeywordSVM(seed=0), Aligned())
        )
        assert ours > plain - 0.02

    def test_sparse_vectors_are_attacked_too(self):
        knowledge, there = shifted_world(shift=0.0)
        sparse = [csr_matrix(np.where(v > 0.5, v, 0)) for v in (knowledge.vectors, knowledge.unlabelled)]
        guess = Aligned().fit(replace(knowledge, vectors=sparse[0], unlabelled=sparse[1])).run(sparse[1])
        assert balanced(guess, there) > 0.75

    def test_parameters_that_make_no_sense_are_refused(self):
        with pytest.raises(UsageError, match="between 0 and 1"):
            Aligned(share=1.5).fit(shifted_world()[0])


@pytest.mark.parametrize("attack", [DomainAdversarial, Aligned])
def test_without_the_vectors_under_attack_there_is_nothing_to_adapt_to(attack):
    knowledge, _ = shifted_world()
    with pytest.raises(CannotMeasureError, match="given none"):
        attack().fit(replace(knowledge, unlabelled=None))


class TestDomainAdversarial:
    def test_answers_come_epoch_by_epoch(self):
        game = toy_game("keyword")
        deal = game.deal(toy_material())
        attack = DomainAdversarial(epochs=7).fit(deal.knowledge)
        guess = attack.run(deal.vectors)
        assert guess.decided.shape == (7, 200, 3)
        assert np.array_equal(guess.decided[-1], guess.scores > 0)
        assert attack.representation(deal.vectors[:5]).shape == (5, 3, 25)

    def test_a_keyword_starts_alike_whatever_stands_beside_it(self):
        knowledge, _ = shifted_world()
        one = replace(knowledge, rows=knowledge.rows[:1], labels=knowledge.labels[:1], keywords=knowledge.keywords[:1])
        starts = [DomainAdversarial(epochs=1, min_steps=1, learning_rate=1e-12).fit(k) for k in (knowledge, one)]
        first, alone = (a.run(knowledge.unlabelled).scores[:, 0] for a in starts)
        assert np.allclose(first, alone, atol=1e-5)

    def test_the_reversed_gradient_hides_the_domain(self):
        knowledge, _ = shifted_world()

        def separation(strength):
            attack = DomainAdversarial(strength=strength, epochs=20, seed=1).fit(knowledge)
            own, theirs = (attack.representation(v).mean(axis=0) for v in (knowledge.vectors, knowledge.unlabelled))
            return np.abs(own - theirs).mean()

        assert separation(1.0) < 0.9 * separation(0.0)


class TestDecoder:
    def test_writes_the_texts_it_learnt(self):
        deal = toy_game("keyword").deal(toy_material())
        attack = KeywordDecoder(epochs=25).fit(deal.knowledge)
        written = attack.write(deal.knowledge.vectors[:200])
        alike = [len(set(a.split()) & set(b.split())) / 4 for a, b in zip(written, deal.knowledge.texts, strict=False)]
        assert np.mean(alike) > 0.5
        assert max(len(t.split()) for t in written) <= 30

    def test_without_texts_it_can_not_learn_to_write(self):
        deal = toy_game("keyword").deal(toy_material())
        with pytest.raises(CannotMeasureError, match="given none"):
            KeywordDecoder().fit(replace(deal.knowledge, texts=()))
