"""From arguments to an exit code: every way a command can end is one line on stderr, never a traceback."""

from __future__ import annotations

import logging
import os
import shlex
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType
from typing import Any, TextIO

from unembed.cli.output import complain, flush_streams, open_missing_streams, stdout_for_answers
from unembed.errors import UnembedError, UnembedWarning, place_of, trace_of

DEBUG = "--debug"
#: The codes of ``gate.exit_codes`` that end a command before that room is loaded, which takes time.
USAGE, INTERRUPTED = 2, 130

_arguments: ContextVar[tuple[str, ...]] = ContextVar("arguments", default=())
_interrupted: ContextVar[threading.Event | None] = ContextVar("interrupted", default=None)


def command_line() -> str:
    """The command being run, as it can be typed again."""
    return shlex.join(["unembed", *_arguments.get()])


def run(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns its exit code."""
    open_missing_streams()
    arguments = list(sys.argv[1:] if argv is None else argv)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    debug = DEBUG in arguments[:end] or os.environ.get("UNEMBED_DEBUG", "") not in ("", "0")
    arguments = [a for a in arguments[:end] if a != DEBUG] + arguments[end:]
    # Threads that wait must sleep: spinning ones make a small training thirty times slower on a busy machine.
    # Read by OpenMP when it is loaded, so it is set before anything heavy is.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    token = _arguments.set(tuple(arguments))
    answers = stdout_for_answers("--json" in arguments[:end])
    with answers, _spoken_warnings(debug), _noted_interrupt() as interrupted:
        try:
            code = _guarded(lambda: _invoke(arguments), debug, interrupted)
        finally:
            _arguments.reset(token)
            flush_streams()
    return code


def _invoke(arguments: list[str]) -> Any:
    from unembed.cli.app import command

    return command()(args=arguments, prog_name="unembed", standalone_mode=False)


def stop_if_interrupted() -> None:
    """Raise a Ctrl-C that was noted but got lost: compiled code may print and drop the exception it caused."""
    noted = _interrupted.get()
    if noted is not None and noted.is_set():
        raise KeyboardInterrupt


@contextmanager
def _noted_interrupt() -> Iterator[threading.Event]:
    """Takes note of Ctrl-C: a library interrupted in the middle may raise an error of its own instead."""
    noted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield noted
        return

    def note(number: int, frame: FrameType | None) -> None:
        noted.set()
        signal.default_int_handler(number, frame)

    before = signal.signal(signal.SIGINT, note)
    token = _interrupted.set(noted)
    try:
        yield noted
    finally:
        _interrupted.reset(token)
        signal.signal(signal.SIGINT, before)


def _guarded(work: Callable[[], Any], debug: bool, interrupted: threading.Event) -> int:
    """The exit code of the work, whichever way it ends."""
    try:
        code = _told(work, debug, interrupted)
    except KeyboardInterrupt:
        code = INTERRUPTED
    if code == INTERRUPTED:
        complain("interrupted; the same command goes on where it stopped", label="stopped")
    return code


def _told(work: Callable[[], Any], debug: bool, interrupted: threading.Event) -> int:
    try:
        code = work()
    except Exception as error:
        if interrupted.is_set():
            raise KeyboardInterrupt from error
        return _failed(error, debug)
    except SystemExit as error:
        # Verbs are fenced, so only the command line itself can get here: shell completion ends so.
        code = error.code
    return code if isinstance(code, int) else USAGE


def _failed(error: Exception, debug: bool) -> int:
    """One line on stderr for what went wrong."""
    say = getattr(error, "format_message", None)
    if type(error).__name__ == "NoArgsIsHelpError" and callable(say):
        sys.stderr.write(f"{say()}\n")
        return USAGE
    if debug and not callable(say):
        sys.stderr.write(trace_of(error))
    if isinstance(error, UnembedError):
        complain(str(error))
        return error.exit_code
    if callable(say):  # a mistake in the command line, whichever library found it
        path = getattr(getattr(error, "ctx", None), "command_path", "unembed")
        complain(f"{str(say()).rstrip('.')}; see '{path} --help'")
    elif type(error).__name__ == "Abort":
        complain("aborted, nothing was changed")
    elif isinstance(error, MemoryError):
        complain("out of memory: use fewer texts (--max-texts) or fewer jobs (--jobs)")
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror or type(error).__name__}")
    else:
        # Its message may hold text of the corpus, so only type and place are shown.
        complain(
            f"unexpected {type(error).__name__} at {place_of(error)}; this is a mistake in unembed or in a plug-in: "
            f"run again with {DEBUG} for the traceback"
        )
    return USAGE


class _Spoken(logging.Handler):
    """Log lines of unembed as warnings, each once."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.said: set[str] = set()

    def once(self, message: str) -> None:
        """Say it unless it was said."""
        if message not in self.said:
            self.said.add(message)
            complain(message, label="warning")

    def emit(self, record: logging.LogRecord) -> None:
        """Show one record."""
        self.once(record.getMessage())


@contextmanager
def _spoken_warnings(debug: bool) -> Iterator[None]:
    """Warnings of unembed as ``warning:`` lines, each once; those of libraries only with ``--debug``."""
    handler, logger = _Spoken(), logging.getLogger("unembed")
    propagated, logger.propagate = logger.propagate, False
    logger.addHandler(handler)

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if issubclass(category, UnembedWarning):
            handler.once(str(message))
        elif debug:
            sys.stderr.write(warnings.formatwarning(message, category, filename, lineno, line))

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always" if debug else "ignore")
            warnings.simplefilter("always", UnembedWarning)
            warnings.showwarning = show
            yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagated
