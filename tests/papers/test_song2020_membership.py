"""Song 2020, Figures 4 and 5: the experiments run, and what they compare is drawn fairly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from unembed.corpora.corpus import Corpus
from unembed.encoders import build_encoder
from unembed.papers.learnt_halves import Halves, of_vocabulary
from unembed.papers.song2020_membership import LABELLED

Run = Callable[..., dict[str, Any]]


def test_figure_4_has_a_curve_for_each_attack_and_a_row_without_a_model(smoke: Run, tmp_path: Path) -> None:
    pytest.importorskip("gensim")
    result = smoke("song2020/figure4")
    assert not result["unmeasured"]
    curves = {(row["series"], row["x"]) for row in result["rows"] if row["x"] is not None}
    assert {name for name, _ in curves} == {"word2vec · Algorithm 4", "word2vec · ours"}
    assert {x for _, x in curves} == {10.0 * tenth for tenth in range(1, 11)}
    whole = {row["metric"] for row in result["rows"] if row["setting"] == "Algorithm 4 · word2vec"}
    assert {"advantage", "balanced accuracy", "AUC", "TPR at 1 % FPR"} <= whole
    alone = next(row for row in result["rows"] if row["setting"] == "texts alone, no model")
    assert alone["high"] < 0.15, "words alone do not tell the halves apart"
    ElementTree.parse(tmp_path / "out" / "plot.svg")


def test_figure_5_has_pairs_and_books_and_says_what_is_not_measured(smoke: Run) -> None:
    result = smoke("song2020/figure5")
    settings = {row["setting"] for row in result["rows"]}
    for level in ("pair", "book"):
        for attack in ("Algorithm 5", "Algorithm 5, learned", "ours"):
            assert f"{attack} · reduced bag of words · {level}" in settings
        assert f"Algorithm 5, learned · reduced bag of words · {level} · half of the books labelled" in settings
        assert f"texts alone, no model · {level}" in settings
    assert "Algorithm 5 · reduced bag of words · pair · tenth 10 (rarest)" in settings
    absent = {row["setting"] for row in result["unmeasured"]}
    assert absent == {
        f"{attack} · {model} dual encoder · {level}"
        for attack in ("Algorithm 5", "Algorithm 5, learned")
        for model in ("LSTM", "Transformer")
        for level in ("pair", "book")
    }


def test_halves_are_of_whole_documents_and_the_same_whatever_is_labelled() -> None:
    homes = [f"book {row % 40}" for row in range(400)]
    corpus = Corpus.of([f"text {row}" for row in range(400)], document=homes)
    few, many = (Halves.of(corpus, share, seed=2) for share in (LABELLED, 0.5))
    assert np.array_equal(few.learnt, many.learnt)
    for halves, labelled in ((few, 4), (many, 20)):
        sides: dict[str, set[tuple[bool, bool]]] = {}
        for home, learnt, known in zip(homes, halves.learnt, halves.known, strict=True):
            sides.setdefault(home, set()).add((bool(learnt), bool(known)))
        assert all(len(side) == 1 for side in sides.values())
        told = [next(iter(side)) for side in sides.values()]
        assert sum(learnt for learnt, _ in told) == 20
        assert sum(known for _, known in told) == labelled
        assert sum(learnt and known for learnt, known in told) == labelled / 2
    assert not (few.known & ~many.known).any()


def test_a_word_without_a_row_of_its_own_is_not_made_up_from_its_letters() -> None:
    pytest.importorskip("gensim")
    texts = ["the garden gate stood open", "the garden was green", "a green gate"] * 4
    table = build_encoder("fasttext", {"dimension": 8, "epochs": 1, "min_count": 2, "buckets": 100}, fit_texts=texts)
    words = ["garden", "gardens", "xyz"]
    assert (table.encode(words)[1] != 0).any()
    vectors = of_vocabulary(table, words)
    assert (vectors[0] == table.encode(words)[0]).all()
    assert not vectors[1:].any()
