"""Locks on open files, which the operating system takes back when their holder dies, however it dies."""

from __future__ import annotations

import errno
import sys
from typing import IO

_BUSY = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)
_UNKNOWN = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP)


def lock(file: IO[bytes], *, wait: bool) -> bool:
    """Hold an open file until it is closed; False: this file system has no locks.

    Where another process or thread holds it, wait for them, or raise BlockingIOError at once.
    """
    while True:
        try:
            _lock(file, wait=wait)
        except OSError as error:
            if error.errno in _UNKNOWN:
                return False
            if wait and error.errno == errno.EDEADLK:  # Windows gives up after ten seconds
                continue
            if not wait and error.errno in _BUSY:
                raise BlockingIOError(error.errno, "held elsewhere") from error
            raise
        return True


if sys.platform == "win32":
    import msvcrt

    #: Windows locks bytes against reading and writing, so one is locked that no file reaches.
    _FAR_BEHIND = 1 << 30

    def _lock(file: IO[bytes], *, wait: bool) -> None:
        file.seek(_FAR_BEHIND)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes], *, wait: bool) -> None:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
