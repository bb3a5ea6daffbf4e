"""Tasks in worker processes: a worker that dies or takes too long costs its own task and no other.

Workers end with their parent, however that ends: each notices that its connection is closed, and on Linux the kernel
ends it at once even where compiled code is busy. A worker that is stopped takes along the processes it has started.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from os import _exit as leave  # the name in os may be fenced while a task runs
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeVar

from unembed.errors import UnembedError, place_of, trace_of

T = TypeVar("T")
#: What a worker says: it begins a task, has done it, could not do it, or met an error that ends the audit.
_BEGUN, _DONE, _LOST, _ERROR = "begun", "done", "lost", "error"
OVER = "the time budget of the audit is used up: run the same command again to go on"
#: Workers are looked at this often, because one whose children keep its connection open dies in silence.
_LOOK_SECONDS = 1.0


def run_in_processes(
    work: Callable[[T], object], tasks: Sequence[T], jobs: int, limit: float | None, deadline: float | None = None
) -> Iterator[tuple[T, str | None]]:
    """The tasks as they end, each with why it was lost, or None.

    Args:
        work: What to do with a task; importable, like the task.
        tasks: In the order in which they begin.
        jobs: Tasks at a time.
        limit: Seconds that one task may take.
        deadline: When the time for all of them is up, by the monotonic clock: what runs then is stopped.
    """
    waiting = list(reversed(tasks))
    busy: dict[Worker, T] = {}
    idle: list[Worker] = []
    try:
        while waiting or busy:
            if _is_over(deadline):
                yield from ((task, OVER) for task in reversed(waiting))
                waiting.clear()
            while waiting and len(busy) < jobs:
                worker = idle.pop() if idle else Worker()
                if worker.begins(work, waiting[-1]):
                    busy[worker] = waiting.pop()
            wait([part for worker in busy for part in worker.signs], timeout=_LOOK_SECONDS)
            for worker in list(busy):
                if (outcome := worker.outcome(limit, deadline)) is not None:
                    task = busy.pop(worker)
                    if outcome.usable:
                        idle.append(worker)
                    else:
                        worker.stop()
                    yield task, outcome.lost
    finally:
        for worker in (*busy, *idle):
            worker.stop()


class ElsewhereError(UnembedError):
    """What led to an error in another process, as its traceback there tells."""


class _Told(NamedTuple):
    """What a worker says of its task: how it ended, why, with which exit code and traceback, or with which result."""

    kind: str
    why: str | None = None
    exit_code: int = 0
    trace: str = ""
    result: Any = None


class Outcome(NamedTuple):
    """What came of a task, why it was lost if it was, and whether its worker can take another."""

    lost: str | None
    usable: bool
    result: Any = None
    trace: str = ""


class Worker:
    """One process that does one task after the other."""

    def __init__(self) -> None:
        # loky's processes are started afresh and don't import the caller's main module again.
        from joblib.externals.loky.backend import get_context

        context: Any = get_context("loky")
        self.connection, theirs = context.Pipe()
        self.process: Any = context.Process(target=_serve, args=(theirs, os.getpid()))
        self.process.start()
        theirs.close()
        self._begun: float | None = None

    def begins(self, work: Callable[[Any], object], task: object) -> bool:
        """Whether a task could be handed over: a worker may have died since its last one."""
        self._begun = None
        try:
            self.connection.send((work, task))
        except OSError:
            self.stop()
            return False
        return True

    @property
    def signs(self) -> tuple[Any, Any]:
        """What to wait for: its messages and its end."""
        return self.connection, self.process.sentinel

    def ask(self, work: Callable[[Any], object], task: object, limit: float | None, deadline: float | None) -> Outcome:
        """Do one task and wait for it."""
        if not self.begins(work, task):
            return Outcome(_ending(self.process.exitcode), usable=False)
        while (outcome := self.outcome(limit, deadline)) is None:
            wait(self.signs, timeout=_LOOK_SECONDS)
        return outcome

    def outcome(self, limit: float | None, deadline: float | None) -> Outcome | None:
        """How its task ended; None while it goes on."""
        alive = self.process.is_alive()  # asked before the messages are read, so that none is missed
        try:
            while self.connection.poll():
                told: _Told = self.connection.recv()
                if told.kind == _ERROR:
                    error = UnembedError(told.why)
                    error.exit_code = told.exit_code
                    raise error from ElsewhereError(told.trace)
                if told.kind != _BEGUN:
                    return Outcome(told.why, usable=True, result=told.result, trace=told.trace)
                self._begun = time.monotonic()
        except (EOFError, OSError):
            self.process.join(_LOOK_SECONDS)
            alive = False
        if not alive:
            return Outcome(_ending(self.process.exitcode), usable=False)
        if limit is not None and self._begun is not None and time.monotonic() - self._begun > limit:
            return Outcome(f"stopped: it took longer than the limit of {limit:g} seconds", usable=False)
        return Outcome(OVER, usable=False) if _is_over(deadline) else None

    def stop(self) -> None:
        """End the process and all that it has started, whatever they are doing."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError, PermissionError):  # all gone, or it has not begun yet
                os.killpg(self.process.pid, signal.SIGKILL)
        if self.process.is_alive():
            os.kill(self.process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            self.process.join()
        self.connection.close()


def _is_over(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline


def _ending(code: int | None) -> str:
    """How a process ended, for people."""
    if code is not None and code < 0:
        why = "out of memory, or killed from outside" if -code == getattr(signal, "SIGKILL", 0) else "a crash"
        return f"its process was ended by a signal ({signal.strsignal(-code) or -code}): {why}"
    return f"its process ended in the middle (exit code {code})"


def _serve(connection: Connection, parent: int) -> None:
    """The life of a worker."""
    if hasattr(os, "setsid"):
        os.setsid()  # what it starts can then be ended with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the parent too, which ends its workers
    if sys.platform == "linux":
        import ctypes

        set_parent_death_signal = 1
        ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)
    if hasattr(os, "getppid") and os.getppid() != parent:  # it died before it could be watched
        leave(1)
    tasks: SimpleQueue[tuple[Callable[[Any], object], Any]] = SimpleQueue()
    threading.Thread(target=_receive, args=(connection, tasks), daemon=True).start()
    while True:
        work, task = tasks.get()
        connection.send(_Told(_BEGUN))
        try:
            told = _Told(_DONE, result=work(task))
        except UnembedError as error:
            told = _Told(_ERROR, str(error), error.exit_code, trace_of(error))
        except BaseException as error:
            told = _Told(_LOST, f"{type(error).__name__} in {place_of(error)}", trace=trace_of(error))
        connection.send(told)


def _receive(connection: Connection, tasks: SimpleQueue[Any]) -> None:
    """Take tasks while the main thread is busy, so that a closed connection ends the process at once."""
    try:
        while True:
            tasks.put(connection.recv())
    except (EOFError, OSError):
        leave(1)
