"""Parameters of attacks, games and defenses as typed: names known, values converted, before anything runs."""

from __future__ import annotations

import inspect
from typing import Any

from unembed.attacks import ATTACKS
from unembed.defenses import DEFENSES
from unembed.encoders.parameters import typed_options
from unembed.errors import UnknownNameError, UsageError
from unembed.games import GAMES

#: Parameters that have an option of their own.
_ELSEWHERE = {
    "seed": "--seed",
    "device": "--device",
    "column": "--attribute",
    "keywords": "--keyword",
    "names": "--names",
    "pattern": "--pattern",
}


def typed_params(given: object) -> dict[str, dict[str, Any]]:
    """The ``params`` of an audit, by attack or game, checked against their constructors."""
    if not isinstance(given, dict) or not all(isinstance(v, dict) for v in given.values()):
        raise UsageError("'params' is a table of tables: one for each attack or game")
    typed: dict[str, dict[str, Any]] = {}
    for owner, values in given.items():
        if owner in GAMES:
            kind, make = f"game '{owner}'", GAMES.get(owner)
        elif owner in ATTACKS or ".py:" in owner:
            kind, make = f"attack '{owner}'", ATTACKS.get(owner)
        else:
            raise UnknownNameError("attack or game", owner, [*ATTACKS, *GAMES])
        typed[owner] = _typed(make, values, kind)
    return typed


def typed_defense(given: object) -> object:
    """One defense of the spec with typed parameters; anything but a table is left to the spec to refuse."""
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        return given
    make = DEFENSES.get(given["name"])
    values = {k: v for k, v in given.items() if k != "name"}
    return {"name": given["name"], **_typed(make, values, f"defense '{given['name']}'")}


def _typed(make: Any, values: dict[str, Any], kind: str) -> dict[str, Any]:
    for name in values:
        if name in _ELSEWHERE:
            raise UsageError(f"'{name}' of {kind} is set with {_ELSEWHERE[name]}")
    # What the audit itself fills in is not missing.
    absent = {
        n: ""
        for n, p in inspect.signature(make).parameters.items()
        if p.default is inspect.Parameter.empty and n not in values and n in _ELSEWHERE
    }
    typed = typed_options(make, {**absent, **values}, kind=kind)
    return {name: typed[name] for name in values}
