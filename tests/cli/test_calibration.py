"""What is said, and what a policy answers, where nothing leaks: with and without leaks planted to make sure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Result, call, write_csv

from unembed.seeds import generator

#: Vectors that depend on nothing but a hash of the text: no attack can do better than guessing.
NOISE = '''
import hashlib
import numpy as np
from unembed.encoders.base import EncoderCard

class Noise:
    """Eight random numbers per text."""
    @property
    def card(self):
        return EncoderCard("noise", "noise", "noise-1", 8, False)
    def encode(self, texts, *, role="document"):
        seeds = [int.from_bytes(hashlib.sha256(t.encode()).digest()[:8], "big") for t in texts]
        return np.stack([np.random.default_rng(s).normal(size=8) for s in seeds]).astype("float32")
'''


@pytest.fixture(scope="module")
def safe(tmp_path_factory: pytest.TempPathFactory) -> list[object]:
    """The command for an audit of a collection from which nothing can leak, enough texts for a narrow interval."""
    folder = tmp_path_factory.mktemp("safe")
    (folder / "noise.py").write_text(NOISE)
    rng = generator(0, "texts")
    rows = [[" ".join(f"word{i}" for i in rng.integers(0, 3000, 8)), "ab"[rng.integers(2)]] for _ in range(10_000)]
    texts = write_csv(folder / "texts.csv", [["text", "side"], *rows])
    return [
        *("attack", "attribute/linear", "--texts", texts, "--column", "text", "--attribute", "side"),
        *("--encoder", f"{folder / 'noise.py'}:Noise", "--threads", "1", "--max-targets", "5000"),
    ]


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory, safe: list[object]) -> Path:
    """The finished run of that audit, with calibration, which is the default."""
    folder = tmp_path_factory.mktemp("calibrated")
    done = call([*safe, "-d", "run"], cwd=folder, UNEMBED_CACHE=str(folder / "cache"))
    assert done.code == 0, done.err
    return folder / "run"


def only_finding(folder: Path) -> dict[str, Any]:
    (found,) = json.loads((folder / "run.json").read_text(encoding="utf-8"))["findings"]
    return dict(found)


def test_a_safe_collection_ends_with_the_size_that_would_have_been_found(calibrated: Path) -> None:
    run = json.loads((calibrated / "run.json").read_text(encoding="utf-8"))
    found = only_finding(calibrated)
    assert (found["status"], run["verdict"]["level"]) == ("no-leak-found", "none")
    size = found["detects"]["size"]
    assert found["detects"]["tried"][f"{size:g}"] == [10, 10]
    assert "distance" in found["detects"]["blind"], "a linear attack does not see a leak in the distance"
    assert f"a leak of {100 * size:.3g} points above guessing" in run["verdict"]["sentence"]


def test_without_calibration_no_leak_found_is_never_said(
    safe: list[object], run: Callable[..., Result], tmp_path: Path
) -> None:
    done = run(*safe, "--no-calibration", "-d", tmp_path / "run")
    assert done.code == 0, done.err
    found = only_finding(tmp_path / "run")
    assert (found["status"], found["level"], found["detects"]) == ("inconclusive", "unknown", None)
    assert found["reason"] == "it is not known how small a leak would have been found"
    assert done.out.startswith("Unknown. No attack clearly did better than guessing")
    assert "no leak found" not in done.out.lower()
    assert run("gate", tmp_path / "run", "--max-excess", "0.1").code == 0
    demanding = run("gate", tmp_path / "run", "--max-excess", "0.1", "--detects", "0.6")
    assert demanding.code == 3
    assert "it is not known how small a leak would have been found" in " ".join(demanding.out.split())


def test_a_policy_may_demand_that_smaller_leaks_would_have_been_found(
    calibrated: Path, safe: list[object], run: Callable[..., Result]
) -> None:
    size = only_finding(calibrated)["detects"]["size"]
    for verb in (["gate", calibrated], [*safe, "-d", calibrated]):
        assert run(*verb, "--max-excess", "0.1", "--detects", size).code == 0
        short = run(*verb, "--max-excess", "0.1", "--detects", size / 2)
        assert short.code == 3
        said = " ".join(short.out.split())
        assert f"only a leak of {size:g} above guessing would surely have been found" in said


def test_a_size_to_be_found_without_a_limit_is_refused(calibrated: Path, run: Callable[..., Result]) -> None:
    policy = calibrated.parent / "policy.toml"
    policy.write_text('[[rules]]\nid = "r"\nmax = 0.1\ndetects = 0.6\n')
    refused = run("gate", calibrated, "--policy", policy, "--detects", "0.1")
    assert (refused.code, len(refused.errors)) == (2, 1)
    assert "a rule has the key 'detects'" in refused.errors[0]
    assert run("gate", calibrated, "--max-excess", "0.1", "--detects", "2").code == 2
    assert run("gate", calibrated, "--policy", policy).code == 0
