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
        "float16": "unembed.defenses.float16:Float16",
        "int8": "unembed.defenses.int8:Int8",
        "binary": "unembed.defenses.binary:Binary",
        "product-quantization": "unembed.defenses.product_quantization:ProductQuantization",
        "truncation": "unembed.defenses.truncation:Truncation",
        "rotation": "unembed.defenses.rotation:Rotation",
        "neighbours": "unembed.defenses.neighbours:Neighbours",
        "saved": "unembed.defenses.saved:Saved",
    },
    group="unembed.defenses",
    check=check_defense_class,
)
