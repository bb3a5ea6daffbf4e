"""A progress bar on stderr, for terminals only."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from unembed.cli.entry import stop_if_interrupted

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID


class Bar:
    """Shows what an audit reports of its progress; silent when not a terminal, in CI, or when quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._shown = not quiet and sys.stderr.isatty() and not os.environ.get("CI")
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}

    def __enter__(self) -> Self:
        if self._shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
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
        if self._progress is None:
            return
        if what not in self._tasks:
            self._tasks[what] = self._progress.add_task(what, total=total)
        self._progress.update(self._tasks[what], completed=done, total=total)
