"""``unembed list``."""

from __future__ import annotations

from typing import Annotated

import typer

EXAMPLE = "unembed list attacks"


def list_names(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="encoders, games, attacks, defenses, utility, collections, generators, adversaries or papers; "
            "all unless given.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout.")] = False,
) -> int:
    """List everything that has a name, built in or from plug-ins, with its paper and what it needs."""
    from unembed.cli.catalogue import KINDS, entries
    from unembed.cli.output import Voice, table

    found = [entry for each in ([kind] if kind else KINDS) for entry in entries(each)]
    voice = Voice(as_json=as_json)
    voice.data([entry.as_dict() for entry in found])
    if as_json:
        return 0
    if not found:
        voice.line(f"no {kind} are installed yet; plug-ins bring theirs (entry points unembed.{kind})")
        return 0
    rows = [
        (
            entry.name,
            entry.kind,
            "broken, see the warning" if entry.broken else entry.title or "",
            f"{entry.paper or ''} {entry.section or ''}".strip() if entry.kind != "paper" else "",
            ", ".join(entry.requires),
        )
        for entry in found
    ]
    voice.show(table(("Name", "Kind", "What it is", "Paper", "Requires"), rows))
    return 0
