"""Plug-ins that try to end the process: a gate must never read that as a pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import SMALL, Result, call

ENDINGS = {
    "a message": "sys.exit('licence server not reachable')",
    "zero": "sys.exit(0)",
    "nothing": "sys.exit()",
    "one of its own": "raise Stop('enough')",
    "the end of a generator": "raise GeneratorExit",
}
HEAD = "import sys\nclass Stop(BaseException): ...\n"
ATTACK = (
    "from unembed.attacks.keyword.svm import KeywordSVM\n"
    "class Mine(KeywordSVM):\n"
    "    def fit(self, knowledge):\n"
    "        {ending}\n"
)

Run = Callable[..., Result]


@pytest.fixture(params=list(ENDINGS.values()), ids=list(ENDINGS))
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def audit(messages: Path, folder: Path, *options: object) -> list[object]:
    return [*("audit", "--texts", messages, "--column", "text", "--max-excess", "1", "-d", folder), *options]


def told(done: Result) -> None:
    """One line, and a code that no gate takes for a pass."""
    assert done.code == 2, done.err
    assert len(done.errors) == 1
    assert "Traceback" not in done.err


def test_in_a_callable(ending: str, run: Run, messages: Path, tmp_path: Path) -> None:
    (tmp_path / "e.py").write_text(f"{HEAD}def f(texts):\n    {ending}\n")
    done = run(*audit(messages, tmp_path / "run", "--encoder", f"callable:{tmp_path / 'e.py'}:f"))
    told(done)
    assert "the callable tried to end the process" in done.err
    assert "e.py:4" in done.err
    assert "licence" not in done.err, "what foreign code says beside texts may quote them"


def test_in_the_encode_of_an_encoder(ending: str, run: Run, messages: Path, tmp_path: Path) -> None:
    body = "class E(LeakyEncoder):\n    def encode(self, texts, *, role='document'):\n        " + ending
    (tmp_path / "e.py").write_text(f"{HEAD}from unembed.testing.toys import LeakyEncoder\n{body}\n")
    told(run(*audit(messages, tmp_path / "run", "--encoder", f"{tmp_path / 'e.py'}:E")))


@pytest.mark.parametrize("option", ["--encoder", "--attack", "--defense", "--utility"])
def test_at_import(ending: str, option: str, run: Run, messages: Path, tmp_path: Path) -> None:
    (tmp_path / "e.py").write_text(f"{HEAD}{ending}\n")
    done = run(*audit(messages, tmp_path / "run", option, f"{tmp_path / 'e.py'}:Thing"))
    told(done)
    assert "e.py can't be loaded" in done.err


def test_in_the_fit_of_an_attack(ending: str, run: Run, messages: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(HEAD + ATTACK.format(ending=ending))
    done = run(*audit(messages, tmp_path / "run", *SMALL, "--attack", f"{tmp_path / 'mine.py'}:Mine"))
    assert done.code == 3
    cells = json.loads((tmp_path / "run" / "run.json").read_text())["cells"]
    assert sorted(c["status"] for c in cells) == ["done", "done", "failed", "failed"]
    assert all("in mine.py:6" in c["error"] for c in cells if c["status"] == "failed")


@pytest.mark.parametrize("ending", ["sys.exit(0)", "os._exit(0)"])
def test_in_a_worker_while_the_others_go_on(ending: str, messages: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import os\n" + HEAD + ATTACK.format(ending=ending))
    done = call(audit(messages, "run", *SMALL, "--attack", "mine.py:Mine", "--jobs", "2"), cwd=tmp_path)
    assert done.code == 3, done.err
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert sorted(c["status"] for c in run["cells"]) == ["done", "done", "failed", "failed"]
    assert len(run["findings"]) == 2
    assert run["gate"]["passed"] is False
