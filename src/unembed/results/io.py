"""Result files on disk: written aside and renamed, read with one-line errors."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from pydantic import ValidationError

from unembed.errors import DataError, UsageError
from unembed.files import read_text
from unembed.results.schema import SCHEMA_VERSION, Run

#: No measurement or count comes near it, and sums and scales of such numbers still fit a float.
_LARGEST = 1e100


@contextmanager
def written_aside(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears whole or not at all: written into a temporary neighbour, then renamed."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise UsageError(f"can't write to {path.parent}: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
    finally:
        Path(name).unlink(missing_ok=True)


def write_atomically(path: Path, data: str | bytes) -> None:
    """Write a whole file or nothing."""
    with written_aside(path) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def write_run(run: Run, path: Path) -> None:
    """Write ``run.json``."""
    write_atomically(path, run.model_dump_json(indent=2) + "\n")


def read_run(path: Path) -> Run:
    """Read a run from its file or its folder."""
    file = path / "run.json" if path.is_dir() else path
    text = read_text(file, "result file", "expected a run folder or its run.json")
    try:
        run = Run.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the top"
        raise DataError(f"{file} is not a result file of unembed: {first['msg']} at {where}") from error
    if run.schema_version != SCHEMA_VERSION:
        raise DataError(
            f"{file} has schema version {run.schema_version}; this version of unembed reads {SCHEMA_VERSION}"
        )
    if any(abs(number) > _LARGEST for number in _numbers(run.model_dump())):
        raise DataError(f"{file} holds a number above {_LARGEST:g}, which no measurement gives: damaged")
    return run


def _numbers(data: Any) -> Iterator[float]:
    if isinstance(data, dict | list | tuple):
        for part in data.values() if isinstance(data, dict) else data:
            yield from _numbers(part)
    elif isinstance(data, int | float):
        yield data
