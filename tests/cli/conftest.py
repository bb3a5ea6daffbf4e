"""Small collections and a way to run the command line: in this process, or in a real one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import COLUMNS, SMALL, Result, call, write_csv

from unembed.cli import main
from unembed.corpora.generators import GENERATORS


@pytest.fixture(scope="session")
def corpus_rows() -> list[list[Any]]:
    made = GENERATORS.get("messages")(300, seed=1)
    body = [[text, *(made.columns[c][i] for c in COLUMNS)] for i, text in enumerate(made.texts)]
    return [["text", *COLUMNS], *body]


@pytest.fixture(scope="session")
def messages(tmp_path_factory: pytest.TempPathFactory, corpus_rows: list[list[Any]]) -> Path:
    """300 invented messages with author, topic, document and date."""
    return write_csv(tmp_path_factory.mktemp("data") / "messages.csv", corpus_rows)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNEMBED_CACHE", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("UNEMBED_DEBUG", raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Result]:
    """The command line in this process."""

    def in_process(*arguments: object) -> Result:
        capsys.readouterr()
        code = main([str(a) for a in arguments])
        seen = capsys.readouterr()
        return Result(code, seen.out, seen.err)

    return in_process


@pytest.fixture(scope="session")
def finished_run(tmp_path_factory: pytest.TempPathFactory, messages: Path) -> Path:
    """The folder of a complete small audit."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    done = call(
        ["audit", "--texts", messages, "--column", "text", *SMALL, "-d", folder],
        cwd=folder.parent,
        UNEMBED_CACHE=str(folder.parent / "cache"),
    )
    assert done.code == 0, done.err
    return folder
