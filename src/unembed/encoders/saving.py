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

_FORMAT = 1
_STATE = "encoder.json"


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
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array, allow_pickle=False)
        text = json.dumps({"format": _FORMAT, "encoder": kind, **state}, ensure_ascii=False)
        (folder / _STATE).write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(f"the encoder can't be saved to {folder}: {error.strerror}") from error


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
