"""How far a command is, on stderr: bars in a terminal, one line per stage elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from unembed.cli.entry import stop_if_interrupted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """Shows what an audit reports of its progress; silent when quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._began: dict[str, float] = {}

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                MofNCompleteColumn,
                Progress,
                TextColumn,
                TimeElapsedColumn,
                TimeRemainingColumn,
            )

            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(bar_width=20),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("left:"),
                TimeRemainingColumn(),
                console=Console(file=sys.stderr),
                transient=True,
            )
            self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Note that ``done`` of ``total`` are done; the place where a lost Ctrl-C is noticed."""
        stop_if_interrupted()
        if self._quiet:
            return
        if self._progress is None:
            self._line(what, done, total)
            return
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total)
        self._progress.update(self._tasks[what], completed=done, total=total)

    def _line(self, what: str, done: int, total: int) -> None:
        """One line when a stage is done, so that a log shows that work goes on and where time went."""
        from unembed.cli.output import complain

        began = self._began.setdefault(what, time.monotonic())
        if done >= total > 0:
            count = f"{total:,}, " if total > 1 else ""
            complain(f"{what} ({count}{time.monotonic() - began:.1f} s)", label="done")
            del self._began[what]
