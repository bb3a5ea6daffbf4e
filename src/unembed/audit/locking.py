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

#: The append-only log of a run folder.
LOG = "events.jsonl"
_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
#: Windows locks bytes against reading and writing, so one is locked that the log never reaches.
_FAR_BEHIND = 1 << 30
_UNKNOWN = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone; one that is held elsewhere is a UsageError, at once.

    The lock is held on the open log of the run, not by the existence of a file, so nothing stays
    behind after a kill.
    """
    with (folder / LOG).open("a+b") as file:
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
        file.seek(_FAR_BEHIND)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
