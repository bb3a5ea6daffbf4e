"""Fitted encoders on disk: one JSON file and ``.npy`` arrays, never pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.errors import DataError
from unembed.writing import write_atomically, written_aside

_FORMAT = 1
_STATE = "encoder.json"


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
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
        loaded = {name: np.load(folder / f"{name}.npy", allow_pickle=False) for name in arrays}
    except OSError as error:
        raise DataError(f"no saved encoder in {folder}: {error.strerror} ({error.filename})") from None
    except (ValueError, EOFError):
        raise DataError(f"the encoder saved in {folder} is damaged: fit and save it again") from None
    if not isinstance(state, dict) or state.get("format") != _FORMAT or state.get("encoder") != kind:
        raise DataError(f"{path} is not a saved {kind} encoder of format {_FORMAT}")
    return state, loaded
