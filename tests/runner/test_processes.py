"""Worker processes: what dies or hangs costs its own task, and no worker outlives its parent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from unembed.errors import UnembedError
from unembed.runner.processes import run_in_processes


class Stop(BaseException):
    """What no library catches."""


def work(task: tuple[str, str]) -> None:
    """Leave a mark in a folder, or end in one of the ways in which foreign code does."""
    kind, folder = task
    if kind == "hangs":
        time.sleep(600)
    elif kind == "exits":
        os._exit(0)
    elif kind == "crashes":
        os.kill(os.getpid(), signal.SIGSEGV)
    elif kind == "is killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == "stops":
        raise Stop("with a text of the corpus")
    elif kind == "interrupts":
        raise KeyboardInterrupt
    elif kind == "forks":
        if os.fork() == 0:
            time.sleep(10)  # keeps the connection of the worker open
        os._exit(3)
    elif kind == "complains":
        raise UnembedError("can't write there")
    else:
        (Path(folder) / f"{kind}-{os.getpid()}").touch()


def start_another(folder: str) -> None:
    """Start a process, leave its number, and hang."""
    started = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    (Path(folder) / str(started.pid)).touch()
    time.sleep(600)


def outcomes(kinds: list[str], folder: Path, jobs: int = 1, limit: float | None = None) -> dict[str, str | None]:
    tasks = [(kind, str(folder)) for kind in kinds]
    return {task[0]: lost for task, lost in run_in_processes(work, tasks, jobs, limit)}


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_task_that_takes_its_process_along_is_named_and_the_others_are_done(jobs: int, tmp_path: Path) -> None:
    found = outcomes(["first", "exits", "crashes", "is killed", "forks", "last"], tmp_path, jobs)
    assert found == {
        "first": None,
        "exits": "its process ended in the middle (exit code 0)",
        "crashes": "its process was ended by a signal (Segmentation fault): a crash",
        "is killed": "its process was ended by a signal (Killed): out of memory, or killed from outside",
        "forks": "its process ended in the middle (exit code 3)",
        "last": None,
    }
    assert sorted(p.name.partition("-")[0] for p in tmp_path.iterdir()) == ["first", "last"]


def test_a_task_that_never_ends_is_stopped_at_its_limit(tmp_path: Path) -> None:
    found = outcomes(["hangs", "last"], tmp_path, limit=0.5)
    assert found == {"hangs": "stopped: it took longer than the limit of 0.5 seconds", "last": None}


def test_what_is_raised_past_everything_costs_the_task_and_quotes_nothing(tmp_path: Path) -> None:
    found = outcomes(["stops", "interrupts", "last"], tmp_path)
    assert str(found["stops"]).startswith("Stop in test_processes.py:")
    assert str(found["interrupts"]).startswith("KeyboardInterrupt in test_processes.py:")
    assert found["last"] is None


def test_an_error_that_the_user_can_mend_ends_it_all(tmp_path: Path) -> None:
    with pytest.raises(UnembedError, match="can't write there"):
        outcomes(["complains", "last"], tmp_path)


def test_one_worker_does_one_task_after_the_other(tmp_path: Path) -> None:
    outcomes(["a", "b", "c"], tmp_path)
    assert len({p.name.partition("-")[2] for p in tmp_path.iterdir()}) == 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_what_a_task_has_started_is_stopped_with_it(tmp_path: Path) -> None:
    for _, lost in run_in_processes(start_another, [str(tmp_path)], 1, 5.0):
        assert lost is not None
    (started,) = (int(mark.name) for mark in tmp_path.iterdir())
    deadline = time.monotonic() + 20
    while alive(started):
        assert time.monotonic() < deadline, "a process outlives the worker that started it"
        time.sleep(0.05)


PARENT = """
import sys, time
from pathlib import Path
from unembed.runner.processes import run_in_processes
import long_work
list(run_in_processes(long_work.work, [(kind, sys.argv[1]) for kind in ("sleeping", "computing")], 2, None))
"""
LONG_WORK = """
import os, time
from pathlib import Path
def work(task):
    kind, folder = task
    (Path(folder) / f"{kind}-{os.getpid()}").touch()
    while True:
        time.sleep(600) if kind == "sleeping" else sum(range(10**6))
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_their_parent(by: signal.Signals, tmp_path: Path) -> None:
    (tmp_path / "long_work.py").write_text(LONG_WORK)
    marks = tmp_path / "marks"
    marks.mkdir()
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(marks)], env={**os.environ, "PYTHONPATH": path})
    deadline = time.monotonic() + 60
    try:
        while len(list(marks.iterdir())) < 2:
            assert time.monotonic() < deadline
            assert parent.poll() is None
            time.sleep(0.02)
    finally:
        parent.send_signal(by)
        parent.wait()
    workers = [int(mark.name.partition("-")[2]) for mark in marks.iterdir()]
    deadline = time.monotonic() + 20
    while any(map(alive, workers)):
        assert time.monotonic() < deadline, "a worker outlives its parent"
        time.sleep(0.05)
