"""The run folder: ``run.json``, append-only ``events.jsonl``, one file per cell, a work folder while it runs.

One process at a time works in it. Cells are addressed by what they measure, so audits that follow one another in one
folder never meet each other's; the result is that of the last one, and an earlier result of another audit is set aside.
"""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, TypeVar

from pydantic import ValidationError

from unembed.artifacts.locking import lock
from unembed.errors import DataError, UnembedWarning, UsageError
from unembed.results.io import read_run
from unembed.runner.cell import CellResult
from unembed.runner.plan import Cell
from unembed.sealed import BrokenSealError, unseal
from unembed.strict import Strict
from unembed.writing import make_private_folder, private_opener, remove_abandoned

M = TypeVar("M", bound=Strict)
_LOG = "events.jsonl"


def now() -> str:
    """The time, in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run folder for this process alone; one that is held elsewhere is a UsageError, at once.

    The log is what is locked, while it is open: no extra file is the lock, so nothing stays behind after a kill.
    """
    with (folder / _LOG).open("a+b") as file:
        try:
            if not lock(file, wait=False):
                warnings.warn(
                    f"the file system of {folder} has no locks: do not start a second audit with this folder",
                    UnembedWarning,
                    stacklevel=3,
                )
        except BlockingIOError as error:
            raise UsageError(
                f"the run folder {folder} is in use by another unembed process: wait until it ends, or name "
                "another folder (--out)"
            ) from error
        yield


class RunFolder:
    """Paths of one run and what is already there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cells = path / "cells"
        self.references = path / "references"
        self.work = path / "work"
        self.result = path / "run.json"
        try:
            make_private_folder(self.cells)
            with self._log():
                pass
        except OSError as error:
            raise UsageError(f"can't use {path} as run folder: {error.strerror or error}") from error

    def event(self, kind: str, **facts: Any) -> None:
        """Append one line to the log; facts never hold text of the corpus."""
        line = json.dumps({"at": now(), "event": kind, **facts}, ensure_ascii=True)
        try:
            with self._log() as file:
                file.write(line + "\n")
        except OSError as error:
            raise UsageError(f"can't write to {self.path}: {error.strerror or error}") from error

    def _log(self) -> TextIO:
        return open(self.path / _LOG, "a", encoding="utf-8", opener=private_opener)

    def remove_abandoned(self) -> None:
        """Remove what a killed run left half-written; only for the process that holds the folder."""
        for folder in (self.path, self.cells, self.references):
            remove_abandoned(folder)

    def cell_path(self, key: str) -> Path:
        """The file of one cell."""
        return self.cells / f"{key}.json"

    def finished(self, cell: Cell) -> CellResult | None:
        """The result of a cell as its file holds it; a file that is damaged or of another cell counts as missing."""
        found = self.read_sealed(self.cell_path(cell.key), CellResult)
        if found is None:
            return None
        if not found.answers(cell):
            self.event("cell file holds another cell", cell=cell.key)
            return None
        return found

    def read_sealed(self, path: Path, kind: type[M]) -> M | None:
        """What a sealed file holds; None where it is missing or damaged."""
        try:
            return kind.model_validate(unseal(path.read_bytes()))
        except FileNotFoundError:
            return None
        except (ValidationError, BrokenSealError) as error:
            self.event(f"{path.parent.name[:-1]} file unreadable", cell=path.stem, error=type(error).__name__)
            return None

    def set_aside(self, cells: Collection[str]) -> None:
        """Move the result of an audit of other cells out of the way: until this one ends, the folder has none."""
        try:
            there = {cell.key for cell in read_run(self.result).cells}
        except UsageError:
            return
        except DataError:
            there = set()
        if there == set(cells):
            return
        for name in ("run.json", "report.html"):
            path = self.path / name
            if path.exists():
                path.replace(path.with_stem(f"{path.stem}.previous"))
        self.event("result of another audit set aside", cells=len(there))

    def clear_work(self) -> None:
        """Remove the texts and vectors of the run; results stay."""
        shutil.rmtree(self.work, ignore_errors=True)
        if self.work.exists():
            warnings.warn(
                f"{self.work} holds texts and vectors and could not be removed: delete it", UnembedWarning, stacklevel=2
            )
