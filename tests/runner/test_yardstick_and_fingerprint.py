"""In an audit: a yardstick is played only when named and decides nothing; one candidate is no test of a fingerprint."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planning import planned

from unembed.encoders.base import EncoderCard
from unembed.errors import NothingRanError
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.report.sarif import render_sarif
from unembed.runner.execute import audit
from unembed.runner.spec import AuditSpec, build_spec
from unembed.testing.toys import toy_corpus

CARD = EncoderCard("toy", "toy", "digest", 48, False)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    corpus = toy_corpus(400)
    rows = (f"{text},{side}" for text, side in zip(corpus.texts, corpus.column("side"), strict=True))
    (tmp_path / "toy.csv").write_text("text,side\n" + "\n".join(rows) + "\n")
    return tmp_path


def spec_for(place: Path, **changes: Any) -> AuditSpec:
    data = {"texts": str(place / "toy.csv"), "column": "text", **changes.pop("data", {})}
    return build_spec(
        {
            "data": data,
            "encoder": {"name": "lsa", "components": 20},
            "adversaries": ["insider"],
            "threads": 1,
            "run": {"no_cache": True, "folder": str(place / "run")},
            **changes,
        }
    )


def cells_and_reasons(spec: AuditSpec, card: EncoderCard = CARD) -> tuple[list[str], list[str]]:
    plan = planned(spec, card, "v")
    return [c.identity.attack.name for c in plan.cells], [s.reason for s in plan.skipped if s.what != "names"]


class TestYardstick:
    SIDE: dict[str, Any] = {"data": {"attributes": ["side"]}, "games": ["attribute"]}  # noqa: RUF012

    def test_it_is_not_played_unless_it_is_named(self, place: Path) -> None:
        assert cells_and_reasons(spec_for(place, **self.SIDE))[0] == ["attribute/portfolio"]
        named = cells_and_reasons(spec_for(place, attacks=["attribute/textcnn"], **self.SIDE))
        assert named[0] == ["attribute/textcnn"]

    def test_who_was_not_named_lacks_the_texts(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from dataclasses import replace

        from unembed.attacks.attribute.textcnn import AttributeTextCNN

        monkeypatch.setattr(AttributeTextCNN, "facts", replace(AttributeTextCNN.facts, default=True))
        cells, reasons = cells_and_reasons(spec_for(place, **self.SIDE))
        assert cells == ["attribute/portfolio"]
        assert "the insider lacks: the texts" in reasons

    def test_a_game_that_looks_into_vectors_is_not_for_it(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from dataclasses import replace

        from unembed.games.attribute import AttributeGame

        monkeypatch.setattr(AttributeGame, "facts", replace(AttributeGame.facts, plays_texts=False))
        cells, reasons = cells_and_reasons(spec_for(place, attacks=["attribute/textcnn"], **self.SIDE))
        assert not cells
        assert any(r.startswith("not applicable") for r in reasons)

    def test_its_figure_stands_beside_and_decides_nothing(self, place: Path) -> None:
        limit = {"rules": [{"id": "strict", "metric": "excess", "max": 0.99}]}
        both = ["attribute/linear", "attribute/textcnn"]
        run, _ = audit(spec_for(place, attacks=both, policy=limit, **self.SIDE))
        by_attack = {f.attack: f for f in run.findings}
        reader = by_attack["attribute/textcnn"]
        assert reader.status == "yardstick"
        assert reader.excess.low > 0
        assert "the texts" in reader.cost.capabilities
        assert by_attack["attribute/linear"].status != "yardstick"
        assert reader.id not in run.verdict.findings
        assert run.gate is not None
        assert {o.finding for o in run.gate.outcomes} == {by_attack["attribute/linear"].id}
        assert "reads the texts" in render_html(run)
        assert "reads the texts" in render_markdown(run)
        assert reader.id not in render_sarif(run)

    def test_alone_it_says_nothing_about_vectors(self, place: Path) -> None:
        run, _ = audit(spec_for(place, attacks=["attribute/textcnn"], **self.SIDE))
        assert run.verdict.level == "unknown"
        assert "yardsticks" in run.verdict.sentence


class TestFingerprint:
    def test_it_is_asked_only_when_named(self, place: Path) -> None:
        assert "fingerprint" not in spec_for(place).games

    def test_an_encoder_is_told_from_others_of_its_dimension(self, place: Path) -> None:
        run, _ = audit(spec_for(place, games=["fingerprint"], params={"fingerprint": {"candidates": ["hashing"]}}))
        assert {f.attack for f in run.findings} == {"fingerprint/classifier", "fingerprint/signatures"}
        for finding in run.findings:
            others = {f"{kind}, 20 columns" for kind in ("hashing", "tf-idf", "lsa")}
            assert {s.name for s in finding.slices} == {"lsa of tfidf", *others}
            assert finding.slices[0].name == "lsa of tfidf"
            assert finding.estimate.value > 0.5
            assert any("hashing (262,144 dimensions)" in note for note in finding.notes)
            assert not [s for s in finding.samples if not s.masked]
        assert "Which encoder" in render_html(run)

    def test_one_candidate_is_no_test(self, place: Path) -> None:
        with pytest.raises(NothingRanError, match="the dimension alone"):
            audit(spec_for(place, games=["fingerprint"], encoder={"name": "hashing"}))

    def test_of_stored_vectors_the_verb_is_asked(self, place: Path) -> None:
        np.save(place / "v.npy", np.random.default_rng(0).standard_normal((400, 48)).astype(np.float32))
        spec = spec_for(place, games=["fingerprint"], data={"vectors": str(place / "v.npy")}, encoder={})
        cells, reasons = cells_and_reasons(spec)
        assert not cells
        assert any(r.startswith("not applicable: without the encoder") for r in reasons)
