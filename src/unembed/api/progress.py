"""How far an audit is: a bar in a terminal, a line in a notebook, or whatever the caller does with it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape
from typing import Any

Progress = Callable[[str, int, int], None]


def _silent(what: str, done: int, total: int) -> None:
    pass


def _line(what: str, done: int, total: int) -> None:
    """For a log: a line for whatever is done."""
    if done == total:
        sys.stderr.write(f"unembed: {what}: {total:,} done\n")


@contextmanager
def shown(wanted: bool | Progress | None) -> Iterator[Progress]:
    """What to tell progress to. None: in notebooks and terminals; True: in logs too; False: silent; or a function."""
    if wanted is False:
        yield _silent
    elif callable(wanted):
        yield wanted
    elif _in_notebook():
        with _notebook() as tell:
            yield tell
    elif sys.stderr.isatty() and (wanted or not os.environ.get("CI")):
        with _terminal() as tell:
            yield tell
    else:
        yield _line if wanted else _silent


def _in_notebook() -> bool:
    python: Any = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"


@contextmanager
def _notebook() -> Iterator[Progress]:
    """One line that changes, and is gone at the end."""
    from IPython import display as shows

    show: Any = shows.display
    HTML: Any = shows.HTML
    line = show(HTML(""), display_id=True)

    def tell(what: str, done: int, total: int) -> None:
        line.update(HTML(f"<progress value='{done}' max='{max(total, 1)}'></progress> {escape(what)} {done}/{total}"))

    try:
        yield tell
    finally:
        line.update(HTML(""))


@contextmanager
def _terminal() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(file=sys.stderr), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def tell(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield tell
