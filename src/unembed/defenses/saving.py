"""A fitted defense in a folder: parameters and plain facts as sealed JSON, arrays as safetensors, the key apart.

What was learnt may be shown to anybody, the key to nobody: it lies in a file of its own, for the owner alone, and a
folder without it can still say what the defense is. Nothing in it is code or pickle. A folder that was cut short or
altered is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed._version import __version__
from unembed.defenses import DEFENSES
from unembed.defenses.base import Defense
from unembed.defenses.chain import Chain
from unembed.errors import DataError, UsageError
from unembed.files import read_bytes, read_text
from unembed.registry import source_digest
from unembed.sealed import BrokenSealError, seal, unseal
from unembed.writing import make_private_folder, write_atomically

_FORMAT = 1
_TOLD, _ARRAYS, _KEYS = "defense.json", "state.safetensors", "key.json"
#: Bytes of arrays that are read: codebooks and maps are far smaller.
_MAX_ARRAYS = 4 << 30


def save_chain(chain: Chain, folder: Path, *, told: Mapping[str, Any] | None = None) -> None:
    """Write fitted transforms and their keys into a folder; ``told`` is kept beside them, as plain data."""
    from safetensors.numpy import save

    steps: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for place, step in enumerate(chain.steps):
        learnt = _learnt(step)
        held = {name: value for name, value in learnt.items() if isinstance(value, np.ndarray)}
        # In the order of their names, so that equal states are equal bytes.
        arrays |= {f"{place}.{name}": np.ascontiguousarray(held[name]) for name in sorted(held)}
        steps.append(
            {
                "name": chain.names[place],
                "version": step.facts.version,
                "params": {k: v for k, v in step.get_params().items() if k != "seed"},
                "source": source_digest(type(step), chain.names[place]),
                "learnt": {name: value for name, value in learnt.items() if name not in held},
                "arrays": sorted(held),
            }
        )
    packed = save(arrays)
    document = {
        "format": _FORMAT,
        "unembed": __version__,
        "steps": steps,
        "arrays": hashlib.sha256(packed).hexdigest(),
        "told": dict(told or {}),
    }
    make_private_folder(folder)
    write_atomically(folder / _ARRAYS, packed)
    write_atomically(folder / _KEYS, seal({"keys": [step.seed for step in chain.steps]}))
    # Last, because it is what makes the folder a defense.
    write_atomically(folder / _TOLD, seal(document))


def load_chain(folder: Path, *, keys: list[int] | None = None, own_code: bool = False) -> Chain:
    """What ``save_chain`` wrote, with the keys in the folder unless others are given.

    A folder may come from somebody else, so a defense that is a file of code is loaded only with ``own_code``.
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load

    document = read_told(folder)
    packed = read_bytes(folder / _ARRAYS, "file of arrays", limit=_MAX_ARRAYS)
    if hashlib.sha256(packed).hexdigest() != document["arrays"]:
        raise DataError(f"{folder / _ARRAYS} was damaged or altered: save the defense again")
    try:
        arrays = load(packed)
    except SafetensorError as error:
        raise DataError(f"{folder / _ARRAYS} is not a complete file of arrays") from error
    secret = _keys(folder, len(document["steps"])) if keys is None else keys
    if len(secret) != len(document["steps"]):
        raise UsageError(f"the defense in {folder} has {len(document['steps'])} steps, so it needs as many keys")
    names = [str(told["name"]) for told in document["steps"]]
    if not own_code and (files := [name for name in names if ".py:" in name]):
        raise UsageError(f"the defense in {folder} runs code of {files[0]}: load it with own_code=True if it is yours")
    steps = [_step(folder, told, place, arrays, secret[place]) for place, told in enumerate(document["steps"])]
    return Chain(steps, names)


def read_told(folder: Path) -> dict[str, Any]:
    """What a folder says of the defense in it; no key is read."""
    place = folder / _TOLD
    if not place.is_file():
        raise UsageError(f"{folder} does not hold a saved defense: there is no {_TOLD}")
    try:
        document = unseal(read_text(place, "saved defense"))
    except BrokenSealError as error:
        raise DataError(f"{place} can't be used: {error}") from error
    if document.get("format") != _FORMAT:
        raise DataError(f"{place} was written by another version of unembed: save the defense again")
    return document


def defense_digest(folder: Path) -> str:
    """One name for what a folder holds but the key: kinds, parameters and everything learnt."""
    document = read_told(folder)
    told = [document["steps"], document["arrays"]]
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def _learnt(step: Defense) -> dict[str, Any]:
    """Everything that ``fit`` set: names that end in an underscore."""
    found = {name: value for name, value in vars(step).items() if _is_learnt(name)}
    for name, value in found.items():
        if not isinstance(value, np.ndarray) and not _is_plain(value):
            raise UsageError(
                f"the defense '{step.facts.name}' can't be kept: {name} is neither an array nor plain data, "
                f"but {type(value).__name__}"
            )
    return found


def _is_learnt(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return all(_is_plain(part) for part in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(part) for key, part in value.items())
    return value is None or isinstance(value, str | int | float | bool)


def _keys(folder: Path, steps: int) -> list[int]:
    place = folder / _KEYS
    if not place.exists():
        raise UsageError(f"the key of the defense is not there: {place} is missing")
    try:
        found = unseal(read_text(place, "key")).get("keys")
    except BrokenSealError as error:
        raise DataError(f"{place} is not the key of this defense: {error}") from error
    if not isinstance(found, list) or len(found) != steps or not all(type(key) is int for key in found):
        raise DataError(f"{place} is not the key of this defense")
    return found


def _step(folder: Path, told: dict[str, Any], place: int, arrays: Mapping[str, Any], key: int) -> Defense:
    make = DEFENSES.get(told["name"])
    if source_digest(make, told["name"]) != told["source"]:
        raise DataError(f"{told['name']} was edited since the defense in {folder} was saved: fit it again")
    if make.facts.version != told["version"]:
        raise DataError(f"the defense in {folder} was saved by another version of '{told['name']}': fit it again")
    step = make(**told["params"])
    step.seed = key
    learnt = told["learnt"] | {name: arrays[f"{place}.{name}"] for name in told["arrays"]}
    for name, value in learnt.items():
        if not _is_learnt(name):
            raise DataError(f"{folder / _TOLD} can't be used: '{name}' is not something that a defense learns")
        setattr(step, name, value)
    return step
