"""Parameters of attacks, games, defenses and tasks as typed: names known, values converted, before anything runs."""

from __future__ import annotations

import inspect
from typing import Any

from unembed.attacks import ATTACKS
from unembed.defenses.base import Checked
from unembed.encoders.parameters import typed_options
from unembed.errors import PluginError, UnknownNameError, UsageError
from unembed.games import GAMES
from unembed.registry import Registry

#: Parameters that have an option of their own in every game and attack; games name further ones in their facts.
_ELSEWHERE = {"seed": "--seed", "device": "--device"}


def typed_params(given: object) -> dict[str, dict[str, Any]]:
    """The ``params`` of an audit, by attack or game, checked against their constructors."""
    if not isinstance(given, dict) or not all(isinstance(v, dict) for v in given.values()):
        raise UsageError("'params' is a table of tables: one for each attack or game")
    typed: dict[str, dict[str, Any]] = {}
    for owner, values in given.items():
        kind, make = _owner(owner)
        typed[owner] = _typed(make, values, f"{kind} '{owner}'")
    return typed


def _owner(name: str) -> tuple[str, Any]:
    """The game or attack of a name; what stands in a file shows itself which of the two it is."""
    if name in GAMES:
        return "game", GAMES.get(name)
    if name in ATTACKS:
        return "attack", ATTACKS.get(name)
    if ".py:" not in name:
        raise UnknownNameError("attack or game", name, [*ATTACKS, *GAMES])
    try:
        return "game", GAMES.get(name)
    except PluginError:
        return "attack", ATTACKS.get(name)


def typed_parts(given: object, registry: Registry[Any]) -> object:
    """Defenses or tasks with typed parameters; what is not a list of names and tables is left to the spec to refuse."""
    return [_typed_part(part, registry) for part in given] if isinstance(given, list) else given


def _typed_part(given: object, registry: Registry[Any]) -> object:
    if isinstance(given, list):
        return typed_parts(given, registry)
    given = {"name": given} if isinstance(given, str) else given
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        return given
    name, values = given["name"], {k: v for k, v in given.items() if k != "name"}
    make = registry.get(name)
    typed = _typed(make, values, f"{registry.kind} '{name}'")
    if issubclass(make, Checked):
        make(**typed).check_parameters()
    return {"name": name, **typed}


def _typed(make: Any, values: dict[str, Any], kind: str) -> dict[str, Any]:
    elsewhere = {**_ELSEWHERE, **dict(getattr(make.facts, "set_by", ()))}
    for name in values:
        if name in elsewhere:
            raise UsageError(f"'{name}' of {kind} is set with {elsewhere[name]}")
    # What the audit itself fills in is not missing.
    absent = {
        n: ""
        for n, p in inspect.signature(make).parameters.items()
        if p.default is inspect.Parameter.empty and n not in values and n in elsewhere
    }
    typed = typed_options(make, {**absent, **values}, kind=kind)
    return {name: typed[name] for name in values}
