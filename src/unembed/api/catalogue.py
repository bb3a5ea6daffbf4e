"""Everything that has a name, by kind, with a line on each."""

from __future__ import annotations

import inspect
from typing import Any

from unembed.errors import MissingExtraError, PluginError, UnknownNameError
from unembed.registry import Registry


def registries() -> dict[str, Registry[Any]]:
    """The registries by the plural that users type."""
    from unembed.attacks import ATTACKS
    from unembed.collections import COLLECTIONS
    from unembed.corpora.generators import GENERATORS
    from unembed.defenses import DEFENSES
    from unembed.encoders import ENCODERS
    from unembed.games import GAMES
    from unembed.papers import EXPERIMENTS
    from unembed.utility import UTILITY

    return {
        "encoders": ENCODERS,
        "games": GAMES,
        "attacks": ATTACKS,
        "defenses": DEFENSES,
        "utility": UTILITY,
        "collections": COLLECTIONS,
        "generators": GENERATORS,
        "papers": EXPERIMENTS,
    }


def title_of(found: object) -> str | None:
    """A line on what a thing is: its title or question, else the first sentence of its docstring."""
    facts = getattr(found, "facts", None)
    for key in ("title", "question"):
        if getattr(facts, key, None):
            return str(getattr(facts, key))
    first = (inspect.getdoc(found) or "").strip().split("\n\n")[0].replace("\n", " ")
    return first.replace("``", "") or None


def available(kind: str) -> dict[str, str]:
    """The names of one kind, each with a line on what it is.

    Args:
        kind: ``"attacks"``, ``"games"``, ``"encoders"``, ``"defenses"``, ``"utility"``, ``"collections"``,
            ``"generators"``, ``"experiments"`` or ``"adversaries"``.
    """
    from unembed.games.threat import ADVERSARIES

    if kind == "adversaries":
        return {who.name: who.title for who in ADVERSARIES.values()}
    known = {"experiments" if name == "papers" else name: found for name, found in registries().items()}
    if kind not in known:
        raise UnknownNameError("kind", kind, [*known, "adversaries"])
    return {name: _line(known[kind], name) for name in known[kind]}


def _line(registry: Registry[Any], name: str) -> str:
    try:
        return title_of(registry.get(name)) or ""
    except (PluginError, MissingExtraError, ImportError) as error:
        return f"can't be used here: {error}"
