"""``unembed reproduce``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unembed.cli.completion import of_kind

if TYPE_CHECKING:
    from unembed.cli.output import Voice

EXAMPLE = "unembed reproduce song2020/table2 --size small"


def reproduce(
    experiment: Annotated[
        str | None,
        typer.Argument(
            help="Experiment as paper/table2, or file.py:Class; without one, all are listed.",
            show_default=False,
            autocompletion=of_kind("papers"),
        ),
    ] = None,
    size: Annotated[
        str, typer.Option(help="smoke (does it run, on invented text), small (a laptop) or full (all the data).")
    ] = "small",
    data: Annotated[Path | None, typer.Option(help="Folder with the data sets.", envvar="UNEMBED_DATA")] = None,
    encoder: Annotated[
        list[str] | None, typer.Option(help="Only the rows of this encoder; repeat for several.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of every random choice.", min=0)] = 0,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or cuda:N.")] = "auto",
    threads: Annotated[int | None, typer.Option(help="Threads (default: as torch chooses).", min=1)] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for result.json, table.md, plot.svg and finished rows (default: one under unembed-runs/).",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout, the rest on stderr.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no table.")] = False,
) -> int:
    """Run a published experiment again and show the measured figures beside the published ones.

    Rows are kept as they are finished: the same command again measures only what is missing.
    """
    from unembed.cli.output import Voice
    from unembed.cli.preflight import check_folder
    from unembed.cli.progress import Bar
    from unembed.errors import NothingRanError, UnknownNameError, UsageError
    from unembed.nn.device import pick_device
    from unembed.papers import EXPERIMENTS, PAPERS, Conditions
    from unembed.papers.base import SIZES

    voice = Voice(as_json=as_json, quiet=quiet)
    if experiment is None:
        return _overview(voice)
    chosen = next((s for s in SIZES if s == size), None)
    if chosen is None:
        raise UnknownNameError("size", size, SIZES)
    if experiment in PAPERS:
        mine = [name for name in EXPERIMENTS if name.startswith(f"{experiment}/")]
        say = f"name one: {', '.join(mine)}" if mine else "no experiment of it is installed yet"
        raise UsageError(f"'{experiment}' is a paper; {say}")
    if data is not None and not data.is_dir():
        raise UsageError(f"no folder of data sets at {data}: 'unembed data' says where they come from and makes them")
    if device not in ("auto", "cpu"):
        pick_device(device)
    try:
        make = EXPERIMENTS.get(experiment)
    except UnknownNameError as error:
        raise UnknownNameError("experiment", experiment, [*EXPERIMENTS, *PAPERS]) from error
    facts = make.facts
    folder = output or Path("unembed-runs") / "reproduce" / f"{facts.name.replace('/', '-')}-{size}"
    if folder.suffix.lower() in (".json", ".md", ".svg", ".html", ".csv"):
        raise UsageError(f"'{folder.name}' looks like a file: --output takes a folder")
    check_folder(folder, "folder of the results")
    with Bar(quiet=quiet) as bar:
        conditions = Conditions(chosen, data, seed, device, threads, tuple(encoder or ()), folder, bar)
        result = make().run(conditions)
    if not result.rows:
        causes = dict.fromkeys(row.reason for row in result.unmeasured)
        why = "".join(f": {cause}" for cause in list(causes)[:1])
        raise NothingRanError(f"experiment '{facts.name}' measured nothing{why}")
    _write_and_show(voice, facts, result, conditions, folder)
    return 0


def _write_and_show(voice: Voice, facts: Any, result: Any, conditions: Any, folder: Path) -> None:
    import json

    from unembed.cli.output import nan_to_none, table
    from unembed.papers.plot import draw
    from unembed.papers.present import HEAD, as_document, as_markdown, cells_of, main_rows, missing_lines
    from unembed.writing import write_atomically

    document = nan_to_none(as_document(facts, result, conditions))
    texts = {
        "result.json": json.dumps(document, indent=2, ensure_ascii=False) + "\n",
        "table.md": as_markdown(facts, result, conditions, plot="plot.svg"),
        "plot.svg": draw(facts, result),
    }
    for name, text in texts.items():
        write_atomically(folder / name, text, shared=True)
    voice.line(f"{facts.title} ({facts.paper}, {facts.section}), size {conditions.size}")
    voice.show(table(HEAD, [cells_of(row) for row in main_rows(facts, result)], right=(2, 4, 5)))
    for line in missing_lines(result):
        voice.line(f"Not measured: {line}")
    for note in result.notes:
        voice.line(f"Note: {note}")
    voice.line(f"Written: {', '.join(str(folder / name) for name in texts)}")
    voice.data(document)


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
    voice.line(f"Experiments: {', '.join(installed)}")
    return 0
