"""``unembed cache``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer

EXAMPLE = "unembed cache clear --older-than 30d --yes"
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}

cache = typer.Typer(
    no_args_is_help=True,
    help="Look at or empty the folder of vectors that were encoded before.",
    epilog=f"Example: {EXAMPLE}",
)
Folder = Annotated[
    Path | None, typer.Option("--cache", help="Folder of the cache (default: UNEMBED_CACHE or the user's).")
]
AsJson = Annotated[bool, typer.Option("--json", help="As JSON on stdout.")]


@cache.command(epilog="Example: unembed cache info")
def info(folder: Folder = None, as_json: AsJson = False) -> int:
    """Where the cache is and what it holds."""
    from unembed.cli.output import Voice
    from unembed.encoders.cache import EmbeddingCache

    shelves = EmbeddingCache(folder)
    stats = shelves.stats()
    voice = Voice(as_json=as_json)
    voice.data({"folder": str(shelves.folder), "encoders": stats.encoders, "bytes": stats.bytes})
    if not as_json:
        voice.line(f"{shelves.folder}: {size(stats.bytes)} of vectors from {stats.encoders} encoder setting(s)")
    return 0


@cache.command(epilog=f"Example: {EXAMPLE}")
def clear(
    folder: Folder = None,
    older_than: Annotated[str | None, typer.Option(help="Only what was written longer ago, e.g. 12h, 30d, 4w.")] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    as_json: AsJson = False,
) -> int:
    """Remove vectors from the cache; they are encoded again when needed."""
    import sys

    from unembed.cli.output import Voice
    from unembed.encoders.cache import EmbeddingCache
    from unembed.errors import UsageError

    age = None if older_than is None else seconds(older_than)
    shelves = EmbeddingCache(folder)
    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("there is no terminal to ask on: add --yes to clear the cache")
        typer.confirm(f"Remove vectors from {shelves.folder}?", abort=True, err=True)
    removed = shelves.clear(age)
    voice = Voice(as_json=as_json)
    voice.data({"folder": str(shelves.folder), "blocks": removed.blocks, "bytes": removed.bytes})
    if not as_json:
        voice.line(f"removed {size(removed.bytes)} in {removed.blocks} block(s) from {shelves.folder}")
    return 0


def seconds(age: str) -> float:
    """``30d`` as seconds."""
    from unembed.errors import UsageError

    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdw])", age.strip().lower())
    if match is None:
        raise UsageError(f"--older-than is a number with s, m, h, d or w, such as 30d, not '{age}'")
    return float(match[1]) * _UNITS[match[2]]


def size(count: int) -> str:
    """Bytes as people say them."""
    value, unit = float(count), "bytes"
    for bigger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, bigger
    return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
