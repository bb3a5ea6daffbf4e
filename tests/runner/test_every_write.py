"""Whichever change to the disk fails or is the last before a kill: the same command ends as if nothing had happened.

A sample of the changes; all of them with ``UNEMBED_EVERY_WRITE=1`` (``make crash``).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from unembed.testing.toys import toy_corpus

#: So many changes of each kind are tried by default.
SAMPLE = 8
SCRIPT = Path(__file__).with_name("failing_disk.py")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("disk")
    corpus = toy_corpus(120, seed=4)
    rows = [f"{text},{side}" for text, side in zip(corpus.texts, corpus.column("side"), strict=True)]
    (folder / "t.csv").write_text("text,side\n" + "\n".join(rows) + "\n")
    (folder / "enc.py").write_text("from unembed.testing.toys import LeakyEncoder as Encoder\n")
    return folder


def script(place: Path, *arguments: object) -> str:
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(place), *map(str, arguments)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout


@pytest.fixture(scope="module")
def changes(place: Path) -> int:
    return int(script(place))


@pytest.mark.parametrize("how", ["error", "kill"])
def test_the_same_command_goes_on_after_a_change_that_failed(how: str, place: Path, changes: int) -> None:
    assert changes > 3 * SAMPLE
    step = 1 if os.environ.get("UNEMBED_EVERY_WRITE") else changes // SAMPLE
    # Both kinds begin at another change, so that the samples differ.
    numbers = range(1 if how == "error" else 1 + step // 2, changes + 1, step)
    assert script(place, how, *numbers) == ""
