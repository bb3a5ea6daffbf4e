"""The command line: one module per verb."""

from __future__ import annotations

from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code (``unembed show exit-codes`` says what each means)."""
    from unembed.cli.entry import run

    return run(argv)


__all__ = ["main"]
