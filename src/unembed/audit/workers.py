"""Running cells on a joblib back-end; a worker that dies takes no other cell with it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from unembed.audit.cell import Task, failed_cell, run_cell, write_cell
from unembed.audit.folder import RunFolder
from unembed.audit.prepare import Progress
from unembed.audit.spec import AuditSpec
from unembed.errors import MissingExtraError


def run_tasks(spec: AuditSpec, folder: RunFolder, tasks: list[Task], progress: Progress) -> None:
    """Run cells, as many at a time as the spec says; each writes its own file."""
    waiting = {t.cell.key: t for t in tasks}
    progress("attacks", 0, len(tasks))

    def ended(key: str) -> None:
        folder.event("cell ended", cell=key, label=waiting.pop(key).cell.identity.label)
        progress("attacks", len(tasks) - len(waiting), len(tasks))

    for task in tasks:
        # A result of an earlier run that is not wanted must not be taken for the one that is about to be made.
        Path(task.result).unlink(missing_ok=True)
    try:
        for key in _keys(spec, tasks):
            ended(key)
    except BrokenProcessPool:
        folder.event("a worker died", left=len(waiting))
        for key in list(waiting):
            _run_alone(waiting[key])
            ended(key)


def _keys(spec: AuditSpec, tasks: list[Task]) -> Iterator[str]:
    """The keys of the cells as they end."""
    from joblib import Parallel, delayed

    with backend(spec):
        # Ray's back-end hands results over all at once; cells write their own files, so nothing hangs on it.
        return_as = "list" if spec.run.backend == "ray" else "generator_unordered"
        parallel = Parallel(n_jobs=None, return_as=return_as, batch_size=1)
        yield from parallel(delayed(run_cell)(t) for t in tasks)


def _run_alone(task: Task) -> None:
    """Run one cell in a process of its own, so that only a cell that kills its process is lost."""
    from joblib.externals.loky import ProcessPoolExecutor

    if Path(task.result).exists():
        return
    with ProcessPoolExecutor(max_workers=1) as pool:
        try:
            pool.submit(run_cell, task).result()
        except BrokenProcessPool:
            write_cell(task, failed_cell(task, "the process that ran it died (a crash, or out of memory)"))


@contextlib.contextmanager
def backend(spec: AuditSpec) -> Iterator[None]:
    """joblib's back-end by name: processes, threads, Ray or Dask."""
    from importlib.util import find_spec

    from joblib import parallel_config

    name = spec.run.backend
    if name == "ray":
        if find_spec("ray") is None:
            raise MissingExtraError("the Ray back-end", "ray")
        from ray.util.joblib import register_ray

        register_ray()  # type: ignore[no-untyped-call]
    if name == "dask" and find_spec("distributed") is None:
        raise MissingExtraError("the Dask back-end", "dask")
    jobs = spec.run.jobs
    with parallel_config(backend=name if jobs != 1 or name in ("ray", "dask") else "sequential", n_jobs=jobs):
        yield
