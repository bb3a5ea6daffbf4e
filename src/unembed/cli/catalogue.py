"""Everything that has a name, with the facts it says of itself."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from unembed.api.catalogue import registries, title_of
from unembed.cli.completion import KINDS
from unembed.errors import MissingExtraError, PluginError, UnembedWarning, UnknownNameError
from unembed.registry import Registry

__all__ = ["KINDS", "Entry", "entries", "find", "names_of", "registries", "title_of"]

_SINGULAR = {k: k.removesuffix("s") for k in KINDS} | {"adversaries": "adversary", "papers": "experiment"}


@dataclass(frozen=True)
class Entry:
    """One named thing as ``list`` shows it."""

    name: str
    kind: str
    title: str | None
    paper: str | None
    section: str | None
    requires: list[str]
    origin: str
    broken: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def names_of(kind: str) -> list[str]:
    """The names of one kind, without loading what they stand for."""
    if kind == "adversaries":
        from unembed.games.threat import ADVERSARIES

        return list(ADVERSARIES)
    if kind not in KINDS:
        raise UnknownNameError("kind", kind, KINDS)
    return list(registries()[kind])


def entries(kind: str) -> Iterator[Entry]:
    """All things of one kind; one that can't be loaded is listed as broken and warned about."""
    if kind not in KINDS:
        raise UnknownNameError("kind", kind, KINDS)
    if kind == "adversaries":
        yield from _adversaries()
        return
    if kind == "papers":
        yield from _papers()
    registry = registries()[kind]
    for name in registry:
        yield _entry(registry, name, _SINGULAR[kind])


def _entry(registry: Registry[Any], name: str, kind: str) -> Entry:
    origin = registry.origin(name)
    try:
        found = registry.get(name)
    except (PluginError, MissingExtraError, ImportError) as error:
        warnings.warn(str(error), UnembedWarning, stacklevel=2)
        return Entry(name, kind, None, None, None, [], origin, broken=str(error))
    facts = getattr(found, "facts", None)
    return Entry(
        name,
        kind,
        title_of(found),
        getattr(facts, "paper", None),
        getattr(facts, "section", None) if getattr(facts, "paper", None) else None,
        sorted(str(r) for r in getattr(facts, "requires", ())),
        origin,
    )


def _adversaries() -> Iterator[Entry]:
    from unembed.games.threat import ADVERSARIES

    for who in ADVERSARIES.values():
        held = sorted(str(c) for c in who.capabilities)
        yield Entry(who.name, "adversary", who.title, None, None, held, "unembed.games.threat")


def _papers() -> Iterator[Entry]:
    from unembed.papers import PAPERS

    for paper in PAPERS.values():
        title = f"{paper.title} ({paper.authors}, {paper.year})"
        yield Entry(paper.name, "paper", title, paper.name, None, [], "unembed.papers.library")


def find(name: str) -> list[tuple[str, Any]]:
    """Everything of that name as (kind, object); ``file.py:Name`` is whatever contract it keeps."""
    from unembed.games.threat import ADVERSARIES
    from unembed.papers import PAPERS

    found: list[tuple[str, Any]] = []
    problems: list[PluginError] = []
    for plural, registry in registries().items():
        if name in registry:
            found.append((_SINGULAR[plural], registry.get(name)))
        elif ".py:" in name and plural in ("attacks", "defenses", "utility", "games", "papers", "encoders"):
            try:
                found.append((_SINGULAR[plural], registry.get(name)))
                break
            except PluginError as error:
                problems.append(error)
    if name in ADVERSARIES:
        found.append(("adversary", ADVERSARIES[name]))
    if name in PAPERS:
        found.append(("paper", PAPERS[name]))
    if not found and problems:
        raise problems[0]
    if not found:
        known = [n for registry in registries().values() for n in registry]
        raise UnknownNameError(
            "name", name, [*known, *ADVERSARIES, *PAPERS, "schema", "exit-codes"], hint="see 'unembed list'"
        )
    return found
