"""An audit whose n-th change to the disk fails or kills it, then the same audit undisturbed; run as a script.

``failing_disk.py PLACE`` prints how many changes an undisturbed audit makes, and leaves its result in PLACE/calm.
``failing_disk.py PLACE HOW N ...`` does the rest for each N, with HOW one of ``error`` and ``kill``, and prints what
went wrong. Audits run in forks of this process, which has imported everything and done nothing.
"""

from __future__ import annotations

import errno
import io
import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from unembed.errors import UnembedError
from unembed.report import write_report
from unembed.results.schema import without_times
from unembed.runner.execute import audit
from unembed.runner.spec import build_spec

FAILED = 9
#: Loaded once, for all forks.
for module in ("pyarrow.parquet", "sklearn.linear_model", "sklearn.neighbors", "unembed.report.html"):
    import_module(module)


class Disk:
    """Counts what changes a file or folder, and does something instead of the n-th change."""

    def __init__(self, how: str, fails_at: int) -> None:
        self.how, self.fails_at, self.count = how, fails_at, 0
        for name in ("open", "fsync", "replace", "unlink", "mkdir"):
            setattr(os, name, self.counted(getattr(os, name)))
        disk = self

        class Torn(io.BufferedWriter):
            """A file of which a failing write leaves the first half."""

            def write(self, data: Any) -> int:
                disk.count += 1
                if disk.count == disk.fails_at:
                    super().write(memoryview(data).cast("B")[: memoryview(data).nbytes // 2])
                    self.flush()
                    disk.fail()
                return super().write(data)

        os.fdopen = lambda handle, mode: Torn(io.FileIO(handle, mode))  # type: ignore[assignment,misc]

    def counted(self, do: Any) -> Any:
        def instead(*given: Any, **more: Any) -> Any:
            self.count += 1
            if self.count == self.fails_at:
                self.fail()
            return do(*given, **more)

        return instead

    def fail(self) -> None:
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def small_audit() -> None:
    spec = build_spec(
        {
            "data": {"texts": "../t.csv", "column": "text", "attributes": ["side"]},
            "encoder": {"name": "../enc.py:Encoder"},
            "adversaries": ["insider"],
            "games": ["attribute"],
            "attacks": ["attribute/linear"],
            "references": ["random"],
            "calibrate": False,
            "repeats": 0,
            "curve": [],
            "threads": 1,
            "run": {"folder": "run", "cache": "cache"},
        }
    )
    run, folder = audit(spec)
    write_report(run, folder / "report.html")


def in_fork(place: Path, how: str, fails_at: int) -> tuple[int, int]:
    """The exit code of an audit in a process of its own (negative: a signal), and the changes it made."""
    place.mkdir(exist_ok=True)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.chdir(place)
        disk, leave = Disk(how, fails_at), os._exit
        try:
            small_audit()
            os.write(writing, str(disk.count).encode())
            leave(0)
        except (UnembedError, OSError):  # the command line tells both in one line
            leave(FAILED)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            leave(1)
    os.close(writing)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with os.fdopen(reading, "rb") as pipe:
        return code, int(pipe.read() or 0)


def result(place: Path) -> Any:
    return without_times(json.loads((place / "run" / "run.json").read_text(encoding="utf-8")))


def left_over(place: Path) -> list[str]:
    return [str(path) for path in (place / "run").rglob("*") if path.name.endswith(".part") or path.name == "work"]


def problem(place: Path, how: str, number: int) -> str | None:
    """What is wrong after the n-th change failed and the same command was run again."""
    disturbed = place / f"{how}-{number}"
    code, _ = in_fork(disturbed, how, number)
    allowed = {"kill": (-signal.SIGKILL,), "error": (FAILED, 0)}[how]
    if code not in allowed:
        return f"ended with {code}"
    if code == 0 and result(disturbed) != result(place / "calm"):
        return "was complete with another result"
    if in_fork(disturbed, "error", 0)[0] != 0:
        return "could not be run again"
    if result(disturbed) != result(place / "calm"):
        return "ended with another result when it was run again"
    return f"left {left_over(disturbed)}" if left_over(disturbed) else None


def main(place: Path, how: str = "", *numbers: str) -> None:
    if not how:
        code, changes = in_fork(place / "calm", "error", 0)
        print(changes if code == 0 else f"ended with {code}")
    for number in numbers:
        if found := problem(place, how, int(number)):
            print(f"{how} at change {number}: {found}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
