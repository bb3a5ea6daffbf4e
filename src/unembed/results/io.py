"""Result files on disk: written whole and sealed, read with one-line errors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from unembed.errors import DataError
from unembed.files import read_text
from unembed.results.schema import SCHEMA_VERSION, Run
from unembed.sealed import BrokenSealError, seal, unseal
from unembed.writing import write_atomically

#: No measurement or count comes near it, and sums and scales of such numbers still fit a float.
_LARGEST = 1e100


def write_run(run: Run, path: Path) -> None:
    """Write ``run.json``."""
    write_atomically(path, seal(run))


def read_run(path: Path) -> Run:
    """Read a run from its file or its folder."""
    file = path / "run.json" if path.is_dir() else path
    text = read_text(file, "result file", "expected a run folder or its run.json")
    try:
        run = Run.model_validate(unseal(text, required=False))
    except BrokenSealError as error:
        raise DataError(f"{file} is not a result file as unembed wrote it: {error}") from error
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
