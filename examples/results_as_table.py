"""Reading a finished run: as objects, as a data frame, and as files.

Run: python examples/results_as_table.py [RUN_FOLDER]
Without a run folder a small run is made first.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import unembed

SHOWN = ["adversary", "attack", "metric", "value", "low", "high", "floor", "excess", "level"]


def show(folder: Path) -> None:
    """Print the findings of a run and write them as CSV beside it."""
    run = unembed.load_run(folder)
    print(f"{run.result.title}: {run.result.status}, schema {run.result.schema_version}, {len(run.findings)} findings")
    print(run.to_frame()[SHOWN])
    print("written:", run.report(folder / "findings.csv").name)


def main() -> None:
    """Show the run named on the command line, or a fresh one."""
    if len(sys.argv) > 1:
        show(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        messages = unembed.open_collection("generator:messages", rows=300)
        encoder = {"name": "hashing", "features": 256}
        unembed.audit(messages, encoder=encoder, attributes="topic", games="attribute", threads=1, folder=folder)
        show(Path(folder))


if __name__ == "__main__":
    main()
