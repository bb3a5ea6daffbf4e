"""Membership in models as experiments: rows have their parts, writers lie on one side, canaries are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from unembed.corpora.patterns import parse_pattern
from unembed.nn.language_model import LanguageModel
from unembed.papers import EXPERIMENTS, Conditions
from unembed.papers.character_models import Characters, log_perplexity_of
from unembed.papers.coro2022_extraction import ExtractionStudy
from unembed.papers.coro2022_language import CanaryStudy
from unembed.papers.coro2022_models import SOURCES, Study, _collected

Run = Callable[..., dict[str, Any]]


def by_setting(result: dict[str, Any]) -> dict[str, dict[str, float]]:
    rows: dict[str, dict[str, float]] = {}
    for row in result["rows"]:
        rows.setdefault(row["setting"], {})[row["metric"]] = row["value"]
    return rows


def test_classifiers_give_their_texts_away_and_texts_alone_do_not(smoke: Run, tmp_path: Path) -> None:
    result = smoke("coro2022/section3.3")
    rows = by_setting(result)
    assert not result["unmeasured"]
    attacks = {name.split(" · ")[0] for name in rows}
    assert attacks == {
        *("threshold per class, confidence", "threshold per class, rank", "threshold per class, modified entropy"),
        *("attack model per class", "likelihood ratio", "aggregates of users"),
        *("a classifier that reads the texts alone", "the classifier itself"),
    }
    for name, found in rows.items():
        if name.startswith("threshold per class, confidence · perceptron"):
            assert found["balanced accuracy"] > 0.7
            assert found["balanced accuracy, users"] > 0.7
        if name.startswith("the classifier itself"):
            assert found["right in what it learnt from"] > found["right in the rest"]
        if name.startswith("a classifier that reads the texts alone"):
            assert found["balanced accuracy"] == pytest.approx(0.5, abs=0.12)
    assert EXPERIMENTS.get("coro2022/section3.3").facts.published == ()
    ElementTree.parse(tmp_path / "out" / "plot.svg")


def test_no_writer_lies_on_both_sides() -> None:
    conditions = Conditions(size="smoke")
    study = Study(conditions, SOURCES[0], _collected(conditions, SOURCES[0]), "tfidf")
    assert not set(study.target.column("writer")) & set(study.known.column("writer"))
    assert len(study.target) > 50
    assert set(study.target.column("label")) <= set(study.classes)


def test_exposure_has_its_curves_and_its_ends(smoke: Run, tmp_path: Path) -> None:
    result = smoke("coro2022/figure3.1")
    assert not result["unmeasured"]
    rows = by_setting(result)
    for times in ("not planted", "planted 1 time", "planted 64 times"):
        assert set(rows[times]) == {
            "exposure (bits)",
            "exposure by a sample",
            "interval holds it",
            "found first by search",
        }
        assert 0 <= rows[times]["exposure (bits)"] <= np.log2(100)
        assert f"{times} · after 2 epochs" in rows
    assert rows["canary exposure · canaries planted or not"]["balanced accuracy"] >= 0
    curves = [row for row in result["rows"] if row["series"] == "planted 64 times"]
    assert [row["x"] for row in curves] == [1, 2]
    ElementTree.parse(tmp_path / "out" / "plot.svg")


def test_every_canary_has_words_of_its_own_and_the_exact_rank_is_that_of_its_digits() -> None:
    study = CanaryStudy(Conditions(size="smoke", device="cpu"))
    assert len({canary.format for canary in study.canaries}) == len(study.canaries)
    planted = [study.characters.of(c.text) for c in study.canaries for _ in range(c.times)]
    assert all(study.sequences.count(tokens) >= 1 for tokens in planted)
    model = LanguageModel(vocabulary=len(study.characters), units=16, epochs=1, device="cpu").fit(study.sequences)
    for canary, found in zip(study.canaries[:3], study.exact(model), strict=False):
        every = log_perplexity_of(model, study.characters, list(parse_pattern(canary.format).every()))
        own = log_perplexity_of(model, study.characters, [canary.text])[0]
        assert found.bits.value == pytest.approx(np.log2(100) - np.log2((every <= own + 1e-6).sum()), abs=0.3)


def test_rankings_and_written_texts_have_their_rows(smoke: Run) -> None:
    result = smoke("coro2022/section3.2")
    assert not result["unmeasured"]
    rows = by_setting(result)
    assert {"perplexity", "ratio to a second model", "ratio to zlib", "ratio to lower case"} <= set(rows)
    for how in ("likeliest 5 characters", "falling temperature", "prompted by 10 characters"):
        assert {"learnt from, of all", "repeated sentences written"} == set(rows[f"written · {how}"])
        assert "learnt from, of the first 20" in rows[f"written · {how} · ratio to zlib"]


def test_the_parts_of_the_sentences_are_apart_and_repeated_ones_are_not_asked_about() -> None:
    study = ExtractionStudy(Conditions(size="smoke", device="cpu"))
    assert len(study.parts) == 5
    assert sum(map(len, study.parts)) == len({text for part in study.parts for text in part})
    assert len(study.deal.truth.inside) == 2 * (len(study.parts[0]) - study.scale.repeated)


def test_characters_that_are_rare_are_one() -> None:
    characters = Characters(["abc" * 3, "ab", "日"])
    assert characters.text(characters.of("abc")) == "abc"
    assert characters.of("x") == [len(characters) - 1]
    assert "x" not in characters.text(characters.of("x"))
