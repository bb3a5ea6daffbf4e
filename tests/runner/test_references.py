"""Other encoders beside a finding: the same question on the same texts, which no judgement rests on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unembed.errors import UsageError
from unembed.games.rounds import SMALLEST_LEAK
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.results.schema import Finding, Run, without_times
from unembed.runner import references
from unembed.runner.execute import audit
from unembed.runner.reference_encoders import DEFAULT_REFERENCES, ReferenceEncoder, reference_vectors
from unembed.runner.spec import AuditSpec, build_spec, merge

PLUGIN = """
import zlib
import numpy as np
from unembed.encoders.base import EncoderCard
class Lengths:
    '''The number of words and of characters of a text, and a checksum.'''
    @property
    def card(self):
        return EncoderCard("lengths", "lengths", "lengths-1", 3, False)
    def encode(self, texts, *, role="document"):
        return np.array([[len(t.split()), len(t), zlib.crc32(t.encode()) / 2**32] for t in texts], dtype=np.float32)
class Broken(Lengths):
    def encode(self, texts, *, role="document"):
        return np.full((len(texts), 3), np.nan, dtype=np.float32)
"""


def spec_for(place: Path, **changes: Any) -> AuditSpec:
    base = {
        "data": {"texts": "generator:messages", "max_texts": 400, "attributes": ["topic"]},
        "encoder": {"name": "hashing", "features": 64},
        "adversaries": ["insider"],
        "games": ["inversion", "attribute"],
        "params": {"attribute/portfolio": {"quick": True}},
        "curve": [0.5],
        "calibrate": False,
        "threads": 1,
        "run": {"folder": str(place / "run"), "cache": str(place / "cache")},
    }
    return build_spec(merge(base, changes))


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Run]:
    place = tmp_path_factory.mktemp("references")
    return place, audit(spec_for(place))[0]


def whole(run: Run) -> list[Finding]:
    return [f for f in run.findings if not f.curve]


def test_a_bag_of_words_reads_more_than_lsa_and_random_vectors_read_at_guessing(finished):
    for finding in whole(finished[1]):
        found = {r.encoder: r for r in finding.references}
        assert tuple(found) == DEFAULT_REFERENCES
        assert found["bag-of-words"].estimate.value > found["lsa"].estimate.value > found["lsa"].floor.high
        random = found["random"]
        assert random.estimate.low <= random.floor.high + SMALLEST_LEAK
        assert all(r.estimate.n == finding.estimate.n and r.pairs == finding.cost.pairs for r in found.values())


def test_points_of_the_curve_have_no_references(finished):
    run = finished[1]
    assert any(f.curve for f in run.findings)
    assert all(not f.references for f in run.findings if f.curve)


def test_references_change_no_judgement_and_no_cell(finished, tmp_path):
    run = finished[1]
    alone, _ = audit(spec_for(tmp_path, references=[]))
    assert all(not f.references for f in alone.findings)
    assert alone.verdict == run.verdict
    assert [c.key for c in alone.cells] == [c.key for c in run.cells]
    bare = [f.model_copy(update={"references": []}) for f in run.findings]
    assert without_times([f.model_dump() for f in bare]) == without_times([f.model_dump() for f in alone.findings])


def test_the_same_audit_again_plays_no_reference_and_one_more_plays_only_that(finished, monkeypatch):
    place, run = finished
    played: list[str] = []
    play = references.play_reference
    monkeypatch.setattr(references, "play_reference", lambda task: (played.append(task.name), play(task)))
    again, folder = audit(spec_for(place))
    assert played == []
    assert [f.references for f in again.findings] == [f.references for f in run.findings]
    (place / "plugin.py").write_text(PLUGIN)
    lengths = f"{place / 'plugin.py'}:Lengths"
    more, _ = audit(spec_for(place, references=[*DEFAULT_REFERENCES, lengths]))
    assert played == [lengths] * 2
    assert [r.encoder for r in more.findings[-1].references] == [*DEFAULT_REFERENCES, lengths]
    assert not (folder / "work").exists()


def test_a_killed_run_goes_on_with_the_missing_references(tmp_path, monkeypatch):
    play, played = references.play_reference, []

    def killed(task: Any) -> None:
        if played:
            raise KeyboardInterrupt
        played.append(task.name)
        play(task)

    monkeypatch.setattr(references, "play_reference", killed)
    with pytest.raises(KeyboardInterrupt):
        audit(spec_for(tmp_path, games=["attribute"]))
    monkeypatch.setattr(references, "play_reference", lambda task: (played.append(task.name), play(task)))
    run, _ = audit(spec_for(tmp_path, games=["attribute"]))
    assert played == list(DEFAULT_REFERENCES), "each was played once"
    assert len(run.findings[0].references) == 3


def test_settings_of_the_cell_alone_change_no_reference(tmp_path):
    one, other = (
        audit(spec_for(tmp_path / str(threads), games=["attribute"], threads=threads))[0].findings[0]
        for threads in (1, 2)
    )
    assert one.cell != other.cell
    assert one.references == other.references


def test_a_damaged_file_is_played_again(tmp_path):
    spec = spec_for(tmp_path, games=["attribute"], references=["random"])
    run, folder = audit(spec)
    (file,) = (folder / "references").iterdir()
    kept = json.loads(file.read_text())
    kept["reference"]["estimate"]["value"] = 0.99
    file.write_text(json.dumps(kept))
    assert audit(spec)[0].findings[0].references == run.findings[0].references


def test_a_reference_that_fails_is_listed_and_fails_nothing(tmp_path):
    (tmp_path / "plugin.py").write_text(PLUGIN)
    spec = spec_for(tmp_path, games=["attribute"], references=[f"{tmp_path / 'plugin.py'}:Broken", "random"])
    run, _ = audit(spec)
    assert run.status == "complete"
    assert [r.encoder for r in run.findings[0].references] == ["random"]
    (missing,) = [s for s in run.skipped if s.what.startswith("reference")]
    assert "NaN" in missing.reason


def test_the_encoder_under_audit_is_no_reference_to_itself(tmp_path):
    (tmp_path / "plugin.py").write_text(PLUGIN)
    name = f"{tmp_path / 'plugin.py'}:Lengths"
    spec = spec_for(tmp_path, games=["attribute"], references=[name])
    run, _ = audit(spec.model_copy(update={"encoder": spec.encoder.model_validate({"name": name})}))
    assert not run.findings[0].references
    assert any(s.what == f"reference {name}" and "under audit" in s.reason for s in run.skipped)


def test_what_must_be_fitted_learns_the_adversarys_texts_alone():
    known = [f"alpha beta gamma{i}" for i in range(8)] + ["delta epsilon"] * 3
    for name in ("bag-of-words", "lsa"):
        reference = ReferenceEncoder(name, {})
        _, unseen = reference_vectors(reference, known, ["zeta eta theta"], 0)
        assert abs(unseen).sum() == 0, "a word only the targets hold has no place in the vectors"


def test_random_vectors_say_nothing_of_the_text():
    reference = ReferenceEncoder("random", {})
    one, other = (reference_vectors(reference, ["x"] * 4, texts, 3) for texts in (["a", "b"], ["b", "a"]))
    assert (one[1] == other[1]).all()
    assert (one[0] != reference_vectors(reference, ["x"] * 4, ["a", "b"], 4)[0]).any()


@pytest.mark.parametrize(
    ("name", "said"),
    [("bag-of-word", "'bag-of-words'"), ("minlm", "'minilm'"), ("vectors:file.npy", "can't be a reference")],
)
def test_an_unknown_reference_is_a_usage_error_with_a_suggestion(tmp_path, name, said):
    with pytest.raises(UsageError, match=said):
        spec_for(tmp_path, references=[name])


def test_of_very_many_texts_a_sample_is_asked_and_the_line_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(references, "MOST_TEXTS", 100)
    run, _ = audit(spec_for(tmp_path, games=["attribute"], references=["random"]))
    (finding,) = run.findings
    (reference,) = finding.references
    assert reference.pairs <= 100 < finding.cost.pairs
    assert reference.estimate.n <= 100 < finding.estimate.n
    assert f"references from {reference.pairs} pairs" in render_markdown(run)


def test_the_reports_show_the_scale(finished):
    run = finished[1]
    for page in (render_html(run), render_markdown(run)):
        assert page.count("On the same texts") >= 2
        line = next(part for part in page.splitlines() if "bag of words" in part)
        for name in ("this encoder", "LSA", "random vectors", "guessing"):
            assert name in line
