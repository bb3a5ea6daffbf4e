"""Transforms that protect vectors; plug-ins bring theirs through ``unembed.defenses``."""

from __future__ import annotations

from unembed.defenses.base import Defense, check_defense_class
from unembed.registry import Registry

DEFENSES: Registry[type[Defense]] = Registry(
    "defense",
    {
        "rounding": "unembed.defenses.rounding:Rounding",
        "gaussian": "unembed.defenses.gaussian:Gaussian",
        "laplace": "unembed.defenses.laplace:Laplace",
        "subspace": "unembed.defenses.subspace:Subspace",
        "ppm": "unembed.defenses.ppm:Ppm",
        "pii-removal": "unembed.defenses.pii_removal:PiiRemoval",
        "metric-dp": "unembed.defenses.metric_dp:MetricDp",
    },
    group="unembed.defenses",
    check=check_defense_class,
)
