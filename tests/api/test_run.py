"""What comes back from an audit: verdict, frame, page, picture, report, gate, file; and nothing is left behind."""

import tempfile
from pathlib import Path

import pytest
from small_audit import SMALL

import unembed
from unembed.cli.entry import run as command
from unembed.errors import UsageError


@pytest.fixture(scope="module")
def run(texts, topics, vectors):
    return unembed.audit(texts, vectors, attributes={"<topic>": topics}, **SMALL)


def test_verdict_and_findings_are_those_of_the_result(run):
    assert run.verdict.sentence in repr(run)
    assert run.findings == run.result.findings
    assert run.skipped == run.result.skipped
    assert run.utility == []


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_findings_as_a_frame(run, library):
    pytest.importorskip(library)
    frame = run.to_frame(library)
    assert type(frame).__module__.startswith(library)
    assert list(frame["excess"]) == [f.excess.value for f in run.findings]


def test_without_a_library_of_frames_it_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install pandas"):
        run.to_frame()
    with pytest.raises(UsageError, match="not 'numpy'"):
        run.to_frame("numpy")


def test_a_notebook_shows_verdict_and_findings_escaped(run):
    page = run._repr_html_()
    assert "&lt;topic&gt;" in page
    assert "<topic>" not in page
    assert "Leak" in page


def test_a_notebook_shows_no_text(texts, vectors, topics):
    shown = unembed.audit(texts, vectors, attributes=topics, samples=True, **SMALL)
    page = shown._repr_html_() + str(shown.plot())
    words = {word for text in texts[:50] for word in text.split() if len(word) > 7}
    assert not {word for word in words if f">{word}<" in page}


def test_the_picture_is_whole_and_holds_every_finding(run, tmp_path):
    from xml.etree import ElementTree

    chart = run.plot()
    picture = ElementTree.fromstring(chart._repr_svg_())
    dots = [e for e in picture.iter() if e.tag.endswith("circle")]
    assert len(dots) == len(run.findings)
    assert chart.save(tmp_path / "findings.svg").read_text(encoding="utf-8") == str(chart)


@pytest.mark.parametrize("ending", [".html", ".md", ".csv", ".json", ".junit.xml", ".sarif"])
def test_reports_by_their_ending(run, tmp_path, ending):
    assert run.report(tmp_path / f"report{ending}").stat().st_size > 100
    with pytest.raises(UsageError, match="kind of report"):
        run.report(tmp_path / "report.docx")


def test_a_saved_run_is_the_same_for_library_and_command_line(run, tmp_path):
    file = run.save(tmp_path / "kept")
    assert file == tmp_path / "kept" / "run.json"
    assert unembed.load_run(tmp_path / "kept").findings == run.findings
    assert unembed.load_run(run.save(tmp_path / "one.json")).verdict == run.verdict
    assert command(["gate", str(tmp_path / "kept"), "--max-excess", "0.9"]) == run.gate(max=0.9).exit_code == 0


@pytest.mark.parametrize(
    "policy",
    [{"max": 0.01}, {"rules": [{"id": "low", "max": 0.01}]}, [{"max": 0.01}], "file", "object"],
    ids=["rule", "rules", "list", "file", "object"],
)
def test_a_gate_says_whether_and_why(run, tmp_path, policy):
    if policy == "file":
        policy = tmp_path / "policy.toml"
        policy.write_text('[[rules]]\nid = "low"\nmax = 0.01\n', encoding="utf-8")
    if policy == "object":
        policy = unembed.Policy.model_validate({"rules": [{"id": "low", "max": 0.01}]})
    answer = run.gate(policy)
    assert not answer
    assert answer.exit_code == 1
    assert "is above the limit" in answer.reasons[0]


def test_a_gate_of_one_rule(run):
    assert run.gate(max=0.95).passed
    assert run.gate(max=0.95).reasons == []
    assert not run.gate(max=0.01, game="attribute")
    with pytest.raises(UsageError, match="did you mean 'max'"):
        run.gate(mx=0.1)
    with pytest.raises(UsageError, match="one policy"):
        run.gate()


def test_an_audit_can_be_held_against_a_policy_at_once(texts, topics, vectors):
    run = unembed.audit(texts, vectors, attributes=topics, policy={"max": 0.01}, **SMALL)
    assert run.result.gate is not None
    assert not run.result.gate.passed


def test_nothing_is_left_behind(texts, topics, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    run = unembed.audit(texts, encoder={"name": "lsa", "components": 10}, attributes=topics, **SMALL)
    assert run.folder is None
    with pytest.raises(ZeroDivisionError):
        unembed.audit(texts, encoder=lambda texts: 1 / 0, attributes=topics, **SMALL)
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_folder_keeps_the_run_and_goes_on(texts, topics, vectors, tmp_path):
    said = []
    for _ in range(2):
        events = []
        run = unembed.audit(
            texts,
            vectors,
            attributes=topics,
            folder=tmp_path / "run",
            **{**SMALL, "progress": lambda what, done, total, to=events: to.append(what)},
        )
        said.append(events)
    assert "attacks" in said[0]
    assert "attacks" not in said[1]
    assert run.folder == tmp_path / "run"
    assert unembed.load_run(tmp_path / "run").findings == run.findings


def test_progress_can_be_silent(texts, topics, vectors, capfd):
    unembed.audit(texts, vectors, attributes=topics, **SMALL)
    assert capfd.readouterr() == ("", "")
    shown = {**SMALL, "progress": True}
    unembed.audit(texts, vectors, attributes=topics, **shown)
    assert "attacks" in capfd.readouterr().err


def test_the_call_is_told_without_texts(run, texts):
    assert run.result.command.startswith("unembed.audit(texts, vectors, ")
    assert not Path(run.result.spec_given["data"]["texts"]).exists()
    assert not any(text in run.result.model_dump_json() for text in texts)
