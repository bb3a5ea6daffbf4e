"""``unembed report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "unembed report unembed-demo -o report.html -o findings.csv -o audit.sarif"


def report(
    run: Annotated[Path, typer.Argument(help="Run folder, or its run.json.", show_default=False)],
    output: Annotated[
        list[Path],
        typer.Option("--output", "-o", help="Report by its ending: .html .md .json .csv .junit.xml .sarif; repeat."),
    ],
) -> int:
    """Write the reports of a finished run again, from its result file alone."""
    from unembed.cli.output import Voice
    from unembed.cli.preflight import check_output
    from unembed.report import write_report
    from unembed.results.io import read_run

    for path in output:
        check_output(path)
    result = read_run(run)
    for path in output:
        write_report(result, path)
        Voice().line(f"Report: {path}")
    return 0
