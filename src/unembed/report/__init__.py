"""Reports of a run, rebuilt from its result file alone; the format follows the file's ending."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from unembed.errors import UsageError
from unembed.results.schema import Run
from unembed.writing import write_atomically

Renderer = Callable[[Run], str]

#: Endings with what makes them, loaded when asked for; longer endings are tried first, so ``.sarif.json`` is not
#: ``.json``.
ENDINGS: dict[str, str] = {
    ".sarif.json": "unembed.report.sarif:render_sarif",
    ".junit.xml": "unembed.report.junit:render_junit",
    ".sarif": "unembed.report.sarif:render_sarif",
    ".html": "unembed.report.html:render_html",
    ".json": "unembed.sealed:seal",
    ".csv": "unembed.report.table:render_csv",
    ".md": "unembed.report.markdown:render_markdown",
}


def renderer(path: Path) -> Renderer:
    """What makes the report a file name asks for; lets a command refuse a name before the work is done."""
    name = path.name.lower()
    for ending, place in ENDINGS.items():
        if name.endswith(ending):
            module, function = place.split(":")
            made: Renderer = getattr(import_module(module), function)
            return made
    raise UsageError(
        f"can't tell the kind of report from '{path.name}'; end the name in one of {', '.join(sorted(ENDINGS))}"
    )


def write_report(run: Run, path: Path) -> None:
    """Write a run as the report its file name asks for: a whole file or nothing; for its owner alone if texts show."""
    unmasked = any(not sample.masked for finding in run.findings for sample in finding.samples)
    write_atomically(path, renderer(path)(run), shared=not (unmasked or run.spec.get("samples")))


__all__ = ["ENDINGS", "renderer", "write_report"]
