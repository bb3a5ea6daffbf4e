"""``unembed stores``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from unembed.cli.output import Voice

EXAMPLE = "unembed stores chroma:./chroma/notes"


def stores(
    url: Annotated[
        str | None,
        typer.Argument(help="Address of a store, KIND:PLACE/NAME. None: list the kinds.", show_default=False),
    ] = None,
    allow_remote: Annotated[bool, typer.Option("--allow-remote", help="Ask a store on another machine.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout, the rest on stderr.")] = False,
) -> int:
    """Say what lies in a vector store: rows, dimensions, columns, and which encoder its vectors look like.

    Nothing is written to the store, and no text of it is shown. Vectors are looked at in a sample.
    """
    from unembed.cli.output import Voice

    voice = Voice(as_json=as_json)
    return _kinds(voice) if url is None else _look(voice, url, allow_remote)


def _kinds(voice: Voice) -> int:
    from importlib.util import find_spec

    from unembed.cli.output import table
    from unembed.collections.stores import store_facts

    found: list[dict[str, Any]] = []
    for facts in store_facts().values():
        there = facts.package is None or find_spec(facts.package) is not None
        found.append(
            {
                "kind": facts.kind,
                "title": facts.title,
                "example": facts.example,
                "secret": facts.secret,
                "installed": there,
                "install": None if there else f"pip install 'unembed[{facts.extra}]'",
            }
        )
    rows = [(f["kind"], f["example"], f["secret"] or "", f["install"] or "installed") for f in found]
    voice.show(table(("Kind", "Address", "Password or key from", "Package"), rows))
    voice.data(found)
    return 0


def _look(voice: Voice, url: str, allow_remote: bool) -> int:
    from unembed.cli.lone_vectors import look_into
    from unembed.cli.output import table
    from unembed.collections.stores import open_store

    with open_store(url, allow_remote=allow_remote) as store:
        found = look_into(store, sampled=True)
    voice.show(table(("", "What lies there"), found.rows))
    voice.data(found.document)
    return 0
