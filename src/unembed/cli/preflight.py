"""What can be found wrong with a command before any work: the spec, folders, report endings, baselines."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from unembed.cli.policies import check_baseline
from unembed.errors import UsageError
from unembed.report import renderer
from unembed.runner.checking import check_spec
from unembed.runner.spec import AuditSpec


def check_request(spec: AuditSpec, outputs: Sequence[Path]) -> None:
    """Refuse what can't work, so that hours of work are not lost to a misspelt name."""
    for path in outputs:
        check_output(path)
    if spec.run.folder is not None:
        check_folder(Path(spec.run.folder), "run folder")
    if spec.policy is not None and spec.baseline is not None:
        check_baseline(Path(spec.baseline), spec.policy)
    check_spec(spec)


def check_output(path: Path) -> None:
    """A report file must have a known ending and a place to be written to."""
    renderer(path)
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file")
    check_folder(path.parent, "folder of the report")


def check_folder(path: Path, what: str) -> None:
    """A folder that is there and writable, or can be made."""
    found = path
    while not found.exists() and found != found.parent:
        found = found.parent
    if not found.is_dir():
        raise UsageError(f"can't use {path} as {what}: {found} is a file")
    if not os.access(found, os.W_OK | os.X_OK):
        raise UsageError(f"can't use {path} as {what}: no permission to write to {found}")
