"""What a shell offers after Tab: names of one kind, loaded only then."""

from __future__ import annotations

from collections.abc import Callable

#: The plurals that users type after ``list``.
KINDS = ("encoders", "games", "attacks", "defenses", "utility", "collections", "generators", "adversaries", "papers")


def of_kind(*kinds: str) -> Callable[[str], list[str]]:
    """Completes the names of ``unembed list KIND``."""

    def complete(incomplete: str) -> list[str]:
        from unembed.cli.catalogue import names_of

        return [name for kind in kinds for name in names_of(kind) if name.startswith(incomplete)]

    return complete
