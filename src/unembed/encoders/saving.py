"""Fitted encoders on disk: one JSON file and ``.npy`` arrays, never pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Encoder, FittedEncoder
from unembed.errors import DataError
from unembed.files import check_file, parsing, read_json
from unembed.writing import write_atomically, written_aside

_FORMAT = 1
_STATE = "encoder.json"
#: It holds the vocabulary, which may have millions of words.
_MAX_STATE = 512 << 20


class SavedEncoder(FittedEncoder, Protocol):
    """A fitted encoder that need not see its texts again."""

    def save(self, folder: Path) -> None:
        """Write the fitted encoder into a folder, without pickle."""
        ...

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read what ``save`` wrote."""
        ...


def can_be_saved(encoder: Encoder) -> TypeGuard[SavedEncoder]:
    """Whether an encoder can be fitted, saved and loaded; asks its class alone, since a card may need texts."""
    return all(callable(getattr(type(encoder), method, None)) for method in ("fit", "save", "load"))


def write_state(folder: Path, kind: str, state: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write the arrays, then the JSON that makes the folder complete."""
    for name, array in arrays.items():
        with written_aside(folder / f"{name}.npy") as file:
            np.save(file, array, allow_pickle=False)
    text = json.dumps({"format": _FORMAT, "encoder": kind, **state}, ensure_ascii=False)
    write_atomically(folder / _STATE, text)


def read_state(folder: Path, kind: str, arrays: Sequence[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The state and the arrays that ``write_state`` wrote for this kind of encoder."""
    path = folder / _STATE
    state = read_json(path, "saved encoder", limit=_MAX_STATE)
    if state.get("format") != _FORMAT or state.get("encoder") != kind:
        raise DataError(f"{path} is not a saved {kind} encoder of format {_FORMAT}")
    with parsing(f"the encoder saved in {folder} is damaged: fit and save it again"):
        return state, {name: _array(folder / f"{name}.npy") for name in arrays}


def _array(path: Path) -> NDArray[Any]:
    check_file(path, "array of the saved encoder")
    array: NDArray[Any] = np.load(path, allow_pickle=False)
    return array
