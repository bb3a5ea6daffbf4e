"""Waiting for a lock on a file that the operating system takes back when its holder dies, however it dies."""

from __future__ import annotations

import errno
import sys
from typing import IO

_UNKNOWN = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def wait_for_lock(file: IO[bytes]) -> bool:
    """Hold an open file until it is closed, once no other process or thread does; False: there are no locks here."""
    try:
        _wait(file)
    except OSError as error:
        if error.errno not in _UNKNOWN:
            raise
        return False
    return True


if sys.platform == "win32":
    import msvcrt

    def _wait(file: IO[bytes]) -> None:
        while True:
            try:
                return msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
            except OSError as error:  # Windows gives up after ten seconds
                if error.errno != errno.EDEADLK:
                    raise

else:
    import fcntl

    def _wait(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
