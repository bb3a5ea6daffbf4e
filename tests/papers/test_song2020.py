"""Song 2020: the figures typed in are the printed ones, and the experiments run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from unembed.encoders.base import WhiteBoxEncoder
from unembed.games.inversion import InversionGame
from unembed.papers import EXPERIMENTS, Conditions
from unembed.papers.base import ExperimentFacts
from unembed.papers.encoders import Encoders
from unembed.papers.song2020_inversion import piece_deal, word_deal
from unembed.papers.texts import IN, Amounts, song_texts

Run = Callable[..., dict[str, Any]]


@pytest.mark.parametrize(("name", "rows"), [("song2020/table1", 12), ("song2020/table2", 16), ("song2020/figure2", 2)])
def test_printed_f1_is_the_harmonic_mean_of_printed_precision_and_recall(name: str, rows: int) -> None:
    facts: ExperimentFacts = EXPERIMENTS.get(name).facts
    settings = {p.setting for p in facts.published}
    assert len(settings) == rows
    for setting in settings:
        found = [facts.printed(setting, metric) for metric in ("precision", "recall", "F1")]
        precision, recall, f1 = (value for value in found if value is not None)
        assert f1 == pytest.approx(2 * precision * recall / (precision + recall), abs=2e-4), setting


def test_table_2_has_all_its_parts(smoke: Run, tmp_path: Path) -> None:
    result = smoke("song2020/table2")
    settings = {row["setting"] for row in result["rows"]}
    for attack in ("MLC", "MLC, tuned", "MSP"):
        for domain in ("same domain", "cross domain"):
            assert f"{attack} · bag of words, tf-idf · {domain}" in settings
    for row in result["rows"]:
        assert row["published"] is None  # invented text is not set beside printed figures
        assert row["low"] <= row["value"] <= row["high"]
        assert row["floor"] is not None
    reasons = {row["setting"]: row for row in result["unmeasured"]}
    assert "ALBERT" in reasons["MSP · ALBERT · cross domain"]["reason"]
    assert reasons["MSP · ALBERT · cross domain"]["published"]["F1"] == 0.7232
    assert any("invented text" in note for note in result["notes"])
    ElementTree.parse(tmp_path / "out" / "plot.svg")


def test_table_1_runs_on_a_shallow_encoder(smoke: Run) -> None:
    pytest.importorskip("gensim")
    result = smoke("song2020/table1")
    settings = {row["setting"] for row in result["rows"]}
    assert "Equation 5 · mean of word2vec · same domain" in settings
    assert "Equation 5 · mean of word2vec · cross domain" not in settings
    for domain in ("same domain", "cross domain"):
        assert f"Equation 7 · mean of word2vec · {domain}" in settings
    assert {"F1", "piece F1"} <= {row["metric"] for row in result["rows"]}


@pytest.mark.slow
def test_word_pieces_take_the_place_of_words() -> None:
    conditions = Conditions(size="smoke")
    texts = song_texts(conditions, Amounts(60, 20, 10))
    encoders = Encoders(conditions, texts.fit)
    words, pieces = (make(encoders, texts, "minilm", IN, InversionGame()) for make in (word_deal, piece_deal))
    assert any(piece.startswith("##") for piece in pieces.truth.vocabulary.words)
    encoder = encoders.encoder("minilm")
    assert isinstance(encoder, WhiteBoxEncoder)
    for row, ids in enumerate(encoder.token_ids(texts.target.texts)):
        assert pieces.truth.labels[row].sum() + pieces.truth.outside[row].sum() == len(set(ids))
    assert words.truth.pieces is not None
    assert np.array_equal(words.vectors, pieces.vectors)


@pytest.mark.slow
def test_figure_2_has_a_point_for_each_layer(smoke: Run) -> None:
    result = smoke("song2020/figure2")
    assert {row["x"] for row in result["rows"]} == {0.0, 3.0, 6.0}
    assert {row["series"] for row in result["rows"]} == {
        f"{attack} · MiniLM" for attack in ("Equation 5", "Equation 7", "MLC, tuned")
    }
