"""Corò 2022: the figures typed in are the printed ones, metrics are means over texts, and the experiments run."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from unembed.corpora.corpus import Corpus
from unembed.corpora.words import Vocabulary, is_content_word
from unembed.games.inversion import InversionGame, InversionKnowledge, InversionTruth
from unembed.games.inversion_scores import rarity
from unembed.metrics.estimate import Estimate
from unembed.papers import EXPERIMENTS, Conditions
from unembed.papers.coro2022_names import Table56, listed_names
from unembed.papers.coro2022_paragraphs import ReadInParts
from unembed.papers.coro2022_sentences import Table52, TableA1, pair_counts
from unembed.papers.coro2022_words import PLAIN, WEIGHTED, ContentDeals, content_vocabulary
from unembed.papers.texts import CROSS, IN, Texts, sample_documents

Run = Callable[..., dict[str, Any]]
F1 = "F1"


def test_printed_tables_hang_together() -> None:
    sentences, eos = Table52.facts, TableA1.facts
    same = "MiniLM for Sentence-BERT · in-domain"
    for metric in ("precision", "recall", F1):
        assert sentences.printed(same, metric) == eos.printed(f"{same} · without [EOS]", metric)
    assert len(sentences.published) == 2 * 6 * 6
    order = ("Hashing", "Bag-of-words + tf-idf", "Reduced bag-of-words", "Reduced hashing", "Doc2Vec")
    values = [sentences.printed(f"{model} · in-domain", F1) for model in order]
    assert values == sorted(values, reverse=True)  # type: ignore[type-var]
    assert sum(p.value for p in sentences.published if p.metric == F1) == pytest.approx(7.8196)
    paragraphs = EXPERIMENTS.get("coro2022/table5.4").facts.published
    assert len(paragraphs) == 15 * 6
    assert sum(p.value for p in paragraphs if p.metric == F1) == pytest.approx(13.6745)


def test_printed_means_of_names_are_those_of_the_table() -> None:
    same, swapped = (p.value for p in Table56.facts.published)
    assert same == pytest.approx((0.7727 + 0.8129 + 0.8854 + 0.8301) / 4, abs=1e-4)
    assert swapped == pytest.approx(0.7581, abs=1e-4)
    assert EXPERIMENTS.get("coro2022/table5.7").facts.published[1].value == pytest.approx(0.2353, abs=1e-4)


def truth_of(labels: list[list[int]], only: frozenset[str] | None = None) -> InversionTruth:
    n, words = np.shape(labels)
    vocabulary = Vocabulary(tuple(f"w{i}" for i in range(words)), np.ones(words), np.ones(words), n)  # type: ignore[arg-type]
    return InversionTruth(csr_matrix(labels), np.zeros((n, 2)), vocabulary, None, only=only)


def metrics_of(truth: InversionTruth, guess: csr_matrix) -> dict[str, Estimate]:
    found = InversionGame().judge(truth, guess, 0).secondary
    return {printed: found[ours] for ours, printed in {**PLAIN, **WEIGHTED}.items()}


def test_metrics_are_means_over_texts_and_rarity_weighs() -> None:
    truth = truth_of([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]])
    found = metrics_of(truth, csr_matrix([[1, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]))
    assert found["precision"].value == pytest.approx(1.0)
    assert found["recall"].value == pytest.approx((0.5 + 1) / 2)
    assert found[F1].value == pytest.approx((2 / 3 + 1) / 2)
    assert found[F1].n == 2  # a text without a word in question does not count
    weights = np.log(4 / (np.array([2, 1, 1, 0]) + 1))
    assert rarity(truth.labels) == pytest.approx(weights)
    assert found["weighted recall"].value == pytest.approx((weights[0] / (weights[0] + weights[1]) + 1) / 2)


def test_only_words_of_both_adversaries_count() -> None:
    near, far = (Corpus.of([f"{w} {w} stone stone"] * 2) for w in ("minister", "dragon"))
    target = Corpus.of(["a minister, a dragon and a stone"], document=["one"])
    deals = ContentDeals(Conditions(), Texts(target, {IN: near, CROSS: far}, near, ()))
    assert deals.truth(IN, target, ["one"]).only is None
    truth = deals.truth(CROSS, target, ["one"])
    asked = {w for w, counts in zip(truth.vocabulary.words, truth.content, strict=True) if counts}
    assert (set(truth.vocabulary.words), asked) == ({"dragon", "stone"}, {"stone"})
    found = metrics_of(truth_of([[1, 1], [0, 1]], frozenset({"w0"})), csr_matrix([[1, 0], [0, 0]]))
    assert (found["recall"].value, found["recall"].n) == (1.0, 1)


def test_a_paragraph_has_the_words_found_in_its_sentences() -> None:
    truth = truth_of([[1, 1, 0], [0, 0, 1]])
    game = ReadInParts(home=np.array([0, 0, 1]), held=csr_matrix([[1, 1, 0]]))
    found = game.judge(truth, csr_matrix([[1, 0, 0], [0, 1, 0], [0, 1, 1]]), 0)
    assert found.parts.tolist() == [[2, 2, 2], [1, 2, 1]]
    blind = game.prior_guess(InversionKnowledge(np.zeros((0, 1)), csr_matrix((0, 3)), truth.vocabulary), 3)
    assert game.judge(truth, blind, 0).parts.tolist() == [[2, 2, 2], [0, 2, 1]]


def test_the_vocabulary_holds_content_words_alone() -> None:
    vocabulary = content_vocabulary(["the bank of the river is a bank", "a river of the 20 boats and boats"], "en")
    assert set(vocabulary.words) == {"bank", "river", "boats"}
    assert all(is_content_word(w) for w in vocabulary.words)
    assert len(content_vocabulary(["alpha alpha beta beta beta"], "en", size=1)) == 1


def test_pairs_are_the_same_factor_apart() -> None:
    points = pair_counts(100_000, 5)
    assert points[0] == 1_000
    assert points[-1] == 100_000
    factors = np.divide(points[1:], points[:-1])
    assert factors == pytest.approx(np.full(4, 10**0.5), rel=1e-2)
    assert pair_counts(50, 3) == [50]


def test_documents_are_sampled_whole() -> None:
    corpus = Corpus.of([f"text {i}" for i in range(100)], document=[i // 10 for i in range(100)])
    kept = sample_documents(corpus, 25, seed=3)
    homes = kept.column("document")
    assert len(kept) == 30
    assert all(homes.count(home) == 10 for home in homes)
    assert sample_documents(corpus, None, seed=3) is corpus


def test_table_5_2_has_both_adversaries(smoke: Run) -> None:
    result = smoke("coro2022/table5.2")
    settings = {row["setting"] for row in result["rows"]}
    assert settings == {
        f"{model} · {domain}"
        for model in ("Bag-of-words + tf-idf", "Hashing")
        for domain in ("in-domain", "cross-domain")
    }
    assert {"F1", "weighted F1"} <= {row["metric"] for row in result["rows"]}
    assert not result["unmeasured"]


def test_table_5_4_reads_paragraphs_both_ways(smoke: Run) -> None:
    result = smoke("coro2022/table5.4")
    settings = {row["setting"] for row in result["rows"]}
    for form in ("from the paragraph's vector", "from its sentences' vectors"):
        assert f"Hashing · in-domain · trained on sentences · {form}" in settings
        assert f"Hashing · in-domain · trained on paragraphs · {form}" in settings
        assert f"Hashing · cross-domain · trained on sentences · {form}" in settings
    assert not result["unmeasured"]


def test_figure_5_1_has_a_point_for_each_number_of_pairs(smoke: Run) -> None:
    result = smoke("coro2022/figure5.1")
    assert {row["x"] for row in result["rows"]} == {100.0, 300.0}


@pytest.mark.parametrize("name", ["coro2022/table5.6", "coro2022/table5.7"])
def test_names_are_never_written(name: str, smoke: Run, tmp_path: Path) -> None:
    result = smoke(name)
    settings = [row["setting"] for row in result["rows"]]
    assert "hashing · names as they stood" in settings
    assert any(s.startswith("hashing · name 1 (") for s in settings)
    written = "".join(p.read_text() for p in (tmp_path / "out").rglob("*.*")).lower()
    near, far = listed_names(Conditions(size="smoke"))
    assert near
    assert far
    shown = {word for word in near | far if f" {word} " in written or f'"{word}"' in written}
    assert not shown


def test_names_as_frequent_as_each_other_come_in_the_same_order_in_every_process() -> None:
    choose = (
        "from unembed.papers import Conditions; from unembed.papers.coro2022_names import Table57 as T; "
        "from unembed.papers.texts import coro_texts; c = Conditions(size='smoke'); "
        "found = T()._names(c, coro_texts(c, T.amounts['smoke'], 'en')); print(found.asked, found.put_in)"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", choose],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "5")
    }
    assert len(said) == 1
