"""``unembed reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from unembed.cli.output import Voice

EXAMPLE = "unembed reproduce song2020/table2 --size small"


def reproduce(
    experiment: Annotated[
        str | None,
        typer.Argument(
            help="Experiment as paper/table2, or file.py:Class; all are listed if not said.", show_default=False
        ),
    ] = None,
    size: Annotated[
        str, typer.Option(help="smoke (does it run), small (a laptop) or full (the paper's own size).")
    ] = "small",
    data: Annotated[Path | None, typer.Option(help="Folder with the data sets.", envvar="UNEMBED_DATA")] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.", min=0)] = 0,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the table as .json.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout.")] = False,
) -> int:
    """Run a published experiment again and show the measured figures beside the published ones."""
    import json

    from unembed.cli.output import Voice, nan_to_none, table
    from unembed.cli.preflight import check_folder
    from unembed.errors import NothingRanError, UnknownNameError, UsageError
    from unembed.papers import EXPERIMENTS, PAPERS
    from unembed.papers.base import SIZES
    from unembed.results.io import write_atomically

    voice = Voice(as_json=as_json)
    if experiment is None:
        return _overview(voice)
    chosen = next((s for s in SIZES if s == size), None)
    if chosen is None:
        raise UnknownNameError("size", size, SIZES)
    if experiment in PAPERS:
        mine = [name for name in EXPERIMENTS if name.startswith(f"{experiment}/")]
        say = f"name one: {', '.join(mine)}" if mine else "no experiment of it is installed yet"
        raise UsageError(f"'{experiment}' is a paper; {say}")
    if output is not None:
        if output.suffix.lower() != ".json":
            raise UsageError(f"can't tell the kind of '{output.name}'; end the name in .json")
        check_folder(output.parent, "folder of the table")
    if data is not None and not data.is_dir():
        raise UsageError(f"no folder of data sets at {data}")
    try:
        make = EXPERIMENTS.get(experiment)
    except UnknownNameError as error:
        raise UnknownNameError("experiment", experiment, [*EXPERIMENTS, *PAPERS]) from error
    facts = make.facts
    result = make().run(chosen, data, seed=seed)
    if not result.rows:
        raise NothingRanError(f"experiment '{facts.name}' measured nothing")
    document = nan_to_none(
        {
            "experiment": facts.name,
            "paper": facts.paper,
            "title": facts.title,
            "section": facts.section,
            "departures": facts.departures,
            "size": size,
            "seed": seed,
            "rows": [vars(row) for row in result.rows],
            "notes": list(result.notes),
        }
    )
    if output is not None:
        write_atomically(output, json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    voice.line(f"{facts.title} ({facts.paper}, {facts.section}), size {size}")
    rows = [
        (
            r.setting,
            r.metric,
            "–" if r.published is None else f"{r.published:g}",
            f"{r.value:.3f} [{r.low:.3f}–{r.high:.3f}]",
            f"{r.n:,}",
        )
        for r in result.rows
    ]
    voice.show(table(("Setting", "Metric", "Published", "Measured", "n"), rows, right=(2, 4)))
    for note in result.notes:
        voice.line(f"Note: {note}")
    voice.data(document)
    return 0


def _overview(voice: Voice) -> int:
    from unembed.cli.output import table
    from unembed.papers import EXPERIMENTS, PAPERS

    installed = EXPERIMENTS.names()
    voice.data(
        {
            "papers": [{**vars(p)} for p in PAPERS.values()],
            "experiments": installed,
        }
    )
    rows = [(p.name, f"{p.title} ({p.authors}, {p.year})", p.scope) for p in PAPERS.values()]
    voice.show(table(("Paper", "Title", "In scope"), rows))
    voice.line()
    if installed:
        voice.line(f"Experiments: {', '.join(installed)}")
    else:
        voice.line("No experiment is installed yet; one of your own runs with: unembed reproduce file.py:Class")
    return 0
