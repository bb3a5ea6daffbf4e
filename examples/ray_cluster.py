"""The same audit in one process and on a Ray cluster: the findings are equal, bit for bit.

A cluster of several machines differs in one line, ray.init(address="auto"), and in the run folder, which must lie
where all machines see it.

Run: python examples/ray_cluster.py    (needs: pip install 'unembed[ray]')
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

# Ray reports how it is used to its makers unless it is told not to.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray

import unembed

WORKERS = 2


def audit(folder: Path, **where: Any) -> unembed.Run:
    """Audit invented messages; where the measurements run is no part of what is measured."""
    messages = unembed.open_collection("generator:messages", columns=["topic", "author"], rows=240)
    return unembed.audit(
        messages,
        encoder={"name": "lsa", "components": 40},
        attributes=["topic", "author"],
        games="attribute",
        adversaries="insider",
        attacks=["attribute/linear", "attribute/portfolio"],
        curve=[],
        references=[],
        repeats=0,
        threads=1,
        folder=folder,
        progress=False,
        **where,
    )


def figures(run: unembed.Run) -> list[dict[str, Any]]:
    """All that was found, to the last bit, but not how long it took."""
    return [
        finding.model_dump(mode="json", exclude={"cost": {"fit_seconds", "run_seconds"}}) for finding in run.findings
    ]


def main() -> None:
    """Start a cluster of worker processes on this machine, audit twice and compare."""
    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        with tempfile.TemporaryDirectory() as folder:
            here = audit(Path(folder) / "here", backend="loky", jobs=1)
            there = audit(Path(folder) / "ray", backend="ray", jobs=WORKERS)
    finally:
        ray.shutdown()
    for one, other in zip(here.findings, there.findings, strict=True):
        print(f"{one.attack:20} {one.estimate.value!r:20} in one process, {other.estimate.value!r:20} on Ray")
    if figures(here) != figures(there):
        raise SystemExit("the findings differ")
    print(f"{len(here.findings)} findings on Ray with {WORKERS} workers equal those of one process bit for bit")


if __name__ == "__main__":
    main()
