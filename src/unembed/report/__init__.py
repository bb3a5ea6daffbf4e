"""Reports of a run, rebuilt from its result file alone; the format follows the file's ending."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from unembed.errors import UsageError
from unembed.results.schema import Run
from unembed.results.sealed import seal
from unembed.writing import write_atomically


def _html(run: Run) -> str:
    from unembed.report.html import render_html

    return render_html(run)


def _markdown(run: Run) -> str:
    from unembed.report.markdown import render_markdown

    return render_markdown(run)


def _json(run: Run) -> str:
    return seal(run)


def _junit(run: Run) -> str:
    from unembed.report.junit import render_junit

    return render_junit(run)


def _sarif(run: Run) -> str:
    from unembed.report.sarif import render_sarif

    return render_sarif(run)


def _csv(run: Run) -> str:
    from unembed.report.table import render_csv

    return render_csv(run)


Renderer = Callable[[Run], str]

#: Endings with what they make; longer endings are tried first, so ``.sarif.json`` is not ``.json``.
ENDINGS: dict[str, Renderer] = {
    ".sarif.json": _sarif,
    ".junit.xml": _junit,
    ".sarif": _sarif,
    ".html": _html,
    ".json": _json,
    ".csv": _csv,
    ".md": _markdown,
}


def renderer(path: Path) -> Renderer:
    """What makes the report a file name asks for; lets a command refuse a name before the work is done."""
    name = path.name.lower()
    for ending, render in ENDINGS.items():
        if name.endswith(ending):
            return render
    raise UsageError(
        f"can't tell the kind of report from '{path.name}'; end the name in one of {', '.join(sorted(ENDINGS))}"
    )


def write_report(run: Run, path: Path) -> None:
    """Write a run as the report its file name asks for: a whole file or nothing; for its owner alone if texts show."""
    unmasked = any(not sample.masked for finding in run.findings for sample in finding.samples)
    write_atomically(path, renderer(path)(run), shared=not (unmasked or run.spec.get("samples")))


__all__ = ["ENDINGS", "renderer", "write_report"]
