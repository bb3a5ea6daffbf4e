"""Every exit code, from a real process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import ONCE, SMALL, Result, call, environment, events, start

SLOW_ENCODER = '''
import time
import numpy as np
from unembed.encoders.base import EncoderCard

class Slow:
    """32 random numbers per text, half a second per call."""
    @property
    def card(self):
        return EncoderCard("slow", "slow", "slow-1", 32, False)
    def encode(self, texts, *, role="document"):
        time.sleep(0.5)
        seeds = [sum(map(ord, t)) % 100003 for t in texts]
        return np.stack([np.random.default_rng(s).normal(size=32) for s in seeds]).astype("float32")
'''


def test_0_without_a_policy_and_3_when_a_straddled_limit_decides_nothing(messages: Path, tmp_path: Path) -> None:
    base = ["audit", "--texts", messages, "--column", "text", *SMALL, "-d", "run"]
    assert call(base, cwd=tmp_path).code == 0
    excess = json.loads((tmp_path / "run" / "run.json").read_text())["findings"][0]["excess"]
    middle = (excess["low"] + excess["high"]) / 2
    only = tmp_path / "policy.toml"
    only.write_text(f'[[rules]]\nid = "r"\nadversary = "outsider"\nmax = {middle:.4f}\n')
    assert call(["gate", "run", "--policy", only], cwd=tmp_path).code == 3


def test_1_when_the_policy_is_violated_and_0_with_exit_zero(messages: Path, tmp_path: Path) -> None:
    base = ["audit", "--texts", messages, "--column", "text", *SMALL, "-d", "run", "--max-excess", "0.01"]
    violated = call(base, cwd=tmp_path)
    assert violated.code == 1
    assert "Policy: violated" in violated.out
    assert call([*base, "--exit-zero"], cwd=tmp_path).code == 0


def test_2_for_a_wrong_command(tmp_path: Path) -> None:
    assert call(["audit", "--texts", "nowhere.csv"], cwd=tmp_path).code == 2
    assert call(["audit", "--no-such-option"], cwd=tmp_path).code == 2
    assert call([], cwd=tmp_path).code == 2


def test_3_when_a_measurement_failed_and_the_others_are_kept(messages: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from unembed.attacks.keyword.svm import KeywordSVM\n"
        "class Broken(KeywordSVM):\n"
        "    def fit(self, knowledge):\n"
        "        raise RuntimeError('no luck')\n"
    )
    done = call(
        ["audit", "--texts", messages, "--column", "text", *SMALL, "--attack", "mine.py:Broken", "-d", "run"],
        cwd=tmp_path,
    )
    assert done.code == 3
    run = json.loads((tmp_path / "run" / "run.json").read_text())
    assert run["status"] == "partial"
    assert {c["status"] for c in run["cells"]} == {"done", "failed"}
    assert "Traceback" not in done.err
    assert "measurements failed" in done.out


def test_3_when_an_attack_fails_its_own_check_unless_that_is_allowed(
    messages: Path, tmp_path: Path, run: Callable[..., Result]
) -> None:
    (tmp_path / "mine.py").write_text(
        "from unembed.attacks.keyword.svm import KeywordSVM\n"
        "class Blunt(KeywordSVM):\n"
        "    def run(self, vectors):\n"
        "        return super().run(vectors) * 0\n"
    )
    base = ["audit", "--texts", messages, "--column", "text", *SMALL, "--adversary", "insider", "-d", tmp_path / "run"]
    assert run(*base).code == 0
    base += ["--attack", f"{tmp_path / 'mine.py'}:Blunt"]
    done = run(*base)
    assert (done.code, len(done.errors)) == (3, 1)
    assert "1 of 2 measurements failed or can't be trusted" in done.errors[0]
    assert run(*base, "--allow-unmeasured").code == 0
    other = tmp_path / "policy.toml"
    other.write_text('[[rules]]\nid = "r"\nattack = "keyword/svm"\nmax = 1.0\n')
    assert run(*base, "--policy", other).code == 3
    assert run("gate", tmp_path / "run", "--policy", other).code == 3
    assert run("gate", tmp_path / "run", "--policy", other, "--allow-unmeasured").code == 0


def test_3_when_nothing_could_run(messages: Path, tmp_path: Path) -> None:
    done = call(
        ["audit", "--texts", messages, "--column", "text", "--encoder", "hashing", "--adversary", "weights"],
        cwd=tmp_path,
    )
    assert done.code == 3
    assert len(done.errors) == 1


def test_130_when_interrupted_and_the_same_command_goes_on(messages: Path, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW_ENCODER)
    command = ["audit", "--texts", messages, "--column", "text", "--encoder", "slow.py:Slow", "-d", "run"]
    command += ["--game", "keyword", "--attack", "keyword/svm", "--set", "keyword.samples=20", "--threads", "1", *ONCE]
    command += ["--adversary", "insider"]
    process = start(command, cwd=tmp_path)
    deadline = time.monotonic() + 180
    while not any(e["event"] == "planned" for e in events(tmp_path / "run")):
        assert time.monotonic() < deadline
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=180)
    assert process.returncode == 130, err
    assert "the same command goes on" in err
    assert "Traceback" not in err
    assert not (tmp_path / "run" / "run.json").exists()
    assert call(command, cwd=tmp_path).code == 0


@pytest.mark.parametrize("instead", ["raise ImportError('half loaded')", "return super().encode(texts)"])
def test_130_also_when_a_library_swallows_the_interrupt(instead: str, tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text(
        "import os, signal\n"
        "from unembed.testing.toys import LeakyEncoder\n"
        "class Odd(LeakyEncoder):\n"
        "    def encode(self, texts, *, role='document'):\n"
        "        try:\n"
        "            os.kill(os.getpid(), signal.SIGINT)\n"
        "            return super().encode(texts)\n"
        "        except KeyboardInterrupt:\n"
        f"            {instead}\n"
    )
    (tmp_path / "t.txt").write_text("".join(f"text number {i} of a few\n" for i in range(60)))
    process = start(["audit", "--texts", "t.txt", "--encoder", "odd.py:Odd", "-d", "run", "--no-cache"], cwd=tmp_path)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "the same command goes on" in err


def test_help_loads_nothing_heavy() -> None:
    heavy = ("torch", "sklearn", "pyarrow", "scipy", "numpy", "transformers", "pydantic")
    script = (
        "import sys\nfrom unembed.cli import main\ncode = main(['--help'])\n"
        f"print(code, [m for m in {heavy!r} if m in sys.modules], file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment(), check=True)
    assert done.stderr.strip() == "0 []"
    alone = "import sys, unembed; print([m for m in ('torch', 'numpy', 'typer') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def shell(line: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash whose code is that of the command before a pipe."""
    return subprocess.run(
        ["bash", "-c", f"set -o pipefail; {line}"],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(("limit", "code"), [("0.01", 1), ("1", 0)])
@pytest.mark.parametrize("out", ["| true", "--json | true", ">&-", "2>&-", ">&- 2>&-", "--json >&-", "<&- >&- 2>&-"])
def test_a_reader_who_leaves_or_never_was_changes_nothing(
    out: str, limit: str, code: int, finished_run: Path, tmp_path: Path
) -> None:
    done = shell(f"{sys.executable} -m unembed gate {finished_run} --max-excess {limit} {out}", tmp_path)
    assert done.returncode == code
    # With --json people are told on stderr.
    assert "Error" not in done.stderr if "--json" in out else done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("option", ["", "--json"])
@pytest.mark.parametrize("limit", ["0.01", "1"])
def test_2_when_the_answer_could_not_be_written(option: str, limit: str, finished_run: Path, tmp_path: Path) -> None:
    done = shell(f"{sys.executable} -m unembed gate {finished_run} --max-excess {limit} {option} >/dev/full", tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "error: No space left on device"
