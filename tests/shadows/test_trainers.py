"""Trainers of word vectors: the same vectors for the same seed, and as good as gensim's."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shadows.made_up import TOPICS, corpus, likeness
from unembed.errors import CannotMeasureError, UsageError
from unembed.shadows.base import Settings, TokenCorpus, WordTable
from unembed.shadows.compiled import Compiled
from unembed.shadows.plan import plan_for
from unembed.shadows.with_gensim import Gensim

SMALL = Settings(dimension=16, passes=5, min_count=3)
ROWS = np.arange(400)


@pytest.fixture(scope="module")
def texts():
    return corpus()


def own_topic(table, texts):
    """How often the nearest other word is of the same topic."""
    names = [texts.vocabulary[int(n)].split("w")[0] for n in table.numbers]
    vectors = table.vectors / np.linalg.norm(table.vectors, axis=1, keepdims=True)
    near = vectors @ vectors.T - 2 * np.eye(len(vectors))
    return np.mean([names[i] == names[int(j)] for i, j in enumerate(near.argmax(axis=1))])


class TestCompiled:
    @pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
    def test_words_of_one_topic_lie_together(self, texts, architecture):
        # CBOW makes one step per word where skip-gram makes one per pair, so it needs more passes.
        asked = replace(SMALL, architecture=architecture, passes=5 if architecture == "skip-gram" else 25)
        table = Compiled(asked).train(texts, ROWS, 1)
        assert own_topic(table, texts) > 0.9, f"guessing gives {1 / TOPICS}"

    def test_one_seed_gives_one_table_and_another_seed_another(self, texts):
        first, again, other = (Compiled(SMALL).train(texts, ROWS, seed) for seed in (1, 1, 2))
        assert np.array_equal(first.vectors, again.vectors)
        assert not np.array_equal(first.vectors, other.vectors)

    @pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
    def test_vectors_agree_with_gensims_as_two_of_gensims_do(self, texts, architecture):
        asked = replace(SMALL, architecture=architecture, passes=25)
        gensim = [Gensim(asked).train(texts, ROWS, seed) for seed in (1, 2)]
        ours = Compiled(asked).train(texts, ROWS, 1)
        assert np.array_equal(ours.numbers, gensim[0].numbers)
        assert likeness(ours, gensim[0]) > likeness(*gensim) - 0.05
        mine, theirs, again = (float(np.median(np.linalg.norm(t.vectors, axis=1))) for t in (ours, *gensim))
        assert mine == pytest.approx(theirs, rel=0.1 + abs(again / theirs - 1))

    @pytest.mark.parametrize(
        "change",
        [
            {"architecture": "cbow"},
            {"window": 2},
            {"negatives": 2},
            {"passes": 4},
            {"min_count": 200},
            {"sample": 0.0},
            {"learning_rate": 0.01},
            {"last_rate": 0.02},
        ],
    )
    def test_every_setting_changes_the_vectors(self, texts, change):
        before = Compiled(SMALL).train(texts, ROWS, 1)
        after = Compiled(replace(SMALL, **change)).train(texts, ROWS, 1)
        assert before.vectors.shape != after.vectors.shape or not np.allclose(before.vectors, after.vectors)

    def test_no_word_often_enough_is_said(self, texts):
        for trainer in (Compiled(replace(SMALL, min_count=10**6)), Gensim(replace(SMALL, min_count=10**6))):
            with pytest.raises(CannotMeasureError, match="min_count=1000000 times in 400 texts"):
                trainer.train(texts, ROWS, 1)

    @pytest.mark.parametrize("wrong", [{"window": 0}, {"negatives": -1}, {"sample": 1.0}, {"architecture": "glove"}])
    def test_settings_out_of_range_are_refused(self, wrong):
        with pytest.raises(UsageError):
            replace(SMALL, **wrong)


class TestBatched:
    """The kernels of the GPU, run step by step by Triton's interpreter where there is none."""

    @pytest.mark.parametrize("architecture", ["skip-gram", "cbow"])
    def test_same_vectors_as_the_compiled_trainer(self, architecture):
        pytest.importorskip("triton", reason="Triton is not installed: torch brings it along for GPUs alone")
        code = f"""
import numpy as np
from shadows.made_up import corpus
from unembed.shadows.base import Settings
from unembed.shadows.batched import Batched
from unembed.shadows.compiled import Compiled
texts = corpus(n=7, length=8)
asked = Settings("{architecture}", dimension=8, window=2, passes=2, min_count=2, negatives=3, sample=0.1)
samples = [np.arange(4), np.arange(2, 7)]
many = Batched(asked, device="cpu").train_many(texts, samples, [3, 4])
for table, rows, seed in zip(many, samples, [3, 4]):
    one = Compiled(asked).train(texts, rows, seed)
    assert np.array_equal(one.numbers, table.numbers)
    np.testing.assert_allclose(one.vectors, table.vectors, rtol=2e-3, atol=2e-5)
"""
        paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
        env = dict(os.environ, TRITON_INTERPRET="1", PYTHONPATH=paths)
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    def test_without_a_gpu_it_says_what_to_use(self, texts):
        from unembed.shadows.batched import Batched

        pytest.importorskip("triton", reason="Triton is not installed: torch brings it along for GPUs alone")
        with pytest.raises(UsageError, match="needs a GPU"):
            Batched(SMALL, device="cpu").train(texts, ROWS, 1)


class TestPlan:
    @given(st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=1, max_size=12), st.integers(1, 4))
    @settings(max_examples=60, deadline=None)
    def test_holds_the_frequent_words_of_each_text_in_order(self, numbers, min_count):
        whole = TokenCorpus.of([" ".join(f"w{n}" for n in row) for row in numbers])
        rows = np.arange(len(numbers))[::-1].copy()
        counts = np.bincount(whole.tokens, minlength=len(whole.vocabulary))
        asked = Settings(min_count=min_count)
        if not (counts >= min_count).any():
            with pytest.raises(CannotMeasureError):
                plan_for(whole, rows, asked)
            return
        plan = plan_for(whole, rows, asked)
        for place, row in enumerate(rows):
            own = plan.numbers[plan.tokens[plan.starts[place] : plan.starts[place + 1]]]
            assert own.tolist() == [n for n in whole.text(int(row)).tolist() if counts[n] >= min_count]

    def test_negatives_are_drawn_by_counts_to_the_power_three_quarters(self, texts):
        plan = plan_for(texts, ROWS, SMALL)
        counts = np.bincount(plan.tokens).astype(float)
        share = np.bincount(plan.noise, minlength=len(counts)) / len(plan.noise)
        np.testing.assert_allclose(share, counts**0.75 / (counts**0.75).sum(), atol=1e-4)
        assert len(plan.noise) & (len(plan.noise) - 1) == 0, "the mask of the hash needs a power of two"


class TestWordTable:
    @given(st.sets(st.integers(0, 30)), st.lists(st.integers(0, 30)))
    def test_finds_the_row_of_each_word_or_none(self, known, asked):
        numbers = np.array(sorted(known), dtype=np.int64)
        table = WordTable(numbers, np.zeros((len(numbers), 2), dtype=np.float32))
        for word, row in zip(asked, table.rows_of(np.array(asked, dtype=np.int64)), strict=True):
            assert (row == -1) if word not in known else (numbers[row] == word)
