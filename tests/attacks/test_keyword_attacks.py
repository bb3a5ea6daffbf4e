"""Keyword attacks that adapt to the vectors under attack, and the decoder that writes texts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.svm import LinearSVC

from unembed.attacks.keyword.aligned import Aligned
from unembed.attacks.keyword.alignment import TwoSides
from unembed.attacks.keyword.dann import DomainAdversarial
from unembed.attacks.keyword.decoder import KeywordDecoder
from unembed.attacks.keyword.portfolio import KeywordPortfolio
from unembed.attacks.keyword.rare_groups import find_groups
from unembed.attacks.keyword.svm import KeywordSVM
from unembed.errors import CannotMeasureError, UsageError
from unembed.games.keyword import KeywordKnowledge
from unembed.testing.toys import toy_game, toy_material


def accuracy(game, truth, guess):
    scores = game.judge(truth, guess, 0)
    return float(scores.statistic(scores.parts.sum(axis=0)))


def shifted_world(shift=6.0, seed=0, share=0.15, targets=400):
    """Three keywords, each a direction; the vectors under attack are moved, stretched and hold few positives."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.standard_normal((24, 24)))[0][:4]
    game = toy_game("keyword")

    def vectors(held, stretch, moved):
        noise = rng.standard_normal((len(held), 24)) * stretch
        return (noise + 4 * held @ directions[:3] + moved * directions[3]).astype(np.float32)

    kinds = np.repeat(np.eye(4)[:, :3], 80, axis=0) > 0
    own = vectors(kinds, 0.7, 0)
    there = rng.random((targets, 3)) < share
    moved = vectors(there, np.linspace(0.4, 1.2, 24), 0) + shift * (directions[3] + 0.5 * directions[:3].sum(axis=0))
    rows = tuple(np.r_[np.arange(c * 80, c * 80 + 80), np.arange(240, 320)] for c in range(3))
    labels = tuple(np.arange(160) < 80 for _ in range(3))
    knowledge = KeywordKnowledge(own, rows, labels, game.keywords, unlabelled=moved.astype(np.float32))
    return knowledge, there


def balanced(guess, there):
    said = np.asarray(guess) > 0
    return np.mean([(said[there[:, c], c].mean() + (~said[~there[:, c], c]).mean()) / 2 for c in range(3)])


def copied_world(seed=0, texts=60, width=96, told=0.8):
    """Texts and their changed copies: nearly the same vector, the other answer; and strangers who have no copy."""
    rng = np.random.default_rng(seed)
    game = toy_game("keyword")
    direction = np.linalg.qr(rng.standard_normal((width, width)))[0][0]

    def vectors(texts, labels):
        return (texts + 0.1 * rng.standard_normal(texts.shape) + told * np.outer(2 * labels - 1, direction)).astype(
            "f4"
        )

    own, labels = np.repeat(rng.standard_normal((texts, width)), 2, axis=0), np.arange(2 * texts) % 2 == 0
    there = rng.random(600) < 0.5
    knowledge = KeywordKnowledge(
        vectors(own, labels),
        (np.arange(2 * texts),),
        (labels,),
        game.keywords[:1],
        origins=np.repeat(np.arange(texts), 2),
    )
    return knowledge, vectors(rng.standard_normal((600, width)), there), there


class TestTextsAndTheirCopies:
    @pytest.mark.parametrize("attack", [KeywordPortfolio, KeywordSVM])
    def test_readers_are_chosen_with_a_text_and_its_copy_held_back_together(self, attack):
        """Where a copy stays behind, whoever reads well answers for its text as for the copy, and looks wrong."""

        def right(knowledge):
            return ((attack().fit(knowledge).run(strangers)[:, 0] > 0) == there).mean()

        knowledge, strangers, there = copied_world()
        together, apart = right(knowledge), right(replace(knowledge, origins=None))
        assert together > 0.75
        assert together > apart + 0.02


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

    @pytest.mark.parametrize("share", [0.005, 0.02, 0.15, 0.5])
    def test_rare_and_common_keywords_are_read_without_being_told_their_share(self, share):
        knowledge, there = shifted_world(share=share, targets=2000)
        attack = Aligned().fit(knowledge)
        guess = attack.run(knowledge.unlabelled)
        assert balanced(guess, there) > 0.94
        assert min(average_precision_score(there[:, c], guess[:, c]) for c in range(3)) > 0.85
        assert all(0.25 < g.share / there[:, c].mean() < 4 for c, g in enumerate(attack.groups_))

    def test_keywords_that_no_vector_holds_are_denied(self):
        knowledge, there = shifted_world(share=0.0, targets=1000)
        assert not there.any()
        guess = Aligned().fit(knowledge).run(knowledge.unlabelled)
        assert (guess > 0).mean() < 0.05

    def test_of_several_keywords_the_one_that_no_text_holds_is_denied_and_the_others_are_read(self):
        knowledge, there = shifted_world()
        free = ~there[:, 0]
        targets, there = knowledge.unlabelled[free], there[free]
        guess = Aligned().fit(replace(knowledge, unlabelled=targets)).run(targets)
        assert (guess[:, 0] > 0).mean() < 0.05
        assert ((guess > 0) == there)[:, 1:].mean() > 0.93

    def test_a_keyword_whose_texts_lie_close_to_the_others_is_read_all_the_same(self):
        knowledge, there = shifted_world()
        rng = np.random.default_rng(3)
        blurred = (knowledge.unlabelled + 1.5 * rng.standard_normal(knowledge.unlabelled.shape)).astype(np.float32)
        guess = Aligned().fit(replace(knowledge, unlabelled=blurred)).run(blurred)
        assert balanced(guess, there) > 0.8

    @given(st.integers(200, 800), st.integers(5, 200), st.floats(-5, 5), st.floats(0.1, 10), st.integers(0, 10**6))
    def test_two_heaps_are_parted_between_them(self, many, few, at, width, seed):
        rng = np.random.default_rng(seed)
        bulk, group = rng.normal(at, width, many), rng.normal(at + 12 * width, width, few)
        own = rng.normal(at + 10 * width, width, 50)
        found = find_groups(np.concatenate([bulk, group]), own)
        assert (found.odds(group) > 0).mean() > 0.9
        assert (found.odds(bulk) > 0).mean() < 0.02
        assert found.share == pytest.approx(few / (many + few), rel=0.3)

    @given(st.integers(0, 10**6), st.floats(-3, 8))
    def test_a_higher_score_is_never_less_likely_to_hold_the_word(self, seed, place):
        rng = np.random.default_rng(seed)
        store, own = rng.normal(0, 1, 300), rng.normal(place, 1, 30)
        grid = np.linspace(-6, 12, 400)
        for moving in (False, True):
            assert (np.diff(find_groups(store, own, moving=moving).odds(grid)) > 0).all()

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
        plain, ours = (
            balanced(attack.fit(knowledge).run(knowledge.unlabelled), there)
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
            Aligned(own_weight=1.5).fit(shifted_world()[0])


def planted_world(strength, rows, *, axis=False, uneven=0.0, seed=0):
    """Vectors of length one with a direction per keyword, along the axes or not; dimensions of like size or uneven."""
    rng = np.random.default_rng(seed)
    size, count = 96, 4
    directions = np.eye(size)[:count] if axis else np.linalg.qr(rng.standard_normal((size, size)))[0][:count]
    scale = np.exp(uneven * rng.standard_normal(size))

    def vectors(held):
        made = (rng.standard_normal((len(held), size)) + strength * (held - 0.5) @ directions) * scale
        return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)

    own, there = (rng.random((n, count)) < 0.5 for n in (8 * rows, 1500))
    chosen = [
        np.r_[np.flatnonzero(own[:, c])[: rows // 2], np.flatnonzero(~own[:, c])[: rows // 2]] for c in range(count)
    ]
    labels = tuple(own[r, c] for c, r in enumerate(chosen))
    names = tuple(f"word{c}" for c in range(count))
    return KeywordKnowledge(vectors(own), tuple(chosen), labels, names, unlabelled=vectors(there)), there


class TestSVM:
    @pytest.mark.parametrize(
        "world",
        [
            {"strength": 4, "rows": 200},
            {"strength": 2, "rows": 200},
            {"strength": 3, "rows": 60},
            {"strength": 5, "rows": 200, "axis": True},
            {"strength": 4, "rows": 200, "uneven": 1.0},
        ],
    )
    def test_it_is_never_behind_plain_linear_models_on_the_same_rows(self, world):
        knowledge, there = planted_world(**world)
        ours = ((KeywordSVM().fit(knowledge).run(knowledge.unlabelled) > 0) == there).mean()
        for plain in (LogisticRegression(max_iter=1000), LinearSVC()):
            right = [
                (plain.fit(knowledge.vectors[rows], labels).predict(knowledge.unlabelled) == there[:, c]).mean()
                for c, (rows, labels) in enumerate(zip(knowledge.rows, knowledge.labels, strict=True))
            ]
            assert ours >= np.mean(right) - 0.01, type(plain).__name__

    def test_it_says_yes_as_often_as_no_where_half_of_the_texts_hold_the_word(self):
        knowledge, _ = planted_world(strength=2, rows=100)
        other = replace(knowledge, vectors=knowledge.vectors + 0.3, unlabelled=knowledge.unlabelled + 0.3)
        for dealt in (knowledge, other):
            assert (KeywordSVM().fit(dealt).run(dealt.unlabelled) > 0).mean() == pytest.approx(0.5, abs=0.08)

    def test_a_given_regularisation_is_used(self):
        knowledge, _ = planted_world(strength=4, rows=60)
        attack = KeywordSVM(regularisation=0.5).fit(knowledge)
        assert {machine.C for _, machine in attack.machines_} == {0.5}


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


def test_a_keyword_with_few_texts_beside_common_ones_is_learnt_too():
    knowledge, _ = shifted_world(shift=0.0)
    few = np.r_[:4, 80:84]
    uneven = replace(
        knowledge,
        rows=(knowledge.rows[0][few], *knowledge.rows[1:]),
        labels=(knowledge.labels[0][few], *knowledge.labels[1:]),
    )
    guess = KeywordPortfolio(only="25 nearest neighbours").fit(uneven).run(uneven.vectors)
    assert guess.shape == (320, 3)
    assert np.isfinite(guess).all()
