"""A column of quantities is asked about by the game of numbers, once, and only where it is played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from planning import planned

from unembed.encoders.base import EncoderCard
from unembed.report.html import render_html
from unembed.runner.execute import audit
from unembed.runner.spec import AuditSpec, build_spec
from unembed.testing.toys import toy_corpus

CARD = EncoderCard("toy", "toy", "digest", 48, False)
ENCODER = """
from unembed.testing.toys import LeakyEncoder
encode = LeakyEncoder().encode
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    corpus = toy_corpus(500)
    rows = [
        f"{text},{weight + i / 1000},{side}"
        for i, (text, weight, side) in enumerate(
            zip(corpus.texts, corpus.column("weight"), corpus.column("side"), strict=True)
        )
    ]
    (tmp_path / "toy.csv").write_text("text,weight,side\n" + "\n".join(rows) + "\n")
    (tmp_path / "leaky.py").write_text(ENCODER)
    return tmp_path


def spec_for(place: Path, **changes: Any) -> AuditSpec:
    return build_spec(
        {
            "data": {"texts": str(place / "toy.csv"), "column": "text", "attributes": ["weight", "side"]},
            "encoder": {"name": f"callable:{place / 'leaky.py'}:encode", "version": "1"},
            "adversaries": ["insider"],
            "games": ["attribute", "number"],
            "threads": 1,
            "run": {"no_cache": True, "folder": str(place / "run")},
            **changes,
        }
    )


def asked(spec: AuditSpec) -> set[tuple[str, str]]:
    plan = planned(spec, CARD, "v")
    return {(c.identity.game.name, c.identity.subject) for c in plan.cells}


def test_each_column_goes_to_its_game(place: Path) -> None:
    assert asked(spec_for(place)) == {("number", "weight"), ("attribute", "side")}
    assert asked(spec_for(place, games=["attribute"])) == {("attribute", "weight"), ("attribute", "side")}
    assert asked(spec_for(place, games=["number"])) == {("number", "weight")}
    names = {"data": {"texts": str(place / "toy.csv"), "column": "text", "attributes": ["side", "weight"]}}
    as_classes = spec_for(place, **names, params={"attribute": {"numbers": "classes"}})
    assert asked(as_classes) == {("attribute", "weight"), ("attribute", "side")}


def test_no_quantities_is_said(place: Path) -> None:
    spec = spec_for(place, data={"texts": str(place / "toy.csv"), "column": "text", "attributes": ["side"]})
    plan = planned(spec, CARD, "v")
    assert [s.reason for s in plan.skipped if s.what == "number"] == ["no attribute column holds quantities"]


def test_the_whole_audit(place: Path) -> None:
    run, _ = audit(spec_for(place))
    number = next(f for f in run.findings if f.game == "number")
    assert number.status == "leak"
    assert number.metric == "error_reduction"
    assert {s.kind for s in number.slices} == {"range"}
    assert "'weight'" in run.verdict.sentence or "'side'" in run.verdict.sentence
    assert all(s.masked for s in number.samples)
    assert "Small and large numbers" in render_html(run)
