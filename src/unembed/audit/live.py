"""The encoder inside a worker, for adversaries who query as they go or hold the weights.

Most cells never need it: what a game can announce is encoded beforehand, in large batches. The rest open the encoder
from a recipe in the work folder, once a process: its name and options, and for a fitted encoder its saved state.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from unembed.audit.prepare import OnlyStored
from unembed.audit.spec import AuditSpec
from unembed.encoders import ENCODERS, build_encoder
from unembed.encoders.base import Encoder, FittedEncoder
from unembed.encoders.cache import CachedEncoder, EmbeddingCache, inside
from unembed.errors import CannotMeasureError
from unembed.writing import write_atomically

_RECIPE = "encoder.json"


def save_recipe(spec: AuditSpec, encoder: Encoder, work: Path) -> None:
    """How a worker gets this encoder; vectors from a file have none."""
    inner = inside(encoder)
    if isinstance(inner, OnlyStored):
        return
    fitted = isinstance(inner, FittedEncoder)
    recipe = {
        "name": spec.encoder.name,
        "options": spec.encoder.options,
        "fitted": fitted,
        "cached": isinstance(encoder, CachedEncoder),
        "cache": spec.run.cache,
    }
    if fitted:
        save = getattr(inner, "save", None)
        if save is None:
            return
        save(work / "encoder")
    write_atomically(work / _RECIPE, json.dumps(recipe, default=str))


def live_encoder(work: Path) -> Encoder:
    """The encoder of the run, behind its cache where it has one."""
    recipe = work / _RECIPE
    if not recipe.exists():
        raise CannotMeasureError("not applicable: the encoder can't be asked, only its stored vectors are there")
    return _open(work, recipe.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _open(work: Path, stamp: int) -> Encoder:
    recipe = json.loads((work / _RECIPE).read_text(encoding="utf-8"))
    if recipe["fitted"]:
        make = ENCODERS.get(recipe["name"].partition(":")[0] if ".py:" not in recipe["name"] else recipe["name"])
        encoder: Encoder = make.load(work / "encoder")  # type: ignore[attr-defined]
    else:
        encoder = build_encoder(recipe["name"], recipe["options"])
    return _behind_cache(encoder, recipe)


def other_encoder(work: Path, name: str, options: dict[str, Any], fit_texts: Sequence[str]) -> Encoder:
    """Another encoder than the run's, behind the same cache."""
    recipe = json.loads((work / _RECIPE).read_text(encoding="utf-8"))
    encoder = build_encoder(name, options, fit_texts=fit_texts)
    return encoder if encoder.card.sparse else _behind_cache(encoder, recipe)


def _behind_cache(encoder: Encoder, recipe: dict[str, Any]) -> Encoder:
    if not recipe["cached"]:
        return encoder
    return CachedEncoder(encoder, EmbeddingCache(recipe["cache"]) if recipe["cache"] else EmbeddingCache())
