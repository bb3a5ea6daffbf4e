"""A lock on a folder that the operating system gives back when its holder dies, however it dies."""

from __future__ import annotations

import errno
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from unembed.errors import UnembedWarning, UsageError

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_UNKNOWN = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone; one that is held elsewhere is a UsageError, at once.

    The lock is on an open file and not on the file's being there, so nothing stays behind after a kill.
    """
    with (folder / ".lock").open("a+b") as file:
        try:
            _lock(file)
        except OSError as error:
            if error.errno in _BUSY:
                raise UsageError(
                    f"the run folder {folder} is in use by another unembed process: wait until it ends, or name "
                    "another folder (--out)"
                ) from error
            if error.errno not in _UNKNOWN:
                raise
            warnings.warn(
                f"the file system of {folder} knows no locks: start no second audit with this folder",
                UnembedWarning,
                stacklevel=3,
            )
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
