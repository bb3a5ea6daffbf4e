"""The encoder inside a worker, for adversaries who query as they go or hold the weights.

Most cells never need it: what a game can announce is encoded beforehand, in large batches. The rest open the encoder
from its name and options, once per process; a fitted one is an artifact of the run, like every other encoder that is
fitted in it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from unembed.artifacts import Artifacts
from unembed.artifacts.encoders import EncoderRecipe, recipe_for
from unembed.encoders import must_be_fitted, new_encoder
from unembed.encoders.base import Encoder
from unembed.encoders.cache import CachedEncoder, EmbeddingCache
from unembed.errors import CannotMeasureError
from unembed.runner.apart import safe_encoder
from unembed.runner.prepare import Sides, learning_texts
from unembed.runner.spec import AuditSpec
from unembed.writing import write_atomically

_RECIPE = "encoder.json"
#: Encoders that were given as objects, by the work folder of their audit.
_here: dict[Path, Encoder] = {}


def artifacts_in(work_folder: Path) -> Artifacts:
    """What is fitted in a run, for the run alone: it holds words of the texts and goes with the work folder."""
    return Artifacts(work_folder / "artifacts")


def save_recipe(spec: AuditSpec, sides: Sides, encoder: Encoder, work: Path) -> None:
    """How a worker gets the encoder that ``open_encoder`` opened for these sides; vectors from a file have none."""
    if not sides.can_encode:
        return
    name, options = spec.encoder.name, spec.encoder.options
    if sides.encoder is not None:
        _here[work.resolve()] = encoder
        told = {"name": name, "can be opened": False, "cached": isinstance(encoder, CachedEncoder)}
        write_atomically(work / _RECIPE, json.dumps({**told, "cache": spec.run.cache}))
        return
    fitted = recipe_for(name, options, learning_texts(spec, sides))
    recipe = {
        "name": name,
        "options": options,
        "learnt": fitted.learnt if fitted else None,
        "can be opened": fitted is not None or not must_be_fitted(new_encoder(name, options)),
        "cached": isinstance(encoder, CachedEncoder),
        "cache": spec.run.cache,
    }
    write_atomically(work / _RECIPE, json.dumps(recipe, default=str))


@contextmanager
def encoders_here(work_folder: Path) -> Iterator[None]:
    """While it lasts, encoders that were given as objects can be asked by cells that run in this process."""
    try:
        yield
    finally:
        for work in [work for work in _here if work.parent == work_folder.resolve()]:
            del _here[work]


def can_be_asked(work: Path) -> bool:
    """Whether texts can be encoded in this run."""
    return work.resolve() in _here or ((work / _RECIPE).exists() and bool(_read(work)["can be opened"]))


def encoder_of_run(work: Path) -> Encoder:
    """The encoder of the run, behind its cache where it has one."""
    recipe = work / _RECIPE
    if (given := _here.get(work.resolve())) is not None:
        return given
    if not recipe.exists():
        raise CannotMeasureError("not applicable: the encoder can't be asked, only its stored vectors are there")
    return _open(work, recipe.stat().st_mtime_ns)


@lru_cache(maxsize=1)
def _open(work: Path, stamp: int) -> Encoder:
    recipe = _read(work)
    if not recipe["can be opened"]:
        raise CannotMeasureError("not applicable: the fitted encoder has no save and load, so cells can't ask it")
    name, options, learnt = recipe["name"], recipe["options"], recipe["learnt"]
    if learnt is None:
        return _behind_cache(safe_encoder(name, options, (), None), recipe)
    return _behind_cache(artifacts_in(work.parent).get(EncoderRecipe(name, options, learnt)), recipe)


def other_encoder(work: Path, name: str, options: dict[str, Any], fit_texts: Sequence[str]) -> Encoder:
    """Another encoder than the run's, behind the same cache."""
    encoder = safe_encoder(name, options, fit_texts, artifacts_in(work.parent))
    return encoder if encoder.card.sparse else _behind_cache(encoder, _read(work))


def _read(work: Path) -> dict[str, Any]:
    recipe: dict[str, Any] = json.loads((work / _RECIPE).read_text(encoding="utf-8"))
    return recipe


def _behind_cache(encoder: Encoder, recipe: dict[str, Any]) -> Encoder:
    if not recipe["cached"]:
        return encoder
    return CachedEncoder(encoder, EmbeddingCache(recipe["cache"]) if recipe["cache"] else EmbeddingCache())
