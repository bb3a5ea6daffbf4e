"""Transforms that protect vectors. None is built in yet; plug-ins bring theirs through ``unembed.defenses``."""

from __future__ import annotations

from typing import Any

from unembed.defenses.base import check_defense_class
from unembed.registry import Registry

DEFENSES: Registry[type[Any]] = Registry("defense", {}, group="unembed.defenses", check=check_defense_class)
