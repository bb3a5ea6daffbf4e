"""``unembed compare``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "unembed compare runs/before runs/after -o change.html"
_ENDINGS = (".html", ".md", ".json")


def compare(
    before: Annotated[Path, typer.Argument(help="Run folder or run.json of the first run.", show_default=False)],
    after: Annotated[Path, typer.Argument(help="Run folder or run.json of the second run.", show_default=False)],
    output: Annotated[
        list[Path] | None, typer.Option("--output", "-o", help="Write as .html, .md or .json; repeat.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Comparison as JSON on stdout.")] = False,
) -> int:
    """Show what changed between two runs: another encoder, a defense, a new version.

    A change counts when the intervals of the two results don't overlap and one of them is a leak.
    """
    import json

    from unembed.cli.output import Voice, table
    from unembed.cli.preflight import check_folder
    from unembed.errors import UsageError
    from unembed.report.compare import HEAD, compare_runs
    from unembed.results.io import read_run
    from unembed.writing import write_atomically

    for path in output or []:
        if path.suffix.lower() not in _ENDINGS:
            raise UsageError(
                f"can't tell the kind of '{path.name}'; end the name in {', '.join(_ENDINGS[:-1])} or {_ENDINGS[-1]}"
            )
        check_folder(path.parent, "folder of the comparison")
    found = compare_runs(read_run(before), read_run(after))
    voice = Voice(as_json=as_json)
    for path in output or []:
        made = {".html": found.to_html, ".md": found.to_markdown, ".json": found.to_json}[path.suffix.lower()]
        write_atomically(path, made(), shared=True)
    voice.line(f"{found.before} → {found.after}")
    for note in found.notes:
        voice.line(f"Note: {note}")
    voice.show(table(HEAD, found.rows()))
    for label, items in (("Only after", found.added), ("Only before", found.removed)):
        for item in items:
            voice.line(f"{label}: {item}")
    for path in output or []:
        voice.line(f"Written: {path}")
    voice.data(json.loads(found.to_json()))
    return 0
