"""Authorship and fingerprints as experiments: draws keep sides apart, every row has its parts, rows are kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from unembed.corpora.corpus import Corpus
from unembed.errors import CannotMeasureError
from unembed.papers import EXPERIMENTS
from unembed.papers.author_pools import Pool

Run = Callable[..., dict[str, Any]]


def pool() -> Pool:
    rows = [(a, p, n) for a in range(12) for p in range(4) for n in range(10)]
    columns = {"author": [f"author {a}" for a, _, _ in rows], "part": [f"{a}-{p}" for a, p, _ in rows]}
    return Pool(Corpus.of([f"sentence {a} {p} {n}" for a, p, n in rows], **columns), ())


@pytest.mark.parametrize("apart", [False, True])
def test_a_draw_has_as_many_of_each_author_and_nothing_twice(apart: bool) -> None:
    draw = pool().draw(5, 8, 6, seed=1, apart=apart)
    assert set(Counter(draw.known.column("author")).values()) == {8}
    assert set(Counter(draw.target.column("author")).values()) == {6}
    assert set(draw.known.column("author")) == set(draw.target.column("author"))
    assert not set(draw.known_rows) & set(draw.target_rows)
    if apart:
        assert not set(draw.known.column("part")) & set(draw.target.column("part"))


def test_other_seeds_draw_other_authors_and_too_many_are_an_error() -> None:
    first, again, other = (pool().draw(5, 8, 6, seed=s).known.texts for s in (1, 1, 2))
    assert first == again != other
    with pytest.raises(CannotMeasureError, match="12 authors"):
        pool().draw(13, 8, 6, seed=0)


def test_figure_3_sets_vectors_beside_the_text(smoke: Run, tmp_path: Path) -> None:
    result = smoke("song2020/figure3")
    metrics = {(row["setting"].split(" · ")[0], row["metric"]) for row in result["rows"]}
    assert metrics == {
        ("TextCNN on the text", "top-5 accuracy"),
        ("TextCNN on the text", "top-1 accuracy"),
        ("bag of words, tf-idf", "top-5 accuracy"),
        ("bag of words, tf-idf", "top-1 accuracy"),
        ("bag of words, tf-idf", "top-5 above TextCNN"),
    }
    for row in result["rows"]:
        assert row["low"] <= row["value"] <= row["high"]
        assert (row["floor"] is None) == (row["metric"] == "top-5 above TextCNN")
    assert EXPERIMENTS.get("song2020/figure3").facts.published == ()
    ElementTree.parse(tmp_path / "out" / "plot.svg")
    kept = {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "rows").iterdir()}
    smoke("song2020/figure3")
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "rows").iterdir()} == kept


def test_figure_9_names_encoders_and_leaves_some_out(smoke: Run) -> None:
    result = smoke("pan2020/figure9")
    rows = {(row["setting"], row["metric"]): row for row in result["rows"]}
    for n in ("1 vector", "10 vectors", "100 vectors"):
        assert rows[f"perceptron (d-200-k) · {n}", "accuracy"]["floor"] == pytest.approx(1 / 3)
        for metric in ("accuracy", "named rightly", "named wrongly", "unknown encoder named"):
            assert 0 <= rows[f"signatures from made-up text · {n}", metric]["value"] <= 1
    assert rows["signatures from made-up text · 100 vectors", "accuracy"]["value"] == 1
    assert ("clusters · hidden layer", "nearest of the same encoder") in rows


def test_figure_9_says_whose_weights_are_missing(smoke: Run) -> None:
    names = ("tfidf", "hashing", "bge")
    result = smoke("pan2020/figure9", *(part for name in names for part in ("--encoder", name)))
    assert [row["setting"] for row in result["unmeasured"]] == ["bge"]
    assert "bge-small-en-v1.5" in result["unmeasured"][0]["reason"]
    assert result["rows"]
