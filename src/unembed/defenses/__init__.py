"""Transforms that protect vectors; plug-ins bring theirs through ``unembed.defenses``."""

from __future__ import annotations

from unembed.defenses.base import Defense, check_defense_class
from unembed.registry import Registry

DEFENSES: Registry[type[Defense]] = Registry(
    "defense",
    {
        "rounding": "unembed.defenses.rounding:Rounding",
        "gaussian": "unembed.defenses.gaussian:Gaussian",
        "rotation": "unembed.defenses.rotation:Rotation",
    },
    group="unembed.defenses",
    check=check_defense_class,
)
