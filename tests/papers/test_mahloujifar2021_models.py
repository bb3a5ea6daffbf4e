"""Mahloujifar's Tables 1 to 5: whose texts lie where, and rows beside what the paper prints."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unembed.corpora.paragraphs import split_sentences
from unembed.errors import CannotMeasureError
from unembed.papers import EXPERIMENTS, Conditions
from unembed.papers.mahloujifar2021_labels import SCALES, World, balanced, other_data, same_data
from unembed.papers.mahloujifar2021_texts import Asked, Writings, cut_to, sentences_of
from unembed.papers.mahloujifar2021_words import Study
from unembed.seeds import generator

SCALE = SCALES["smoke"]


def writings(writers: int = 24, each: int = 20) -> Writings:
    """Each writer signs every sentence, so that it shows where a text went; every third text is spam by nobody else."""
    own = [
        (f"w{writer}", f"Says w{writer} {n}. And w{writer} again {n}.")
        for writer in range(writers)
        for n in range(each)
    ]
    spam = [(f"s{n}", f"Buy s{n} now. It is cheap.") for n in range(writers * each // 2)]
    pairs = [*own, *spam]
    return Writings.of([t for _, t in pairs], [w for w, _ in pairs], [False] * len(own) + [True] * len(spam))


def words_of(world: World, rows: Any) -> set[str]:
    """The signatures in some texts."""
    corpus = world.trials.corpus
    found = {corpus.vocabulary[int(word)] for row in rows for word in corpus.text(int(row))}
    return {word for word in found if word[:1] in "ws" and word[1:].isdigit()}


@pytest.fixture(scope="module", params=["other", "same"])
def world(request: pytest.FixtureRequest) -> World:
    if request.param == "same":
        return same_data(writings(), SCALE, seed=1)
    return other_data(writings(), writings(6, 40), SCALE, seed=1)


class TestTexts:
    @pytest.mark.parametrize("sentences", [1, 3, 4, 7])
    def test_a_data_set_has_as_many_sentences_as_it_says(self, sentences: int) -> None:
        cut = cut_to(["One. Two. Three.", "Four. Five.", "Six. Seven. Eight."], sentences)
        assert sum(len(split_sentences(text)) for text in cut) == sentences

    def test_somebody_who_wrote_less_gives_no_data_set(self) -> None:
        rng = generator(0)
        asked = Asked(writings(6, 5), {4: 9, 10: 2}, rng)
        assert {count: len(users) for count, users in asked.users.items()} == {4: 4, 10: 2}
        assert [len(rows) for rows in asked.rows] == [5, 5, 2, 2, 2, 2], "sentences stand in pairs"
        with pytest.raises(CannotMeasureError, match="nobody in the data has written 11 sentences"):
            Asked(writings(4, 5), {11: 1}, rng)

    def test_a_sentence_of_one_word_has_no_next_one(self) -> None:
        assert sentences_of(["Thanks. See you there. Ann"]) == ["See you there."]

    def test_of_equal_texts_the_first_counts(self) -> None:
        kept = Writings.of(["a b", "c d", "a b"], ["x", "y", "z"], [False, True, True])
        assert (kept.texts, kept.writers, kept.spam.tolist()) == (["a b", "c d"], ["x", "y"], [False, True])


class TestWorlds:
    def test_what_else_the_users_wrote_is_seen_by_nobody(self, world: World) -> None:
        asked = [words_of(world, rows) for rows in world.trials.users]
        assert all(len(own) == 1 for own in asked)
        assert len({word for own in asked for word in own}) == len(asked), "each of another writer"
        in_pools = [
            words_of(world, np.concatenate(pool) if isinstance(pool, list) else pool)
            for pool in (world.trials.pool, world.trials.shadow_pool)
        ]
        assert not set.union(*asked) & set.union(*in_pools)
        assert not in_pools[0] & in_pools[1], "nobody writes for both sides"

    def test_what_tests_classifiers_is_learnt_by_none(self, world: World) -> None:
        held_out = set(world.labelled.held_out.tolist())
        samples = [*world.trials.samples.rows, *world.trials.shadow_samples.rows]
        learnt = {int(r) for rows in samples for r in world.labelled.drawn(rows, seed=1)}
        assert not held_out & learnt
        assert not held_out & set(world.labelled.documents.tolist())
        assert world.labelled.labels[world.labelled.held_out].mean() == 0.5

    def test_word_vectors_learn_from_as_many_texts_with_and_without_a_user(self, world: World) -> None:
        samples = world.trials.samples
        assert {len(rows) for rows in samples.rows} == {SCALE.texts}
        for model, rows in enumerate(samples.rows):
            for user, own in enumerate(world.trials.users):
                assert samples.members[model, user] == bool(set(own.tolist()) & set(rows.tolist()))

    def test_other_data_are_whole_people_and_public_mails(self) -> None:
        world = other_data(writings(), writings(6, 40), SCALE, seed=1)
        assert isinstance(world.trials.pool, list)
        assert world.labelled.rows is not None
        people = {int(r) for side in (world.trials.pool, world.trials.shadow_pool) for rows in side for r in rows}
        assert not people & set(world.labelled.rows.tolist())
        drawn = world.labelled.drawn(world.trials.samples.rows[0], seed=1)
        assert set(drawn.tolist()) <= set(world.labelled.rows.tolist())

    def test_with_the_same_data_a_classifier_learns_from_the_users_mails_too(self) -> None:
        world = same_data(writings(), SCALE, seed=1)
        rows = world.trials.samples.rows[0]
        assert world.labelled.drawn(rows, seed=1) is rows
        user = int(np.flatnonzero(world.trials.samples.members[0])[0])
        assert set(world.trials.users[user].tolist()) <= set(rows.tolist())

    def test_as_many_of_one_label_as_of_the_other(self) -> None:
        labels = np.array([True, False, False, True, False])
        assert labels[balanced(np.arange(5), labels)].tolist() == [False, False, True, True]


class TestTables:
    @pytest.mark.parametrize("table", ["table1", "table2"])
    def test_labels_stand_beside_the_word_vectors_themselves(self, table: str, smoke: Callable[..., Any]) -> None:
        document = smoke(f"mahloujifar2021/{table}")
        assert not document["unmeasured"]
        told = {row["setting"] for row in document["rows"]}
        assert told == {
            f"{n} sentences{more}" for n in SCALE.users for more in ("", " · ours", " · word vectors themselves")
        }
        assert {"attack accuracy", "AUC"} <= {row["metric"] for row in document["rows"]}
        assert any("1 % false alarms can't be seen" in note for note in document["notes"])

    def test_classifiers_are_tested_on_both_kinds_of_data(self, smoke: Callable[..., Any]) -> None:
        document = smoke("mahloujifar2021/table3")
        assert {row["setting"] for row in document["rows"]} == {"SVM · Enron", "SVM · Avocado"}
        assert all(0.5 < row["value"] <= 1 for row in document["rows"])

    def test_a_language_model_is_trained_once_for_both_tables(self, smoke: Callable[..., Any], tmp_path: Any) -> None:
        spoken = smoke("mahloujifar2021/table4")
        assert {row["metric"] for row in spoken["rows"]} == {"train perplexity", "test perplexity"}
        kept = sorted((tmp_path / "cache" / "fitted").glob("*/artifact.json"))
        assert len(kept) == 2
        before = [path.stat().st_mtime_ns for path in kept]
        document = smoke("mahloujifar2021/table5")
        assert {row["setting"] for row in document["rows"]} == {"our attack", "baseline 1", "baseline 2"}
        assert {"accuracy", "recall", "AUC"} <= {row["metric"] for row in document["rows"]}
        assert [
            path.stat().st_mtime_ns for path in sorted((tmp_path / "cache" / "fitted").glob("*/artifact.json"))
        ] == before

    def test_half_of_the_users_are_inside_in_every_run(self) -> None:
        study = Study(Conditions("smoke"))
        members = study.trials.samples.members
        assert (members.sum(axis=1) == members.shape[1] // 2).all()
        rows = study.trials.samples.rows[0]
        pool = set(study.trials.shadow_pool.tolist())
        assert not pool & set(rows.tolist()), "the adversary's other users are nobody the models learn from"

    @pytest.mark.parametrize("table", [f"table{n}" for n in range(1, 6)])
    def test_printed_figures_belong_to_rows_that_are_measured(self, table: str) -> None:
        facts = EXPERIMENTS.get(f"mahloujifar2021/{table}").facts
        measured = {
            *(f"{n} sentences" for n in (10, 100, 1000)),
            *("SVM · Enron", "SVM · Avocado", "2-layer LSTM", "our attack", "baseline 1", "baseline 2"),
        }
        assert facts.published
        assert {p.setting for p in facts.published} <= measured
