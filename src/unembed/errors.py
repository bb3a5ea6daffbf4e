"""Every error a user can meet, each with the exit code it ends the command line with.

A message says what was wrong, where (file, row, column) and what to type next; it never holds text
from the user's corpus, because recovered or private text must stay out of logs and tracebacks.
"""

from __future__ import annotations

import difflib
import os
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

_leave = os._exit


class UnembedError(Exception):
    """Base of all errors raised on purpose; shown as one message without a traceback."""

    exit_code: int = 2


class UsageError(UnembedError):
    """The command, the audit file or a parameter is wrong: the user can fix it by typing something else."""


class DataError(UnembedError):
    """A file of texts or vectors can't be used as it is."""


class UnknownNameError(UsageError):
    """A name that is not registered, not a column, not an option; carries close matches."""

    def __init__(self, kind: str, name: str, known: Iterable[str], *, hint: str = "") -> None:
        choices = sorted(set(known))
        close = difflib.get_close_matches(name, choices, n=3, cutoff=0.5)
        message = f"unknown {kind} '{name}'"
        if close:
            message += f"; did you mean {' or '.join(repr(c) for c in close)}?"
        elif choices:
            shown = ", ".join(choices[:20])
            message += f"; known: {shown}" + (", …" if len(choices) > 20 else "")
        if hint:
            message += f" ({hint})"
        super().__init__(message)
        self.name, self.choices = name, choices


class MissingExtraError(UsageError):
    """An optional dependency is needed; names the feature and the install line."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs an optional dependency: pip install 'unembed[{extra}]'")
        self.extra = extra


class PluginError(UnembedError):
    """A plug-in can't be loaded or is not what its group promises."""


class RemoteNotAllowedError(UsageError):
    """Texts would leave this machine without permission."""


class CannotMeasureError(UnembedError):
    """The question can't be answered with this input: never to be read as 'safe'."""

    exit_code = 3


class NoTextsError(CannotMeasureError):
    """There are vectors and no texts: no attack can be judged."""


class NothingRanError(CannotMeasureError):
    """No cell of an audit ran: zero work done is an error, not a pass."""


class UnembedWarning(UserWarning):
    """Something a user should know that does not stop the run."""


def trace_of(error: BaseException) -> str:
    """Where an error comes from and what led to it; messages of foreign errors may quote texts and are left out."""
    led = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    says = f"{type(error).__name__}: {error}" if isinstance(error, UnembedError) else type(error).__name__
    lines = "".join(traceback.format_tb(error.__traceback__))
    before = "" if led is None else f"{trace_of(led)}\nwhich led to\n\n"
    return f"{before}Traceback (most recent call last):\n{lines}{says}\n"


def place_of(error: BaseException) -> str:
    """The innermost line that raised, as ``file.py:12``."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"


@contextmanager
def _no_quiet_exit() -> Iterator[None]:
    """Let ``os._exit`` raise in this process: it passes every handler and its code would pass for the command's."""
    owner = os.getpid()

    def stay(status: int) -> NoReturn:
        if os.getpid() != owner:  # a child that was forked inside ends as it must
            _leave(status)
        raise SystemExit(status)

    if os._exit is not _leave:  # fenced already, here or in another thread
        yield
        return
    os._exit = stay
    try:
        yield
    finally:
        os._exit = _leave


@contextmanager
def fenced(what: str) -> Iterator[None]:
    """Keep foreign code from ending the process: ``sys.exit`` and its like become a PluginError, Ctrl-C stays.

    A process that a plug-in ends early may look like one that succeeded, and a gate would read that as safe.
    """
    try:
        with _no_quiet_exit():
            yield
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        # Its message may hold text of the corpus, so only type and place are shown.
        raise PluginError(f"{what} tried to end the process: {type(error).__name__} at {place_of(error)}") from error
