"""Experiments run through the real command line, in a folder and with a cache of their own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unembed.cli import main

Run = Callable[..., dict[str, Any]]


@pytest.fixture(autouse=True)
def own_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("UNEMBED_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UNEMBED_DATA", raising=False)
    monkeypatch.setenv("UNEMBED_MODELS", str(tmp_path / "no-models"))


@pytest.fixture
def smoke(tmp_path: Path) -> Run:
    """Run an experiment at size smoke; returns its results file."""

    def run(name: str, *more: str) -> dict[str, Any]:
        folder = tmp_path / "out"
        assert main(["reproduce", name, "--size", "smoke", "--threads", "1", "-o", str(folder), "-q", *more]) == 0
        found: dict[str, Any] = json.loads((folder / "result.json").read_text())
        return found

    return run
