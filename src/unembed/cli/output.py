"""What people and programs read: plain lines, tables and JSON.

Strings of users (names, paths, columns) are never read as markup and can't move the cursor or add lines.
"""

from __future__ import annotations

import json
import os
import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.text import Text

_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
_STYLES = {"error": "bold red", "warning": "yellow", "stopped": "yellow"}
_PIPED_WIDTH = 120
#: Characters between two columns of a table.
_BETWEEN = 3


def plain(text: object) -> str:
    """A string of any origin as one harmless line."""
    return _UNFIT.sub("\ufffd", re.sub(r"\s*[\r\n]+\s*", " ", str(text).rstrip()))


def text(value: object, style: str = "") -> Text:
    """A cell or line that is shown as it stands."""
    from rich.text import Text

    return Text(plain(value), style=style)


def console(stream: TextIO | None = None) -> Console:
    """A console on stdout or another stream; piped output gets a width that tables fit in."""
    from rich.console import Console

    class Steady(Console):
        """Leaves a broken pipe to whoever prints: rich would end the process with 1, which reads as *violated*."""

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    out = stream if stream is not None else sys.stdout
    wide = None if out.isatty() or os.environ.get("COLUMNS") else _PIPED_WIDTH
    return Steady(file=out, markup=False, highlight=False, emoji=False, width=wide)


def complain(message: str, *, label: str = "error") -> None:
    """One line on stderr: ``error: …``."""
    try:
        if sys.stderr.isatty():
            from rich.text import Text

            line = Text.assemble((f"{label}: ", _STYLES.get(label, "")), plain(message))
            console(sys.stderr).print(line, soft_wrap=True)
        else:
            sys.stderr.write(f"{label}: {plain(message)}\n")
            sys.stderr.flush()
    except BrokenPipeError:
        _silence(sys.stderr)


def _fitted(line: str, out: Console, stream: TextIO) -> str:
    """A line broken between words where a terminal would break it within one; a program that reads it gets it whole."""
    if not stream.isatty():
        return line
    indent = " " * (len(line) - len(line.lstrip(" ")) + 2)
    broken = textwrap.wrap(
        line, out.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, tabsize=1
    )
    return "\n".join(broken)


class Voice:
    """Where a command talks: people read stdout, or stderr when stdout belongs to a program."""

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet

    def show(self, *parts: Any) -> None:
        """Lines and tables for people; nothing when quiet."""
        if self.quiet:
            return
        stream = sys.stderr if self.as_json else sys.stdout
        out = console(stream)
        try:
            if all(isinstance(p, str) for p in parts):
                out.print(*(_fitted(p, out, stream) for p in parts), soft_wrap=True)
            else:
                out.print(*parts)
            stream.flush()
        except BrokenPipeError:
            _silence(stream)

    def line(self, message: str = "") -> None:
        """One line for people, as it stands."""
        self.show(plain(message))

    def data(self, value: Any) -> None:
        """The machine's answer, on stdout, where it was asked for."""
        if self.as_json:
            raw(json.dumps(value, indent=2, ensure_ascii=False, default=str, allow_nan=False) + "\n")


_answers: ContextVar[TextIO | None] = ContextVar("answers", default=None)


@contextmanager
def stdout_for_answers(asked: bool) -> Iterator[None]:
    """Keep stdout for ``raw`` alone: what plug-ins and their processes print there goes to stderr meanwhile."""
    if not asked:
        yield
        return
    with ExitStack() as after:
        stream = sys.stdout
        with suppress(OSError, ValueError):  # a stream without a descriptor is only changed by name
            descriptor, kept = stream.fileno(), os.dup(stream.fileno())
            stream.flush()
            os.dup2(sys.stderr.fileno(), descriptor)
            after.callback(os.close, kept)
            after.callback(os.dup2, kept, descriptor)
            stream = open(kept, "w", encoding=stream.encoding, errors=stream.errors, closefd=False)  # noqa: SIM115
        after.enter_context(redirect_stdout(sys.stderr))
        after.callback(_answers.reset, _answers.set(stream))
        yield


def raw(content: str) -> None:
    """Text for another program, on stdout."""
    stream = _answers.get() or sys.stdout
    try:
        stream.write(content)
        stream.flush()
    except UnicodeEncodeError:
        stream.write(content.encode("ascii", "backslashreplace").decode())
    except BrokenPipeError:
        _silence(stream)


class Rows:
    """A table where the terminal is wide enough for its longest words, else one paragraph per row.

    Neither splits a word or a number; cells are shown as they stand.
    """

    def __init__(self, head: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[int] = ()) -> None:
        self.head = head
        self.rows = [[cell if isinstance(cell, _text_type()) else text(cell) for cell in row] for row in rows]
        self.right = right

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """As the width allows."""
        columns = [[title, *(row[n].plain for row in self.rows)] for n, title in enumerate(self.head)]
        longest = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
        room = options.max_width - _BETWEEN * (len(self.head) - 1)
        if sum(longest) > room:
            yield self._paragraphs()
        else:
            yield self._table(_shared(longest, [max(map(len, column)) for column in columns], room))

    def _table(self, widths: Sequence[int]) -> RenderableType:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        made = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
        for index, title in enumerate(self.head):
            made.add_column(title, justify="right" if index in self.right else "left", width=widths[index])
        for row in self.rows:
            made.add_row(*row)
        return made

    def _paragraphs(self) -> RenderableType:
        from rich.console import Group
        from rich.padding import Padding
        from rich.text import Text

        parts: list[RenderableType] = []
        for row in self.rows:
            named = [(title, cell) for title, cell in zip(self.head, row, strict=True) if cell.plain]
            first = [cell for title, cell in named if not title] or [cell for _, cell in named[:1]]
            rest = [Text.assemble(f"{title}: ", cell) for title, cell in named if title and cell not in first]
            parts.append(Text(" ").join(first))
            parts.append(Padding(Text("; ").join(rest), (0, 0, 0, 2), expand=False))
        return Group(*parts)


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """The widths of columns: what is left over the least goes to those that still want some, evenly."""
    widths = list(least)
    left = room - sum(widths)
    while left > 0 and (wanting := [n for n, width in enumerate(widths) if width < most[n]]):
        for n in wanting[:left]:
            widths[n] += 1
        left -= min(left, len(wanting))
    return widths


def _text_type() -> type[Text]:
    from rich.text import Text

    return Text


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()) -> Rows:
    """A table whose cells are shown as they stand; columns of ``right`` are aligned right."""
    return Rows(head, rows, right)


def nan_to_none(value: Any) -> Any:
    """The same data with None where a number is not finite: JSON has neither NaN nor infinity."""
    if isinstance(value, dict):
        return {k: nan_to_none(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [nan_to_none(v) for v in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


def _silence(stream: TextIO) -> None:
    """The reader is gone: write the rest nowhere, so that the exit code stays what it is."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def open_missing_streams() -> None:
    """Streams that were closed before the start (``>&-``) lead nowhere, so that no other file takes their place."""
    for descriptor, name in ((0, "stdin"), (1, "stdout"), (2, "stderr")):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free, which is this one
        if getattr(sys, name) is None:
            mode = "r" if descriptor == 0 else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def flush_streams() -> None:
    """Flush both streams now, because a failure at the end of the process would change the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # the reader is gone, or the disk is full and that was told
            _silence(stream)
        except ValueError:  # closed by whoever called us
            continue
