"""What each verb shows and writes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import get_type_hints

import numpy as np
import pytest
from command_line import SMALL, Result, call

Run = Callable[..., Result]
VERBS = ["demo", "audit", "attack", "reproduce", "report", "compare", "gate", "list", "show", "doctor", "cache"]


@pytest.mark.parametrize("verb", VERBS)
def test_help_shows_a_worked_example(run: Run, verb: str) -> None:
    done = run(verb, "--help")
    assert done.code == 0
    assert f"Example: unembed {verb}" in " ".join(done.out.split())


def test_every_option_of_audit_is_explained() -> None:
    from unembed.cli.flags import AttackFlags, AuditFlags

    for flags in (AuditFlags, AttackFlags):
        for name, hint in get_type_hints(flags, include_extras=True).items():
            (option,) = hint.__metadata__
            assert option.help, name


def test_version(run: Run) -> None:
    from unembed import __version__

    assert run("--version").out.strip() == f"unembed {__version__}"


def test_report_writes_every_kind(run: Run, finished_run: Path, tmp_path: Path) -> None:
    names = ["r.html", "r.md", "r.json", "r.csv", "r.junit.xml", "r.sarif"]
    arguments = [part for name in names for part in ("-o", tmp_path / name)]
    assert run("report", finished_run, *arguments).code == 0
    assert all((tmp_path / name).stat().st_size > 100 for name in names)


def test_an_audit_leaves_result_and_report_and_nothing_of_the_texts(finished_run: Path) -> None:
    left = {"run.json", "report.html", "events.jsonl", "cells", "vector-twins.json"}
    assert {p.name for p in finished_run.iterdir()} == left


def test_compare_pairs_all_findings_of_a_run_with_itself(run: Run, finished_run: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / f"c.{ending}" for ending in ("html", "md", "json")]
    done = run("compare", finished_run, finished_run, "--json", *(word for path in outputs for word in ("-o", path)))
    assert all(path.stat().st_size for path in outputs)
    assert done.code == 0
    found = json.loads(done.out)
    assert {p["change"] for p in found["pairs"]} <= {"no clear change", "no leak in either", "not comparable"}
    assert json.loads((tmp_path / "c.json").read_text()) == found
    assert (tmp_path / "c.md").read_text().startswith("# ")


def test_a_baseline_written_by_gate_makes_the_gate_pass(run: Run, finished_run: Path, tmp_path: Path) -> None:
    accepted = tmp_path / "accepted.toml"
    gate = ("gate", finished_run, "--max-excess", "0.01")
    assert run(*gate).code == 1
    written = run(*gate, "--write-baseline", accepted, "--reason", "made-up data", "--expires", "2999-12-31", "--json")
    assert written.code == 0
    assert json.loads(written.out)["exit_code"] == 0
    assert run(*gate, "--baseline", accepted).code == 0


@pytest.mark.parametrize(
    "kind",
    ["encoders", "games", "attacks", "defenses", "utility", "collections", "generators", "adversaries", "papers"],
)
def test_list_as_json_has_the_facts(run: Run, kind: str) -> None:
    found = json.loads(run("list", kind, "--json").out)
    for entry in found:
        assert {"name", "kind", "title", "paper", "section", "requires", "origin"} <= set(entry)
        assert entry["broken"] is None
    assert run("list", kind).code == 0


def test_utility_tasks_are_listed_and_shown_with_what_they_need(run: Run) -> None:
    found = {e["name"]: e for e in json.loads(run("list", "utility", "--json").out)}
    assert found["retrieval"]["requires"] == ["plain vectors"]
    assert found["column"]["kind"] == "utility"
    shown = json.loads(run("show", "retrieval", "--json").out)
    assert shown["plain_score"] == 1
    assert {p["name"]: p["default"] for p in shown["parameters"]} == {"k": 10, "queries": 1000}
    own = Path(__file__).parents[2] / "examples" / "own_utility.py"
    assert json.loads(run("show", f"{own}:SameKindFirst", "--json").out)["kind"] == "utility"


def test_list_names_every_attack_with_its_paper(run: Run) -> None:
    found = {e["name"]: e for e in json.loads(run("list", "attacks", "--json").out)}
    assert found["inversion/mlc"]["paper"] == "song2020"
    assert "pairs" in found["inversion/mlc"]["requires"]


def test_a_broken_plug_in_is_listed_as_broken_and_harms_nobody(tmp_path: Path) -> None:
    info = tmp_path / "broken_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[unembed.attacks]\nkeyword/broken = broken_plugin:Attack\n")
    (tmp_path / "broken_plugin.py").write_text("raise RuntimeError('not today')\n")
    done = call(["list", "attacks", "--json"], cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.code == 0
    assert "warning: attack 'keyword/broken'" in done.err
    assert done.err.count("warning:") == 1
    found = {e["name"]: e["broken"] for e in json.loads(done.out)}
    assert "not today" in found["keyword/broken"]
    assert found["keyword/svm"] is None


@pytest.mark.parametrize(
    "name", ["minilm", "keyword", "keyword/svm", "messages", "insider", "song2020", "files", "rounding", "retrieval"]
)
def test_show_knows_every_kind(run: Run, name: str) -> None:
    assert run("show", name).code == 0
    assert json.loads(run("show", name, "--json").out)["name"] == name


def test_show_lists_parameters_with_defaults(run: Run) -> None:
    shown = json.loads(run("show", "inversion/mlc", "--json").out)
    assert {"name": "batch_size", "type": "int", "required": False, "default": 256} in shown["parameters"]


def test_show_schema_describes_the_result_file(run: Run, finished_run: Path) -> None:
    schema = json.loads(run("show", "schema").out)
    assert set(json.loads((finished_run / "run.json").read_text())) == set(schema["properties"])


def test_show_exit_codes(run: Run) -> None:
    assert set(json.loads(run("show", "exit-codes", "--json").out)) == {"0", "1", "2", "3", "130"}


def test_doctor_says_what_is_missing(run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = json.loads(run("doctor", "--json").out)
    (stores,) = [check["detail"] for check in found["checks"] if check["what"] == "stores"]
    assert {"sqlite", "parquet", "npy"} <= set(stores.partition(";")[0].split(", ")), "those that need no package"
    assert {c["what"] for c in found["checks"]} >= {"python", "numpy", "torch", "default encoder", "cache folder"}
    in_the_way = tmp_path / "file"
    in_the_way.write_text("")
    monkeypatch.setenv("UNEMBED_CACHE", str(in_the_way / "cache"))
    done = run("doctor", "--json")
    assert done.code == 3
    assert json.loads(done.out)["ready"] is False


def test_cache_is_shown_and_cleared(run: Run, finished_run: Path) -> None:
    cache = finished_run.parent / "cache"
    before = json.loads(run("cache", "info", "--cache", cache, "--json").out)
    assert before["bytes"] > 0
    assert run("cache", "clear", "--cache", cache, "--older-than", "1d", "--yes").code == 0
    assert json.loads(run("cache", "info", "--cache", cache, "--json").out) == before
    assert run("cache", "clear", "--cache", cache).code == 2
    assert run("cache", "clear", "--cache", cache, "--yes").code == 0
    assert json.loads(run("cache", "info", "--cache", cache, "--json").out)["bytes"] == 0


def test_audit_as_json_keeps_stdout_for_programs(messages: Path, tmp_path: Path) -> None:
    done = call(["audit", "--texts", messages, "--column", "text", *SMALL, "-d", "run", "--json"], cwd=tmp_path)
    summary = json.loads(done.out)
    assert summary["exit_code"] == done.code == 0
    assert len(summary["findings"]) == 2
    assert "Result:" in done.err


def test_stored_vectors_and_a_defense_of_ones_own(messages: Path, corpus_rows: list[list[str]], tmp_path: Path) -> None:
    words = sorted({w for row in corpus_rows[1:] for w in row[0].lower().split()})
    column = {w: i % 32 for i, w in enumerate(words)}
    vectors = np.zeros((len(corpus_rows) - 1, 32), dtype=np.float32)
    for row, (text, *_) in enumerate(corpus_rows[1:]):
        for word in text.lower().split():
            vectors[row, column[word]] += 1
    np.save(tmp_path / "v.npy", vectors)
    (tmp_path / "mine.py").write_text(
        "from unembed.defenses.base import DefenseFacts\n"
        "from unembed.params import Parametrised\n"
        "class Blank(Parametrised):\n"
        "    facts = DefenseFacts('blank', 'Scales everything')\n"
        "    def __init__(self, *, factor: float = 1.0, seed: int = 0):\n"
        "        self.factor, self.seed = factor, seed\n"
        "    def fit(self, vectors, owned=None): return self\n"
        "    def transform(self, vectors, ids): return vectors * self.factor\n"
    )
    done = call(
        [
            *("attack", "attribute/linear", "--texts", messages, "--column", "text", "--vectors", "v.npy"),
            *("--attribute", "topic", "--defense", "mine.py:Blank,factor=0", "--threads", "1", "-d", "run", "--json"),
        ],
        cwd=tmp_path,
    )
    found = {(f["defense"], f["adaptive"]): f["status"] for f in json.loads(done.out)["findings"]}
    assert found[(None, None)] == "leak"
    assert found[("blank(factor=0)", True)] != "leak"
    assert len(found) == 3


def test_attack_runs_one_attack_of_one_adversary(messages: Path, tmp_path: Path) -> None:
    done = call(
        [
            *("attack", "keyword/svm", "--texts", messages, "--column", "text", "--encoder", "lsa"),
            *("--encoder-option", "components=16", "--set", "keyword.samples=20", "--threads", "1"),
            *("-d", "run", "--json", "-q"),
        ],
        cwd=tmp_path,
    )
    assert done.code == 0
    found = json.loads(done.out)["findings"]
    assert [(f["adversary"], f["attack"]) for f in found] == [("insider", "keyword/svm")]
    assert done.err == ""


def test_markup_and_control_characters_in_names_are_shown_as_they_stand(run: Run, tmp_path: Path) -> None:
    done = run("audit", "--texts", tmp_path / "[bold red]x[/]\x1b[31m\nerror: y.csv")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "[bold red]x[/]" in done.err
    assert "\x1b" not in done.err


def test_an_unexpected_error_is_one_line_unless_debugging(
    run: Run, monkeypatch: pytest.MonkeyPatch, finished_run: Path
) -> None:
    def fail(*_: object) -> None:
        raise KeyError("secret words of a text")

    monkeypatch.setattr("unembed.report.compare.compare_runs", fail)
    done = run("compare", finished_run, finished_run)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert "KeyError" in done.err
    assert "secret" not in done.err
    assert "Traceback" in run("compare", finished_run, finished_run, "--debug").err


def test_dry_run_runs_and_sends_nothing(run: Run, messages: Path, tmp_path: Path) -> None:
    done = run(
        *("audit", "--texts", messages, "--column", "text", "--encoder", "endpoint:https://models.invalid/v1"),
        *("--encoder-option", "model=m", "--encoder-option", "price_per_million_tokens=2"),
        *("-d", tmp_path / "run", "--dry-run", "--json"),
    )
    assert done.code == 0
    plan = json.loads(done.out)
    assert plan["endpoint"]["requests"] > 0
    assert plan["endpoint"]["cost"] == pytest.approx(plan["endpoint"]["tokens"] * 2e-6)
    assert len(plan["cells"]) > 3
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_demo_tells_the_verdict_and_where_the_report_lies(tmp_path: Path) -> None:
    done = call(["demo", "--texts", "300", "--encoder", "tfidf"], cwd=tmp_path)
    assert done.code == 0, done.err
    assert "unembed audit --texts" in done.out
    assert {"report.html", "report.md", "run.json"} <= {p.name for p in (tmp_path / "unembed-demo").iterdir()}
    page = (tmp_path / "unembed-demo" / "report.html").read_text(encoding="utf-8")
    assert "nobody in them exists" in page, "invented texts are shown in clear, and the report says why"
    assert "•" not in page
