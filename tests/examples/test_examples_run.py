"""Every example runs as a user would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
SAYS = {
    "library_audit": "attribute/portfolio",
    "own_artifact": "6 made; 6 loaded",
    "own_defense": "KeepSigns keeps the contract",
    "own_encoder": "128 dimensions",
    "own_game": "can tell questions from statements",
    "own_attack": "NearestTexts keeps the contract",
    "own_utility": "SameKindFirst keeps the contract",
    "gate_from_python": "exit code with the baseline 0",
    "ray_cluster": "4 findings on Ray with 2 workers equal those of one process bit for bit",
    "protected_store": "of 100 messages that are looked for again, 100 are found first",
    "results_as_table": "written: findings.csv",
}


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1", "UNEMBED_CACHE": str(folder / "cache")}
    return subprocess.run(command, cwd=folder, env=surroundings, capture_output=True, text=True, timeout=300)


def test_all_examples_are_known() -> None:
    assert {path.stem for path in EXAMPLES} == set(SAYS)


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    done = run([sys.executable, str(path)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert SAYS[path.stem] in done.stdout
    assert not list(tmp_path.glob("unembed-runs")), "an example leaves files in the working folder"


@pytest.mark.slow
def test_audit_file_of_the_examples_meets_its_policy(tmp_path: Path) -> None:
    file = ROOT / "examples" / "support_messages.toml"
    command = [sys.executable, "-m", "unembed", "audit", str(file), "--out", "run", "-o", "findings.csv"]
    done = run(command, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "run" / "report.html").is_file()
    assert len((tmp_path / "findings.csv").read_text().splitlines()) == 6, (
        "a head, and five findings: two keyword attacks of two adversaries, one of attributes"
    )
