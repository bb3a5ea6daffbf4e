"""Where cells run: in this process, in workers of their own, or on a joblib back-end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from unembed.runner.cell import Task, failed_cell, run_cell, write_cell
from unembed.runner.folder import RunFolder
from unembed.runner.plan import Cell
from unembed.runner.prepare import Progress
from unembed.runner.processes import run_in_processes
from unembed.runner.spec import AuditSpec


class OfCell(Protocol):
    """A task that is part of measuring a cell."""

    @property
    def cell(self) -> Cell:
        """The cell."""


C = TypeVar("C", bound=OfCell)


def run_tasks(
    spec: AuditSpec, folder: RunFolder, tasks: list[Task], progress: Progress, deadline: float | None = None
) -> None:
    """Run cells, as many at a time as the spec says, until the deadline; each writes its own file."""
    progress("attacks", 0, len(tasks))
    for task in tasks:
        # A result of an earlier run that is not wanted must not be taken for the one that is about to be made.
        Path(task.result).unlink(missing_ok=True)
    for done, (task, lost) in enumerate(run_all(spec, run_cell, tasks, deadline), start=1):
        if lost is not None and not Path(task.result).exists():
            folder.event("cell lost", cell=task.cell.key, cause=lost)
            write_cell(task, failed_cell(task, lost))
        folder.event("cell ended", cell=task.cell.key, label=task.cell.identity.label)
        progress("attacks", done, len(tasks))


def run_all(
    spec: AuditSpec, work: Callable[[C], object], tasks: Sequence[C], deadline: float | None = None
) -> Iterator[tuple[C, str | None]]:
    """Do the work of every task; the tasks as they end, each with why it was lost with its process, or None.

    With one job the work is done here, unless it might not come back: with a time limit or with code of a plug-in it
    is done in a process of its own, which can be ended and can die alone.
    """
    from joblib import effective_n_jobs

    if spec.run.backend != "loky":
        yield from ((task, None) for task in _through_joblib(spec, work, tasks))
    elif _may_stay_here(spec, tasks, deadline):
        for task in tasks:
            work(task)
            yield task, None
    else:
        yield from run_in_processes(work, tasks, effective_n_jobs(spec.run.jobs), spec.run.cell_timeout, deadline)


def _may_stay_here(spec: AuditSpec, tasks: Sequence[OfCell], deadline: float | None) -> bool:
    from joblib import effective_n_jobs

    endless = deadline is None and not spec.run.limited
    return endless and effective_n_jobs(spec.run.jobs) == 1 and not any(map(_is_foreign, tasks))


def _is_foreign(task: OfCell) -> bool:
    """Whether code takes part that did not come with unembed."""
    identity = task.cell.identity
    return any(part.source for part in (identity.game, identity.attack, *identity.transforms))


def _through_joblib(spec: AuditSpec, work: Callable[[C], object], tasks: Sequence[C]) -> Iterator[C]:
    """The tasks as they end on one of joblib's back-ends: threads, Ray or Dask."""
    from joblib import Parallel, delayed, parallel_config

    name = spec.run.backend
    if name == "ray":
        from ray.util.joblib import register_ray

        register_ray()  # type: ignore[no-untyped-call]
    with parallel_config(backend=name, n_jobs=spec.run.jobs):
        # Ray's back-end hands results over all at once; cells write their own files, so nothing hangs on it.
        return_as = "list" if name == "ray" else "generator_unordered"
        parallel = Parallel(n_jobs=None, return_as=return_as, batch_size=1)
        yield from parallel(delayed(_done)(work, task) for task in tasks)


def _done(work: Callable[[C], object], task: C) -> C:
    work(task)
    return task
