"""Which texts models learn from, what they are asked, and that none is trained twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadows.made_up import corpus
from unembed.artifacts import Artifacts
from unembed.errors import UsageError
from unembed.shadows.base import Settings, TokenCorpus, WordTable
from unembed.shadows.compiled import Compiled
from unembed.shadows.keeping import trained
from unembed.shadows.sampling import draw_halves, draw_samples
from unembed.shadows.signals import Frequencies, answered, asked_of

SMALL = Settings(dimension=16, passes=2, min_count=3)
USERS = [np.arange(0, 3), np.arange(3, 5), np.arange(5, 6)]
POOL = np.arange(6, 60)


class TestSamples:
    @given(st.integers(10, 30), st.integers(0, 5), st.sampled_from([1.0, 0.5, 0.01]))
    @settings(max_examples=40)
    def test_every_model_has_as_many_texts_whoever_is_in(self, models, seed, share):
        drawn = draw_samples(POOL, USERS, size=20, models=models, seed=seed, share=share)
        assert [len(rows) for rows in drawn.rows] == [20] * models
        for rows, inside in zip(drawn.rows, drawn.members, strict=True):
            for user, here in zip(USERS, inside, strict=True):
                used = np.isin(user, rows).sum()
                assert used == (max(1, round(share * len(user))) if here else 0)

    def test_each_user_is_in_half_of_the_models_whatever_the_others_are(self):
        drawn = draw_samples(POOL, USERS, size=20, models=400, seed=1)
        assert (drawn.members.sum(axis=0) == 200).all()
        apart = np.corrcoef(drawn.members.T.astype(float)) - np.eye(len(USERS))
        assert np.abs(apart).max() < 0.2, "20 in 100 by chance at 400 models is four deviations"

    def test_models_differ_also_where_the_pool_is_small(self):
        drawn = draw_samples(POOL, USERS, size=50, models=10, seed=1, again=True)
        assert len({tuple(np.sort(rows)) for rows in drawn.rows}) == 10

    def test_half_of_a_population_and_nothing_else(self):
        drawn = draw_halves(USERS * 2, models=7, seed=3)
        for rows, inside in zip(drawn.rows, drawn.members, strict=True):
            assert inside.sum() == 3
            assert sorted(rows) == sorted(np.concatenate([u for u, h in zip(USERS * 2, inside, strict=True) if h]))

    @pytest.mark.parametrize(
        ("change", "said"),
        [
            ({"size": 6}, "6 texts per model"),
            ({"size": 99}, "no more than the 54"),
            ({"share": 0.0}, "share of a user"),
        ],
    )
    def test_what_can_not_be_drawn_is_said(self, change, said):
        with pytest.raises(UsageError, match=said):
            draw_samples(POOL, USERS, **{"size": 20, "models": 10, "seed": 0, **change})

    def test_one_user_has_no_halves(self):
        with pytest.raises(UsageError, match="no two halves"):
            draw_halves(USERS[:1], models=2, seed=0)


class TestAsked:
    def texts(self):
        return TokenCorpus.of(["ash bay cod elm", "cod rare bay bay", "ash bay cod elm"])

    def of(self, rows, **more):
        texts = self.texts()
        frequencies = Frequencies.of(texts, [np.arange(3)], min_count=2)
        asked = asked_of(texts, np.array(rows), frequencies, **more)
        names = [texts.vocabulary[int(n)] for n in asked.words]
        return {
            frozenset((names[a], names[b])): (int(gap), int(times))
            for (a, b), gap, times in zip(asked.pairs, asked.gaps, asked.times, strict=True)
        }

    def test_neighbours_with_words_passed_over_that_no_model_knows(self):
        side_by_side = {frozenset(("ash", "bay")), frozenset(("bay", "cod")), frozenset(("cod", "elm"))}
        assert set(self.of([0, 1])) == side_by_side
        assert self.of([0, 1])[frozenset(("bay", "cod"))] == (1, 2), "'rare' stands between them and is passed over"

    def test_farther_pairs_come_with_their_distance(self):
        found = self.of([0], reach=2)
        assert found[frozenset(("ash", "cod"))] == (2, 1)
        assert len(found) == 5

    def test_of_too_many_the_nearest_are_kept(self):
        assert set(self.of([0, 1], reach=3, most=1)) == {frozenset(("bay", "cod"))}

    def test_a_text_of_unknown_words_asks_for_nothing(self):
        texts = TokenCorpus.of(["ash bay", "elm oak"])
        asked = asked_of(texts, np.array([1]), Frequencies.of(texts, [np.array([0, 0])], min_count=2))
        assert asked.width == 0

    def test_distances_survive_a_rotation_and_unknown_words_give_none(self):
        texts, rng = self.texts(), np.random.default_rng(0)
        asked = asked_of(texts, np.array([0]), Frequencies.of(texts, [np.arange(3)], min_count=2))
        table = WordTable(np.array([0, 1, 2]), rng.standard_normal((3, 4)).astype(np.float32))
        turn = np.linalg.qr(rng.standard_normal((4, 4)))[0].astype(np.float32)
        plain, turned = answered(table, asked), answered(WordTable(table.numbers, table.vectors @ turn), asked)
        np.testing.assert_allclose(plain, turned, rtol=1e-5)
        assert plain[0] == pytest.approx(np.linalg.norm(table.vectors[0] - table.vectors[1]), rel=1e-6)
        assert np.isnan(plain).sum() == 2, "the pair with 'elm' and the length of its vector"


class Counting(Compiled):
    """Counts what it trains, and may die on the way."""

    def __init__(self, dies_at=None):
        super().__init__(SMALL)
        self.trained, self.dies_at = [], dies_at

    def train(self, texts, rows, seed):
        if len(self.trained) == self.dies_at:
            raise KeyboardInterrupt
        self.trained.append(seed)
        return super().train(texts, rows, seed)


class ManyAtOnce(Counting):
    """Takes two at a time."""

    most = 2

    def train_many(self, texts, samples, seeds):
        return [self.train(texts, rows, seed) for rows, seed in zip(samples, seeds, strict=True)]


class TestKeeping:
    @pytest.mark.parametrize("kind", [Counting, ManyAtOnce])
    def test_after_a_kill_no_model_is_trained_twice_and_all_are_the_same(self, tmp_path, kind):
        texts, samples, seeds = corpus(n=60), [np.arange(k, k + 30) for k in range(5)], [1, 2, 3, 4, 5]
        keep = Artifacts(tmp_path / "kept")
        dying = kind(dies_at=3)
        with pytest.raises(KeyboardInterrupt):
            list(trained(dying, texts, samples, seeds, keep=keep, jobs=1))
        again = kind()
        tables = list(trained(again, texts, samples, seeds, keep=keep, jobs=1))
        done_before = 3 if kind is Counting else 2
        assert again.trained == seeds[done_before:]
        for table, alone in zip(tables, trained(kind(), texts, samples, seeds, jobs=1), strict=True):
            assert np.array_equal(table.numbers, alone.numbers)
            assert np.array_equal(table.vectors, alone.vectors)

    def test_another_text_seed_or_setting_is_another_model(self, tmp_path):
        texts, keep = corpus(n=60), Artifacts(tmp_path / "kept")
        list(trained(Counting(), texts, [np.arange(30)], [1], keep=keep, jobs=1))
        for samples, seeds in (([np.arange(31)], [1]), ([np.arange(30)], [2])):
            other = Counting()
            list(trained(other, texts, samples, seeds, keep=keep, jobs=1))
            assert other.trained == seeds
        slower = Counting()
        slower.settings = Settings(dimension=16, passes=3, min_count=3)
        list(trained(slower, texts, [np.arange(30)], [1], keep=keep, jobs=1))
        assert slower.trained == [1]

    def test_progress_is_told_and_order_kept_in_threads(self):
        texts, samples, seeds, told = corpus(n=60), [np.arange(k, k + 30) for k in range(4)], [1, 2, 3, 4], []
        tables = list(trained(Compiled(SMALL), texts, samples, seeds, jobs=2, told=lambda *a: told.append(a)))
        assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
        alone = Compiled(SMALL).train(texts, samples[2], 3)
        assert np.array_equal(tables[2].vectors, alone.vectors)
