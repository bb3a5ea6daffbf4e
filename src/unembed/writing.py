"""Files that appear whole or not at all, and that only their owner can read unless they are meant for others."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from unembed.errors import UsageError

#: A half-written file is taken for one of a killed process once it is this old.
ABANDONED_SECONDS = 3600.0
_ENDING = ".part"


@contextmanager
def written_aside(path: Path, *, shared: bool = False) -> Iterator[IO[bytes]]:
    """A file that is written into a hidden neighbour, flushed to the disk and renamed.

    Args:
        path: The file; folders that are missing are made.
        shared: Give it the permissions that the user's umask leaves to others. Without it file and new folders are the
            owner's alone, whatever the umask.
    """
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}{_ENDING}")
    try:
        if shared:
            path.parent.mkdir(parents=True, exist_ok=True)
        else:
            make_private_folder(path.parent)
        remove_abandoned(path.parent, f".{path.name}.*", older_than=ABANDONED_SECONDS)
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), _mode(shared))
    except OSError as error:
        raise UsageError(f"can't write to {path.parent}: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # what went wrong before is what the user must know
            aside.unlink(missing_ok=True)


def write_atomically(path: Path, data: str | bytes, *, shared: bool = False) -> None:
    """Write a whole file or nothing; see ``written_aside``."""
    with written_aside(path, shared=shared) as file:
        file.write(data.encode() if isinstance(data, str) else data)


def make_private_folder(path: Path) -> None:
    """Make a folder, with those above it, that only its owner can enter; one that is there stays as it is."""
    if not path.is_dir():
        make_private_folder(path.parent)
        path.mkdir(mode=0o700, exist_ok=True)


def private_opener(name: str, flags: int) -> int:
    """For ``open``: a file that is made by opening it is its owner's alone."""
    return os.open(name, flags, _mode(shared=False))


def remove_abandoned(folder: Path, pattern: str = ".*", *, older_than: float = 0.0) -> None:
    """Remove what killed processes left half-written in a folder."""
    for path in folder.glob(pattern + _ENDING):
        with suppress(OSError):  # renamed by its writer just now, or not ours to remove
            if time.time() - path.stat().st_mtime >= older_than:
                path.unlink()


def _mode(shared: bool) -> int:
    return 0o666 if shared else 0o600
