"""Pan 2020, section V: the printed figures, and experiments that run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from unembed.papers import EXPERIMENTS

Run = Callable[..., dict[str, Any]]


def test_no_printed_whole_exceeds_its_worst_part() -> None:
    """A whole date is right only where all its parts are."""
    facts = EXPERIMENTS.get("pan2020/table2").facts
    settings = {p.setting for p in facts.published}
    assert len(settings) == 9
    for setting in settings:
        for top in ("top-1", "top-5"):
            parts = [facts.printed(setting, f"{part} {top}") for part in ("year", "month", "day")]
            assert facts.printed(setting, f"whole {top}") <= min(parts)
    assert facts.printed("one network a part · BERT-base, first token", "whole top-1") == 0.219


def test_table_2_runs(smoke: Run, tmp_path: Path) -> None:
    result = smoke("pan2020/table2")
    rows = {(row["setting"], row["metric"]): row for row in result["rows"]}
    for attack in ("one network a part", "shared body (ours)"):
        whole = rows[f"{attack} · MiniLM", "whole top-5"]
        assert whole["low"] <= whole["value"] <= whole["high"]
        assert whole["n"] == 50
        assert (f"{attack} · MiniLM", "year top-1") in rows
    assert any("GPT-2" in row["setting"] for row in result["unmeasured"])
    ElementTree.parse(tmp_path / "out" / "plot.svg")


def test_figure_3_has_every_position(smoke: Run, tmp_path: Path) -> None:
    result = smoke("pan2020/figure3")
    for series in ("position as input · MiniLM", "one network a part · MiniLM", "shared body (ours) · MiniLM"):
        places = [row["x"] for row in result["rows"] if row["series"] == series]
        assert places == [float(i) for i in range(1, 21)]
    assert sum(row["metric"] == "mean top-1" for row in result["rows"]) == 3
    ElementTree.parse(tmp_path / "out" / "plot.svg")


def test_the_curve_over_pairs_has_the_same_targets_at_every_point(smoke: Run) -> None:
    result = smoke("pan2020/table2-pairs")
    assert {row["x"] for row in result["rows"]} == {100.0, 200.0}
    assert len({row["n"] for row in result["rows"]}) == 1


def test_other_patterns_are_measured_alone_and_in_sentences(smoke: Run) -> None:
    result = smoke("pan2020/other-patterns")
    assert not result["unmeasured"]
    found = {row["setting"] for row in result["rows"]}
    assert "passport, in sentences · shared body (ours) · MiniLM" in found
    assert "passport, alone · one network a part · MiniLM" in found
