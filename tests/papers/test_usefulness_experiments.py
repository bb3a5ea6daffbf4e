"""Table 5.1 of Corò and Figure 8 of Pan: the figures typed in are the printed ones, and both run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from published_sets import write_published_sets
from unembed.papers import EXPERIMENTS, Conditions
from unembed.papers.coro2022_categories import PARTS, Table51
from unembed.papers.coro2022_words import MODELS
from unembed.papers.pan2020_systems import Figure8

Run = Callable[..., dict[str, Any]]


def test_printed_figures_hang_together() -> None:
    """Two models have no row in-domain; that of hashing is the same in both."""
    printed = Table51.facts.published
    assert len(printed) == 3 * (4 + 5)
    assert sum(p.value for p in printed) == pytest.approx(21.1309)
    for model in MODELS.values():
        domains = {p.setting.split(" · ")[1] for p in printed if p.setting.startswith(f"{model} · ")}
        for domain in domains:
            rows = [f"{model} · {domain} · {part}" for part in PARTS.values()]
            values = [p.value for row in rows for p in printed if p.setting == row]
            assert values == sorted(values)
            assert len(values) == 3
    assert [p.value for p in Figure8.facts.published] == [0.75, 0.9]


@pytest.mark.parametrize("name", ["coro2022/table5.1", "pan2020/figure8"])
def test_it_runs_on_invented_text(name: str, smoke: Run) -> None:
    found = smoke(name)
    headline = EXPERIMENTS.get(name).facts.headline
    rows = [row for row in found["rows"] if row["metric"] == headline]
    assert not found["unmeasured"]
    assert len(rows) == {"coro2022/table5.1": 6, "pan2020/figure8": 2}[name]
    assert all(row["published"] is None and 0 < row["floor"] <= 0.5 for row in rows)
    assert max(row["value"] - row["floor"] for row in rows) > 0.3


def test_published_rows_have_the_names_of_measured_ones(tmp_path: Path) -> None:
    write_published_sets(tmp_path)
    conditions = Conditions(size="small", data=tmp_path)
    named = {row.setting for row in Figure8().rows(conditions, Figure8.known)[0]}
    assert {p.setting for p in Figure8.facts.published} <= named


def test_encoders_that_learn_do_so_in_either_domain(tmp_path: Path) -> None:
    rows, notes = Table51().rows(Conditions(size="smoke"), Table51.known)
    named = {row.setting for row in rows}
    assert {p.setting for p in Table51.facts.published} <= named
    fitted = {row.identity["fit"] for row in rows if row.identity["encoder"] == "tfidf"}
    assert len(fitted) == 3, "titles, statements (of which the first sentences are all), and the external corpus"
    assert len({row.identity["fit"] for row in rows if row.identity["encoder"] == "doc2vec"}) == 1
    assert len(notes) == 2
