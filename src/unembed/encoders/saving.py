"""What encoders that learn from texts share, and how they lie on disk: one JSON file and ``.npy`` arrays, no pickle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Encoder, FittedEncoder
from unembed.errors import DataError, UsageError
from unembed.files import check_file, parsing, read_json
from unembed.params import Parametrised
from unembed.writing import write_atomically, written_aside

State: TypeAlias = dict[str, Any]
Arrays: TypeAlias = dict[str, NDArray[Any]]

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


class LearntEncoder(Parametrised):
    """An encoder that learns from texts, and can be saved afterwards.

    A family names its ``kind`` and the ``arrays`` it keeps, sets ``words_`` when it is fitted, and has ``_state`` and
    ``_restore``.
    """

    kind: ClassVar[str]
    arrays: ClassVar[tuple[str, ...]]

    @property
    def is_fitted(self) -> bool:
        """Whether texts were seen."""
        return hasattr(self, "words_")

    def save(self, folder: str | Path) -> None:
        """Write the fitted encoder: parameters and words as JSON, numbers as ``.npy``."""
        self._require_fitted()
        state, arrays = self._state(Path(folder))
        write_state(Path(folder), self.kind, {"parameters": self.get_params(), **state}, arrays)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """Read what ``save`` wrote."""
        state, arrays = read_state(Path(folder), cls.kind, cls.arrays)
        encoder = cls(**state["parameters"])
        encoder._restore(state, arrays, Path(folder))
        return encoder

    def _state(self, folder: Path) -> tuple[State, Arrays]:
        """What was learnt: plain data, and arrays under the names in ``arrays``."""
        raise NotImplementedError

    def _restore(self, state: State, arrays: Arrays, folder: Path) -> None:
        """Take over what ``_state`` gave; ``folder`` is for messages, and for what else was written there."""
        raise NotImplementedError

    def _require_fitted(self) -> None:
        if not self.is_fitted:
            raise UsageError(f"the {self.kind} encoder has seen no texts yet: call fit(texts) first")


def damaged(folder: Path) -> DataError:
    """What is said of a folder whose parts do not fit together."""
    return DataError(f"the encoder saved in {folder} is damaged: fit and save it again")


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


def read_state(folder: Path, kind: str, arrays: Sequence[str]) -> tuple[State, Arrays]:
    """The state and the arrays that ``write_state`` wrote for this kind of encoder."""
    path = folder / _STATE
    state = read_json(path, "saved encoder", limit=_MAX_STATE)
    if state.get("format") != _FORMAT or state.get("encoder") != kind:
        raise DataError(f"{path} is not a saved {kind} encoder of format {_FORMAT}")
    with parsing(str(damaged(folder))):
        return state, {name: _array(folder / f"{name}.npy") for name in arrays}


def _array(path: Path) -> NDArray[Any]:
    check_file(path, "array of the saved encoder")
    array: NDArray[Any] = np.load(path, allow_pickle=False)
    return array
