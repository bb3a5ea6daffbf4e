"""Pan 2020, keyword inference: printed figures are the paper's, the experiments run, worlds keep the sides apart."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from unembed.corpora.substitution import contains_keyword
from unembed.games.base import Scores
from unembed.metrics.classes import macro_recall
from unembed.papers import EXPERIMENTS, Conditions
from unembed.papers.base import Measured, Reproduction
from unembed.papers.pan2020_defended import PARAMETERS, Fitted, OwnersCase, Strength, summed, together
from unembed.papers.pan2020_texts import EXTERNAL, SHADOW, case_study, fewer
from unembed.papers.plot import draw

Run = Callable[..., dict[str, Any]]


def test_table_3_is_typed_as_printed() -> None:
    facts = EXPERIMENTS.get("pan2020/table3").facts
    worst, average = "accuracy of the best epoch", "accuracy"
    assert facts.printed("Medical · BERT-base, first token · external corpus", worst) == 1.0
    assert facts.printed("Medical · BERT-base, first token · external corpus", average) == 0.86
    assert facts.printed("Airline · Transformer-XL · external corpus", average) == 0.807
    settings = {p.setting for p in facts.published}
    assert len(settings) == 16
    assert all(facts.printed(s, worst) >= facts.printed(s, average) for s in settings)


def test_no_target_is_known_and_absent_words_are_absent() -> None:
    texts = case_study("Medical", Conditions(size="smoke"))
    targets = set(texts.target.texts)
    assert not targets & set(texts.known[SHADOW].texts)
    assert not targets & set(texts.known[EXTERNAL].texts)
    absent = texts.absent(5, 0)
    assert len(set(absent)) == 5
    assert not contains_keyword(texts.target.texts, absent).any()
    small = fewer(texts.known[SHADOW], 30, texts.keywords, 0)
    assert len(small) == 30
    assert (contains_keyword(small.texts, texts.keywords).sum(axis=0) >= 2).all()


def test_figure_6_plays_every_attack_with_and_without_knowledge(smoke: Run) -> None:
    result = smoke("pan2020/figure6f")
    assert not result["unmeasured"]
    rows = {(row["setting"], row["metric"]): row for row in result["rows"]}
    name = "bag of words, tf-idf"
    for attack, knowledge in (("SVM", SHADOW), ("MLP", SHADOW), ("SVM", EXTERNAL), ("DANN", EXTERNAL)):
        assert (f"{attack} · {name} · {knowledge}", "accuracy") in rows
    unsettled = f"DANN · {name} · {EXTERNAL}"
    assert rows[unsettled, "accuracy of the best epoch"]["value"] >= rows[unsettled, "accuracy"]["value"]
    ours = rows[f"aligned (ours) · {name} · {EXTERNAL}", "accuracy"]
    assert ours["value"] > ours["floor"] + 0.1
    for metric in ("average precision over all texts", "precision among the first n texts"):
        found = rows[f"aligned (ours) · {name} · {EXTERNAL}", metric]
        assert found["value"] > found["floor"] + 0.1


def test_table_3_counts_false_alarms_against_a_floor_that_is_always_right(smoke: Run) -> None:
    result = smoke("pan2020/table3")
    assert {row["floor"] for row in result["rows"] if row["metric"] == "accuracy"} == {1.0}
    assert any("not available" in row["reason"] for row in result["unmeasured"])


@pytest.mark.parametrize("name", ["pan2020/table5", "pan2020/figure4", "pan2020/figure6-ablations", "pan2020/figure6b"])
def test_the_rest_runs_whole(smoke: Run, name: str) -> None:
    result = smoke(name)
    assert result["rows"]
    assert not result["unmeasured"]


def test_the_angle_between_boundaries_is_the_same_in_every_run() -> None:
    first, again = (EXPERIMENTS.get("pan2020/figure4")().run(Conditions(size="smoke", threads=1)) for _ in range(2))
    assert first == again


def test_table_4_is_typed_as_printed_and_measured(smoke: Run) -> None:
    facts = EXPERIMENTS.get("pan2020/table4").facts
    assert facts.printed("BERT-base, first token", "largest L1 distance") == 81.82
    assert facts.printed("XLNet", "largest L1 distance") == 601.5
    assert len(facts.published) == 8
    result = smoke("pan2020/table4")
    found = {row["metric"]: row for row in result["rows"]}
    assert found["largest L1 distance"]["value"] > found["mean L1 distance"]["value"] > 0
    assert {row["setting"] for row in result["unmeasured"]} >= {"XLNet", "GPT-2"}


@pytest.fixture
def figure_7(smoke: Run) -> dict[tuple[str, str], dict[str, Any]]:
    """Its rows by setting and metric."""
    result = smoke("pan2020/figure7")
    assert not result["unmeasured"]
    return {(row["setting"], row["metric"]): row for row in result["rows"]}


def test_figure_7_attacks_each_defense_knowing_it_and_not(figure_7: dict[tuple[str, str], dict[str, Any]]) -> None:
    found = {setting: row for (setting, metric), row in figure_7.items() if metric == "accuracy"}
    start = f"SVM · reduced bag of words · {SHADOW}"
    usual = [s for s in found if any(f" · {d} · " in s for d in PARAMETERS)]
    assert len(usual) == 4 * 2 * 2 * 2
    for defense, last in (("rounding", "decimals 0"), ("laplace", "epsilon 3")):
        for who in ("unaware", "adaptive"):
            assert found[f"{start} · {defense} · {who} · {last}"]["value"] < 0.65
    weak = found[f"{start} · rounding · adaptive · decimals 1"]
    assert weak["value"] > weak["floor"] + 0.05
    assert {row["x"] for setting, row in found.items() if " · subspace · " in setting} == {0.5, 0.9}

    plain = found[f"{start} · no defense"]
    assert plain["value"] > plain["floor"] + 0.1
    for who in ("unaware", "adaptive"):
        told = found[f"{start} · subspace, told of the word · {who} · beta 0.2"]
        another = found[f"{start} · subspace, told of another word · {who} · beta 0.2"]
        assert another["value"] > another["floor"] + 0.1, "a word that the defense was not told of is not hidden"
        assert told["value"] < another["value"] - 0.05
        for part in ("targets", "targets and pairs"):
            assert f"{start} · ppm, fitted on the {part} · {who} · nearness 0.1" in found

    useful = {setting: row for (setting, metric), row in figure_7.items() if metric == "utility"}
    assert len(useful) == 1 + 4 * 2 + 1
    assert {row["floor"] for row in useful.values()} == {0.1}
    kept = useful["department · reduced bag of words · no defense"]["value"]
    nothing = "department · reduced bag of words · rounding · decimals 0"
    assert kept > 0.3
    assert useful[nothing]["low"] < 0.15, "nothing is left of vectors that are all zero"
    for setting, row in useful.items():
        if "no defense" not in setting:
            assert (setting, "utility, service not told") in figure_7
            assert figure_7[setting, "utility lost"]["value"] == pytest.approx(kept - row["value"], abs=1e-9)


@pytest.mark.filterwarnings("ignore:lsa keeps")
def test_defenses_are_fitted_on_texts_that_are_nobody_elses() -> None:
    case = OwnersCase(Conditions(size="smoke"), "Medical")
    owners, target = set(case.parts[1].texts), set(case.texts.target.texts)
    assert owners
    assert not owners & target
    assert not any(owners & set(known.texts) for known in case.texts.known.values())
    assert not owners & set(case.examples.texts)
    told = tuple(case.texts.keywords)
    on: tuple[Fitted, ...] = ("owner", "targets", "targets and pairs")
    fitted, badly, worse = (case.chain("lsa-tfidf", Strength("subspace", 0.1, told, part)) for part in on)
    assert case.chain("lsa-tfidf", Strength("subspace", 0.1, told)) is fitted
    for other in (badly, worse):
        assert not np.allclose(vars(fitted.steps[0])["directions_"], vars(other.steps[0])["directions_"])


def test_distances_are_drawn_on_a_scale_of_their_own() -> None:
    facts = EXPERIMENTS.get("pan2020/table4").facts
    rows = [
        Measured(name, facts.headline or "", value, value, value, 10) for name, value in (("a", 240.0), ("b", 18.0))
    ]
    dots = re.findall(r'<circle cx="([\d.]+)"[^>]*r="5"[^>]*><title>', draw(facts, Reproduction(tuple(rows))))
    assert len(set(dots)) == 2


def test_figures_of_one_keyword_each_are_their_mean() -> None:
    one, other = (Scores(np.array(parts, dtype=float), macro_recall) for parts in ([[1, 1], [0, 1]], [[1, 1], [1, 1]]))
    assert together([one, other]).point == 0.75
    assert summed([one, other]).point == 0.75
