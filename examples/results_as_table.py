"""Reading a finished run: as objects, as flat rows for any data frame, and as files.

Run: python examples/results_as_table.py [RUN_FOLDER]
Without a run folder a small run is made first.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from unembed.audit.execute import audit
from unembed.audit.spec import build_spec, read_audit_file
from unembed.report import write_report
from unembed.report.table import rows
from unembed.results.io import read_run

HERE = Path(__file__).parent
SHOWN = ("adversary", "attack", "metric", "value", "low", "high", "floor", "excess", "level")


def show(folder: Path) -> None:
    """Print the findings of a run and write them as CSV beside it."""
    run = read_run(folder)
    print(f"{run.title}: {run.status}, schema {run.schema_version}, {len(run.findings)} findings")
    table = rows(run)  # pandas.DataFrame(table) and polars.DataFrame(table) take it as it is
    print(" | ".join(SHOWN))
    for row in table:
        print(" | ".join(f"{row[c]:.3f}" if isinstance(row[c], float) else str(row[c]) for c in SHOWN))
    write_report(run, folder / "findings.csv")
    print("written:", (folder / "findings.csv").name)


def main() -> None:
    """Show the run named on the command line, or a fresh one of the audit file beside this script."""
    if len(sys.argv) > 1:
        show(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as folder:
        given = read_audit_file(HERE / "support_messages.toml")
        spec = build_spec({**given, "run": {"folder": folder, "no_cache": True}})
        _, path = audit(spec)
        show(path)


if __name__ == "__main__":
    main()
