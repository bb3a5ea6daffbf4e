"""Plug-ins that try to end the process: a gate must never read that as a pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import SMALL, Result, call

from unembed.runner.processes import OVER

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
    attack = ("--attack", f"{tmp_path / 'mine.py'}:Mine", "--adversary", "insider")
    done = run(*audit(messages, tmp_path / "run", *SMALL, *attack))
    assert done.code == 3
    cells = json.loads((tmp_path / "run" / "run.json").read_text())["cells"]
    assert sorted(c["status"] for c in cells) == ["done", "failed"]
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


def left_by(tmp_path: Path) -> tuple[list[str], list[str]]:
    """What became of the measurements, and why those failed that did."""
    cells = json.loads((tmp_path / "run" / "run.json").read_text())["cells"]
    return sorted(c["status"] for c in cells), [c["error"] for c in cells if c["error"]]


LOST = {
    "os._exit(0)": "its process ended in the middle (exit code 0)",
    "os.kill(os.getpid(), 11)": "its process was ended by a signal (Segmentation fault): a crash",
}


@pytest.mark.parametrize("ending", list(LOST))
def test_what_takes_its_process_along_is_a_failed_measurement_with_one_job(
    ending: str, messages: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.py").write_text("import os\n" + HEAD + ATTACK.format(ending=ending))
    done = call(audit(messages, "run", *SMALL, "--attack", "mine.py:Mine"), cwd=tmp_path)
    assert done.code == 3, done.err
    assert "Traceback" not in done.err
    assert left_by(tmp_path) == (["done", "done", "failed", "failed"], [LOST[ending]] * 2)


def test_what_never_returns_is_stopped_and_the_others_go_on(messages: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import time\n" + HEAD + ATTACK.format(ending="time.sleep(600)"))
    command = audit(messages, "run", *SMALL, "--attack", "mine.py:Mine", "--adversary", "insider")
    done = call([*command, "--cell-timeout", "10"], cwd=tmp_path)
    assert done.code == 3, done.err
    assert left_by(tmp_path) == (["done", "failed"], ["stopped: it took longer than the limit of 10 seconds"])


def test_an_audit_ends_with_its_budget_and_the_same_command_goes_on(messages: Path, tmp_path: Path) -> None:
    command = audit(messages, "run", *SMALL, "--adversary", "insider")
    done = call([*command, "--budget", "0.001m"], cwd=tmp_path)
    assert done.code == 3, done.err
    statuses, causes = left_by(tmp_path)
    assert set(statuses) == {"failed"}
    assert set(causes) == {OVER}
    assert call(command, cwd=tmp_path).code == 0
    assert set(left_by(tmp_path)[0]) == {"done"}


def test_a_limit_needs_processes(run: Run, messages: Path, tmp_path: Path) -> None:
    done = run(*audit(messages, tmp_path / "run", *SMALL, "--cell-timeout", "5", "--backend", "threading"))
    assert (done.code, len(done.errors)) == (2, 1)
    assert "cell_timeout" in done.errors[0]


@pytest.mark.parametrize("where", ["callable", "import"])
def test_leaving_at_once_outside_a_measurement(where: str, messages: Path, tmp_path: Path) -> None:
    body = "import os\ndef f(texts):\n    os._exit(0)\n" if where == "callable" else "import os\nos._exit(0)\n"
    (tmp_path / "e.py").write_text(body)
    done = call(audit(messages, "run", "--encoder", "callable:e.py:f"), cwd=tmp_path)
    told(done)
    assert "e.py" in done.err


ENCODER = """
import hashlib, os, time
def f(texts):
    if len(texts) > 1:
        {ending}
    return [[b / 255 for b in hashlib.sha256(text.encode()).digest()[:16]] for text in texts]
"""
WITHOUT_VECTORS = {
    "os.kill(os.getpid(), 11)": ("its process was ended by a signal (Segmentation fault): a crash", []),
    "time.sleep(600)": ("it took longer than the limit of 2 seconds", ["--cell-timeout", "2"]),
    "time.sleep(601)": (OVER, ["--budget", "4s"]),
}


@pytest.mark.parametrize("ending", list(WITHOUT_VECTORS))
def test_a_callable_that_crashes_or_hangs_is_named_in_one_line(ending: str, messages: Path, tmp_path: Path) -> None:
    (tmp_path / "e.py").write_text(ENCODER.format(ending=ending))
    why, options = WITHOUT_VECTORS[ending]
    done = call([*audit(messages, "run", "--encoder", "callable:e.py:f"), *options], cwd=tmp_path)
    assert done.code == 3, done.err
    assert len(done.errors) == 1
    assert why in done.errors[0]
    assert "callable:e.py:f" in done.errors[0]
    assert "Traceback" not in done.err


PRINTING = """
import os, sys
from unembed.testing.toys import LeakyEncoder
from unembed.attacks.keyword.svm import KeywordSVM
print("at import")
class Mine(KeywordSVM):
    def fit(self, knowledge):
        print("while fitting", flush=True)
        os.write(1, b"past Python")
        return super().fit(knowledge)
def f(texts):
    print("while encoding")
    os.write(1, b"past Python")
    return LeakyEncoder(dimension=8).encode(texts)
"""


def test_what_a_plugin_prints_leaves_the_json_alone(messages: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PRINTING)
    options = ["--encoder", "callable:mine.py:f", "--game", "keyword", "--attack", "mine.py:Mine", "--threads", "1"]
    done = call(audit(messages, "run", *options, "--adversary", "insider", "--json"), cwd=tmp_path)
    assert json.loads(done.out)["exit_code"] == done.code
    for printed in ("at import", "while encoding", "while fitting", "past Python"):
        assert printed in done.err


def test_debug_shows_where_and_not_what_foreign_code_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("".join(f"patient {i} has gout\n" for i in range(60)))
    (tmp_path / "e.py").write_text(
        "def f(texts):\n    if len(texts) == 1:\n        return [[0.0, 1.0]]\n"
        "    try:\n        raise KeyError(texts[0])\n"
        "    except KeyError as error:\n        raise ValueError(texts[1]) from error\n"
    )
    encoder = f"callable:{tmp_path / 'e.py'}:f"
    done = run("audit", "--texts", tmp_path / "t.txt", "-d", tmp_path / "run", "--encoder", encoder, "--debug")
    assert done.code == 2
    for shown in ("e.py", "line 5", "line 7", "KeyError", "ValueError"):
        assert shown in done.err
    assert "gout" not in done.err
