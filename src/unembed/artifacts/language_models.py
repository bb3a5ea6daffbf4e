"""Language models as artifacts: one is trained once on the same sequences, however often the work is begun again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unembed.artifacts.base import Json

if TYPE_CHECKING:
    from unembed.nn.language_model import LanguageModel, Tokens


@dataclass(frozen=True)
class LanguageModelRecipe:
    """A model with its parameters, and the sequences that it learns from."""

    model: LanguageModel
    sequences: Sequence[Tokens]

    @property
    def identity(self) -> Mapping[str, Json]:
        """The parameters, and the sequences by their digest."""
        return {**self.model.identity, "sequences": self._learnt}

    @cached_property
    def _learnt(self) -> str:
        whole = hashlib.sha256()
        for sequence in self.sequences:
            whole.update(np.asarray([len(sequence), *sequence], dtype=np.int64).tobytes())
        return whole.hexdigest()

    def make(self, place: Path) -> LanguageModel:
        """Train; nothing is kept on the way."""
        return self._new().fit(self.sequences)

    def save(self, made: LanguageModel, place: Path) -> None:
        """The weights."""
        made.save(place)

    def load(self, place: Path) -> LanguageModel:
        """As it was saved."""
        return self._new().load(place)

    def _new(self) -> LanguageModel:
        return type(self.model)(**self.model.get_params())
