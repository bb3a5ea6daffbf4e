"""Running the command line in a process of its own, and reading what it leaves."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COLUMNS = ("author", "topic", "document", "date")
#: An attack learns once, and nothing is planted.
ONCE = ("--no-calibration", "--repeats", "0")
#: A real audit of seconds: two adversaries, one fast attack, sixteen dimensions.
SMALL = (
    *("--encoder", "lsa", "--encoder-option", "components=16", "--game", "keyword", "--attack", "keyword/svm"),
    *("--set", "keyword.samples=20", "--threads", "1", *ONCE),
)


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        return [line for line in self.err.splitlines() if line.startswith("error:")]


def write_csv(path: Path, rows: Sequence[Sequence[Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)
    return path


def environment(**extra: str) -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", **extra}


def start(arguments: Sequence[object], *, cwd: Path, **extra: str) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "unembed", *map(str, arguments)],
        cwd=cwd,
        env=environment(**extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def call(arguments: Sequence[object], *, cwd: Path, **extra: str) -> Result:
    process = start(arguments, cwd=cwd, **extra)
    out, err = process.communicate(timeout=240)
    return Result(process.returncode, out, err)


def events(folder: Path) -> list[dict[str, Any]]:
    path = folder / "events.jsonl"
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]
