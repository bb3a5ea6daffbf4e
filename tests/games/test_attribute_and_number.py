"""Attributes and numbers: nothing is dropped without a word, no class hides in a mean, texts are a yardstick only."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.attacks import ATTACKS
from unembed.corpora.corpus import Corpus
from unembed.errors import CannotMeasureError, UnembedError, UsageError
from unembed.games.attribute import AttributeGame, AttributeTruth
from unembed.games.base import Material
from unembed.games.columns import as_number, holds_quantities
from unembed.games.number import QUARTERS, NumberGame, NumberTruth
from unembed.games.play import play, status_of
from unembed.games.rows import random_like, text_rows
from unembed.games.text_baseline import TextReader
from unembed.games.threat import ADVERSARIES
from unembed.seeds import seed_for
from unembed.testing.toys import LeakyEncoder, toy_game, toy_material


def material(known: list[str], target: list[str], **columns: Any) -> Material:
    encoder = LeakyEncoder()
    inside = Corpus.of(known, **{k: v[0] for k, v in columns.items()})
    asked = Corpus.of(target, **{k: v[1] for k, v in columns.items()})
    vectors = encoder.encode(asked.texts), encoder.encode(inside.texts)
    return Material(asked, inside, *vectors, encoder.encode, ADVERSARIES["insider"], 0)


class TestColumns:
    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_a_number_is_read_however_it_is_spelt(self, number: float) -> None:
        assert as_number(number) == as_number(repr(number)) == number

    @pytest.mark.parametrize("value", [None, "", "x", float("nan"), "inf", True, "1_000", [], "12 years"])
    def test_what_is_no_finite_number_is_none(self, value: Any) -> None:
        assert as_number(value) is None

    def test_few_different_numbers_are_classes(self) -> None:
        assert holds_quantities([str(i) for i in range(30)])
        assert holds_quantities([*range(30), None, ""])
        assert not holds_quantities([i % 5 for i in range(300)])
        assert not holds_quantities([*range(30), "unknown"])


class TestBadInput:
    def test_one_author_only(self) -> None:
        with pytest.raises(CannotMeasureError, match=r"has 1 value\(s\): two are needed"):
            AttributeGame(column="who").deal(material(["x"] * 20, ["y"] * 20, who=(["a"] * 20, ["a"] * 20)))

    def test_labels_with_a_single_example_are_counted(self) -> None:
        labels = [f"author {i}" for i in range(20)]
        with pytest.raises(CannotMeasureError, match=r"20 values in all \(20 have a single labelled text\)"):
            AttributeGame(column="who").deal(material(["x"] * 20, ["y"] * 20, who=(labels, labels)))

    def test_every_value_left_out_has_its_reason(self) -> None:
        known = ["a"] * 20 + ["b"] * 15 + ["c"] * 10 + ["single"] + ["few targets"] * 10 + [None] * 4
        asked = ["a"] * 10 + ["b"] * 10 + ["c"] * 10 + ["single"] * 3 + ["few targets"] * 2 + ["never seen"] + [""] * 6
        stuff = material(["x"] * len(known), ["y"] * len(asked), who=(known, asked))
        deal = AttributeGame(column="who", max_classes=2).deal(stuff)
        assert deal.truth.classes == ("a", "b")
        assert deal.notes[0] == (
            "22 of 42 targets are not asked about: 6 without a value, 16 with one that is left out"
        )
        assert deal.notes[1] == (
            "4 of 6 values are left out: 2 with fewer than 5 labelled texts (1 with a single one), 1 with fewer than "
            "5 targets, 1 beyond the 2 most frequent"
        )

    def test_a_value_of_the_adversary_alone_is_not_forgotten(self) -> None:
        labels = (["a"] * 10 + ["b"] * 10 + ["rare"], ["a"] * 10 + ["b"] * 10 + ["a"])
        deal = AttributeGame(column="who").deal(material(["x"] * 21, ["y"] * 21, who=labels))
        assert "1 of 3 values are left out" in deal.notes[0]

    @pytest.mark.parametrize("wrong", [{"min_labels": 0}, {"baseline": "bert"}, {"numbers": "words"}])
    def test_impossible_parameters(self, wrong: dict[str, Any]) -> None:
        labels = (["a", "b"] * 10, ["a", "b"] * 10)
        with pytest.raises(UnembedError):
            AttributeGame(column="who", **wrong).deal(material(["x"] * 20, ["y"] * 20, who=labels))

    def test_numbers_that_are_names(self) -> None:
        ids = [i % 30 for i in range(300)]
        stuff = material(["x"] * 300, ["y"] * 300, user=(ids, ids))
        assert len(AttributeGame(column="user").deal(stuff).truth.classes) == 4
        assert len(AttributeGame(column="user", numbers="classes").deal(stuff).truth.classes) == 30


class TestClasses:
    def test_saying_one_class_of_everything_recognises_nobody(self) -> None:
        truth = AttributeTruth(np.repeat(np.arange(3), 40), ("a", "b", "c"), None)
        always = np.tile([0.0, 1.0, 0.0], (120, 1))
        scores = AttributeGame(column="who").judge(truth, always, seed=0)
        said = next(s for s in scores.slices if s.name == "b")
        assert said.estimate.value == said.floor == 1.0
        assert scores.secondary["classes_recognised"].value == 0

    def test_the_most_exposed_class_stands_first(self) -> None:
        truth = AttributeTruth(np.repeat(np.arange(3), 60), ("common", "other", "small group"), None)
        guess = np.random.default_rng(0).random((180, 3))
        guess[truth.labels == 2] = [0, 0, 1]
        scores = AttributeGame(column="who").judge(truth, guess, seed=0)
        assert scores.slices[0].name == "small group"
        assert scores.slices[0].estimate.value == 1.0
        exposure = [s.estimate.low - (s.floor or 0) for s in scores.slices]
        assert exposure == sorted(exposure, reverse=True)

    def test_top_five_of_many(self) -> None:
        labels = np.tile(np.arange(10), 20)
        guess = np.zeros((200, 10))
        for rank, c in enumerate((0, 1, 2)):  # the true class is always third
            guess[np.arange(200), (labels + c) % 10] = 10 - [2, 0, 1][rank]
        scores = AttributeGame(column="who").judge(AttributeTruth(labels, tuple("abcdefghij"), None), guess, seed=0)
        assert scores.secondary["accuracy"].value == 0
        assert scores.secondary["top5_accuracy"].value == 1


class TestTextBaseline:
    def test_it_reads_texts_and_is_no_floor(self) -> None:
        game = AttributeGame(column="side", labels_per_class=None, baseline="text-cnn")
        stuff = toy_material(known=300, targets=100)
        blind = replace(
            stuff, target_vectors=np.zeros_like(stuff.target_vectors), known_vectors=np.zeros_like(stuff.known_vectors)
        )
        played = play(game, ATTACKS.get("attribute/linear")(seed=0), game.deal(blind), seed=0)
        assert set(played.floors) == {"prior", "shuffled", "random"}
        assert played.scores.secondary["text_cnn_balanced_accuracy"].low > 0.6
        assert played.scores.secondary["more_than_text_cnn"].high < 0

    def test_played_alone_it_is_dealt_texts_and_says_the_same(self) -> None:
        stuff = toy_material(known=200, targets=50)
        reading = AttributeGame(column="side", baseline="text-cnn").deal(stuff).truth.reading
        deal = AttributeGame(column="side").deal(stuff.reading())
        assert list(deal.vectors) == list(stuff.target.texts)
        seed = seed_for(stuff.seed, "attribute", "side", "text-cnn")
        alone = ATTACKS.get("attribute/textcnn")(device="cpu", seed=seed).fit(deal.knowledge).run(deal.vectors)
        assert np.array_equal(reading, alone)

    def test_its_random_floor_reads_random_words(self) -> None:
        texts = text_rows(["red sky", "", "blue sea at night"])
        noise = random_like(texts, np.random.default_rng(0))
        assert [len(t.split()) for t in noise] == [2, 0, 4]
        assert {w for t in noise for w in t.split()} <= {"red", "sky", "blue", "sea", "at", "night"}

    def test_nothing_is_trained_unless_asked_for(self) -> None:
        game = toy_game("attribute")
        assert game.deal(toy_material()).truth.reading is None

    def test_the_same_seed_gives_the_same_bits_and_any_text_an_answer(self) -> None:
        texts, labels = ["red sky", "blue sea", "red rose!", "blue bird"] * 5, np.array([0, 1, 0, 1] * 5)
        asked = ["red", "", "blue " * 1000, "日本語", "blue"]
        first, second = (TextReader(seed=1).learn(texts, labels, 2).read(asked) for _ in range(2))
        assert np.array_equal(first, second)
        assert np.isfinite(first).all()
        assert first[0].argmax() == 0
        assert first[4].argmax() == 1


class TestNumber:
    def test_the_best_constant_scores_nothing_and_the_truth_everything(self) -> None:
        numbers = np.random.default_rng(0).lognormal(size=500)
        game, truth = NumberGame(column="x"), NumberTruth(numbers)
        assert game.judge(truth, np.full(500, np.median(numbers)), 0).estimate().value == pytest.approx(0)
        exact = game.judge(truth, numbers, 0)
        assert exact.estimate().value == 1
        assert exact.secondary["r2"].value == pytest.approx(1)
        assert exact.secondary["correlation"].value == pytest.approx(1)
        assert [s.name for s in exact.slices] == list(QUARTERS)

    def test_no_constant_beats_zero(self) -> None:
        numbers = np.random.default_rng(1).normal(50, 10, size=300)
        for constant in (30.0, 49.0, 50.0, 51.0, 80.0):
            scores = NumberGame(column="x").judge(NumberTruth(numbers), np.full(300, constant), 0)
            assert scores.estimate().value <= 1e-12

    def test_correlation_is_that_of_numpy(self) -> None:
        rng = np.random.default_rng(2)
        numbers = 1e6 + rng.normal(size=400)
        guess = numbers + rng.normal(size=400)
        found = NumberGame(column="x").judge(NumberTruth(numbers), guess, 0).secondary["correlation"]
        assert found.value == pytest.approx(np.corrcoef(guess, numbers)[0, 1])

    def test_ridge_finds_a_sum_over_words(self) -> None:
        game = toy_game("number")
        played = play(game, ATTACKS.get("number/ridge")(), game.deal(toy_material()), seed=0)
        assert played.estimate.value > 0.5
        assert status_of(played)[0] == "leak"
        assert abs(played.floors["prior"].value) < 0.05

    def test_answers_stay_among_known_numbers(self) -> None:
        game = toy_game("number")
        deal = game.deal(toy_material())
        found = ATTACKS.get("number/ridge")().fit(deal.knowledge).run(deal.vectors * 1000)
        assert deal.knowledge.numbers.min() <= found.min()
        assert found.max() <= deal.knowledge.numbers.max()

    def test_more_dimensions_than_labels(self) -> None:
        stuff = toy_material(encoder=LeakyEncoder(dimension=400), known=80)
        game = toy_game("number")
        played = play(game, ATTACKS.get("number/ridge")(), game.deal(stuff), seed=0)
        assert played.estimate.value > 0.1

    def test_left_out_rows_are_counted(self) -> None:
        values = [*range(40), None, "n/a", float("inf")]
        deal = NumberGame(column="age").deal(material(["x"] * 43, ["y"] * 43, age=(values, values)))
        assert len(deal.knowledge.numbers) == len(deal.truth.numbers) == 40
        assert (
            "3 of 43 targets are left out: 1 without a value, 2 with a value that is not a finite number" in deal.notes
        )

    @pytest.mark.parametrize(
        ("values", "said"), [([7.0] * 40, "the same number everywhere"), (["a", "b"] * 20, "has a number for 0")]
    )
    def test_nothing_to_measure(self, values: list[Any], said: str) -> None:
        with pytest.raises(CannotMeasureError, match=said):
            NumberGame(column="age").deal(material(["x"] * 40, ["y"] * 40, age=(values, values)))

    def test_labels_can_be_limited(self) -> None:
        stuff = toy_material()
        assert NumberGame(column="weight", max_labels=50).deal(stuff).pairs == 50
        with pytest.raises(UsageError):
            NumberGame(column="weight", max_labels=0).deal(stuff)
