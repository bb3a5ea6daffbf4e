"""unembed: what text vectors give away, to whom, at what price, and what stops it.

What is listed in ``__all__`` is the interface; everything else may change. Names are loaded on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from unembed._version import __version__

if TYPE_CHECKING:
    from unembed.api.auditing import audit
    from unembed.api.catalogue import available
    from unembed.api.defending import Defense, Frontier, defend, load_defense
    from unembed.api.estimators import ArrayAttack, attack, measure
    from unembed.api.opening import encoder, open_collection
    from unembed.api.planting import Canaries, Exposures, canaries, exposure
    from unembed.api.run import Chart, Gate, Run, load_run
    from unembed.collections.base import Collection
    from unembed.errors import UnembedError, UnembedWarning
    from unembed.gate.policy import Policy
    from unembed.results.schema import Finding

#: Where each name is defined.
_WHERE = {
    "audit": "unembed.api.auditing",
    "defend": "unembed.api.defending",
    "load_defense": "unembed.api.defending",
    "measure": "unembed.api.estimators",
    "attack": "unembed.api.estimators",
    "encoder": "unembed.api.opening",
    "open_collection": "unembed.api.opening",
    "available": "unembed.api.catalogue",
    "canaries": "unembed.api.planting",
    "exposure": "unembed.api.planting",
    "Canaries": "unembed.api.planting",
    "Exposures": "unembed.api.planting",
    "load_run": "unembed.api.run",
    "Run": "unembed.api.run",
    "Defense": "unembed.api.defending",
    "Frontier": "unembed.api.defending",
    "Gate": "unembed.api.run",
    "Chart": "unembed.api.run",
    "ArrayAttack": "unembed.api.estimators",
    "Finding": "unembed.results.schema",
    "Policy": "unembed.gate.policy",
    "Collection": "unembed.collections.base",
    "UnembedError": "unembed.errors",
    "UnembedWarning": "unembed.errors",
}

__all__ = [
    "ArrayAttack",
    "Canaries",
    "Chart",
    "Collection",
    "Defense",
    "Exposures",
    "Finding",
    "Frontier",
    "Gate",
    "Policy",
    "Run",
    "UnembedError",
    "UnembedWarning",
    "__version__",
    "attack",
    "audit",
    "available",
    "canaries",
    "defend",
    "encoder",
    "exposure",
    "load_defense",
    "load_run",
    "measure",
    "open_collection",
]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'unembed' has no attribute '{name}'")
    found = getattr(import_module(_WHERE[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return list(__all__)
