"""``unembed data``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "unembed data make first_names --from nltk_data --out data"

data = typer.Typer(
    invoke_without_command=True,
    help="Which data sets the experiments need, where they come from, which are here; make one from its original.",
    epilog=f"Example: {EXAMPLE}",
)
AsJson = Annotated[bool, typer.Option("--json", help="As JSON on stdout.")]


@data.callback()
def overview(
    context: typer.Context,
    experiment: Annotated[
        str | None, typer.Option(help="Only the data sets of this experiment.", show_default=False)
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--data", help="Folder with the data sets.", envvar="UNEMBED_DATA")
    ] = None,
    as_json: AsJson = False,
) -> int:
    """Which data sets the experiments need, where they come from, and which are here."""
    if context.invoked_subcommand is not None:
        return 0
    from unembed.cli.output import Voice
    from unembed.papers import EXPERIMENTS, Conditions
    from unembed.papers.datasets import data_folder, data_sets, look_up

    if experiment is not None:
        EXPERIMENTS.get(experiment)
    place = data_folder(Conditions(data=folder))
    voice = Voice(as_json=as_json)
    told = []
    for each in data_sets().values():
        users = [name for name in EXPERIMENTS.names() if each.needed_for(name)]
        if experiment is not None and experiment not in users:
            continue
        found = look_up(each, place)
        told.append({**vars(each), "file": each.file, "used_by": users, "here": None if found is None else vars(found)})
        if found is None:
            here = f"not in {place}; unembed data make {each.name} --from FOLDER --out {place}"
        else:
            lacks = f"; it lacks the columns {', '.join(found.missing)}" if found.missing else ""
            here = f"{found.path}, {found.rows:,} rows, SHA-256 {found.digest[:12]}{lacks}"
        voice.line(f"{each.file}: {each.about}")
        for title, text in (
            ("needed for", ", ".join(users)),
            ("columns", f"{', '.join(each.columns)}; results were measured on {each.rows:,} rows"),
            ("original", f"{each.source}: {each.layout}"),
            ("licence", each.licence),
            ("here", here),
        ):
            voice.line(f"  {title + ':':<11} {text}")
    if not told:
        voice.line(f"{experiment} needs no data set")
    voice.data(told)
    return 0


@data.command(epilog=f"Example: {EXAMPLE}")
def make(
    name: Annotated[str, typer.Argument(help="Data set, as 'unembed data' lists it.")],
    original: Annotated[Path, typer.Option("--from", help="Folder that holds the files of the original.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of data sets that the file is written to.")],
    as_json: AsJson = False,
) -> int:
    """Turn the public original of a data set into the file that experiments read."""
    from unembed.cli.output import Voice
    from unembed.papers.datasets import make_data_set

    made = make_data_set(name, original, out)
    voice = Voice(as_json=as_json)
    voice.line(f"{made.path}: {made.rows:,} rows, SHA-256 {made.digest[:12]}")
    voice.data(vars(made))
    return 0
