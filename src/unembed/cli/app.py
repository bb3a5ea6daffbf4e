"""The command: its verbs in groups, the version, the help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import typer

from unembed.cli import (
    attack,
    audit,
    cache,
    compare,
    data,
    defend,
    demo,
    doctor,
    fingerprint,
    gate,
    listing,
    protect,
    report,
    reproduce,
    show,
    stores,
)
from unembed.cli import presence as looking
from unembed.errors import fenced

MEASURE, PROTECT, RESULTS, LOOK = "Measure", "Protect", "Results", "Look around"

app = typer.Typer(
    name="unembed",
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _version(asked: bool) -> None:
    if asked:
        from unembed._version import __version__
        from unembed.cli.output import raw

        raw(f"unembed {__version__}\n")
        raise typer.Exit


@app.callback(epilog="Start with: unembed demo")
def unembed(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show tracebacks (anywhere on the line; also UNEMBED_DEBUG=1)."),
    ] = False,
) -> None:
    """Measure what text vectors give away, to whom, at what price, and what stops it."""


def _add(name: str, verb: Callable[..., Any], example: str, panel: str) -> None:
    """One verb, fenced: whatever a plug-in does inside, the command ends with a code of its own."""
    app.command(name, epilog=f"Example: {example}", rich_help_panel=panel)(fenced("a plug-in")(verb))


_add("demo", demo.demo, demo.EXAMPLE, MEASURE)
_add("audit", audit.audit, audit.EXAMPLE, MEASURE)
_add("attack", attack.attack, attack.EXAMPLE, MEASURE)
_add("defend", defend.defend, defend.EXAMPLE, MEASURE)
_add("fingerprint", fingerprint.fingerprint, fingerprint.EXAMPLE, MEASURE)
_add("presence", looking.presence, looking.EXAMPLE, MEASURE)
_add("reproduce", reproduce.reproduce, reproduce.EXAMPLE, MEASURE)
_add("protect", protect.protect, protect.EXAMPLE, PROTECT)
_add("report", report.report, report.EXAMPLE, RESULTS)
_add("compare", compare.compare, compare.EXAMPLE, RESULTS)
_add("gate", gate.gate, gate.EXAMPLE, RESULTS)
_add("list", listing.list_names, listing.EXAMPLE, LOOK)
_add("show", show.show, show.EXAMPLE, LOOK)
_add("stores", stores.stores, stores.EXAMPLE, LOOK)
_add("doctor", doctor.doctor, doctor.EXAMPLE, LOOK)
app.add_typer(data.data, name="data", rich_help_panel=LOOK)
app.add_typer(cache.cache, name="cache", rich_help_panel=LOOK)


def command() -> Any:
    """The command as it is run: the help of a switch names no value, because typed behind it one is read as a file."""
    made = typer.main.get_command(app)
    groups = [made, *getattr(made, "commands", {}).values()]
    verbs = [made, *(verb for group in groups for verb in getattr(group, "commands", {}).values())]
    for option in (option for verb in verbs for option in verb.params if getattr(option, "is_flag", False)):
        option.metavar = ""
    return made
