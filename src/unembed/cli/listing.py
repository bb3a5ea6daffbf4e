"""``unembed list``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from unembed.cli.completion import KINDS

EXAMPLE = "unembed list attacks"


def list_names(
    kind: Annotated[
        str | None,
        typer.Argument(
            help="encoders, games, attacks, defenses, utility, collections, generators, adversaries or papers; "
            "without one, the names of all kinds.",
            show_default=False,
            autocompletion=lambda incomplete: [kind for kind in KINDS if kind.startswith(incomplete)],
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout.")] = False,
) -> int:
    """List everything that has a name, built in or from plug-ins, with its paper and what it needs."""
    from unembed.cli.catalogue import entries, names_of
    from unembed.cli.output import Voice, table

    if kind is None and not as_json:
        Voice().show(table(("Kind", "Names"), [(each, _shortly(names_of(each))) for each in KINDS]))
        Voice().line("What they are: unembed list KIND; one of them: unembed show NAME")
        return 0
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


def _shortly(names: Sequence[str]) -> str:
    """Names of one family in braces, as a shell writes them, so that all kinds fit a screen."""
    families: dict[str, list[str]] = {}
    for name in names:
        family, slash, own = name.rpartition("/")
        families.setdefault(family + slash, []).append(own)
    return ", ".join(
        f"{family}{{{', '.join(own)}}}" if family and len(own) > 1 else ", ".join(family + one for one in own)
        for family, own in families.items()
    )
