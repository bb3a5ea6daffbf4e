"""The settings that are tried unless the user names some: each defense from weak to strong."""

from __future__ import annotations

from typing import Any

from unembed.runner.spec import DefenseSpec

#: By defense, the values of one parameter, or of several, from weak to strong. A share is of the dimensions.
SHELF: dict[str, list[dict[str, Any]]] = {
    "rounding": [{"decimals": d} for d in (3, 2, 1)],
    "gaussian": [{"scale": s} for s in (0.25, 0.5, 1.0, 2.0, 4.0)],
    "metric-dp": [{"epsilon": e} for e in (800.0, 400.0, 200.0, 100.0)],
    "float16": [{}],
    "int8": [{}],
    "binary": [{}],
    "product-quantization": [{"bytes": b} for b in (96, 48, 24, 12)],
    "truncation": [{"components": c, "kind": "principal"} for c in (0.5, 0.25, 0.125, 0.0625)],
    "neighbours": [{"components": c} for c in (0.5, 0.25, 0.125, 0.0625)],
}

Chain = list[DefenseSpec]


def shelf() -> list[Chain]:
    """Every setting of every defense on the shelf, one step each."""
    return [[DefenseSpec(name=name, **params)] for name, settings in SHELF.items() for params in settings]


def settings_of(chains: list[Chain]) -> list[Chain]:
    """A defense that is named without parameters stands for all its settings; what is spelt out stays as it is."""
    found: list[Chain] = []
    for chain in chains:
        name = chain[0].name
        if len(chain) == 1 and not chain[0].params and name in SHELF:
            found += [[DefenseSpec(name=name, **params)] for params in SHELF[name]]
        else:
            found.append(chain)
    return found
