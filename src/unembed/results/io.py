"""Result files on disk: written whole and sealed, read with one-line errors."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from unembed.errors import DataError, UsageError
from unembed.results.schema import SCHEMA_VERSION, Run
from unembed.results.sealed import BrokenSealError, seal, unseal
from unembed.writing import write_atomically


def write_run(run: Run, path: Path) -> None:
    """Write ``run.json``."""
    write_atomically(path, seal(run))


def read_run(path: Path) -> Run:
    """Read a run from its file or its folder."""
    file = path / "run.json" if path.is_dir() else path
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(f"no result file at {path}: expected a run folder or its run.json") from error
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{file} can't be read: {error}") from error
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
    return run
