"""A defense that was fitted before and lies in a folder: what is in production, audited as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol, Self, runtime_checkable

from unembed.defenses.base import DefenseFacts, Owned
from unembed.defenses.chain import Chain
from unembed.defenses.saving import defense_digest, load_chain
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.params import Parametrised


@runtime_checkable
class Holding(Protocol):
    """A defense that is others, fitted before."""

    def held(self) -> tuple[Chain, str]:
        """The steps with what they have learnt, and a digest of it."""
        ...


class Saved(Parametrised):
    """The defense in ``folder``, with its key; nothing is learnt again."""

    facts: ClassVar[DefenseFacts] = DefenseFacts(name="saved", title="A defense from a folder")

    folder: str = ""
    seed: int = 0

    def held(self) -> tuple[Chain, str]:
        """What the folder holds."""
        if not self.folder:
            raise UsageError("the defense 'saved' needs its folder: saved,folder=PATH")
        return load_chain(Path(self.folder)), defense_digest(Path(self.folder))

    def fit(self, vectors: Vectors, owned: Owned | None = None) -> Self:
        """Nothing: it has learnt before."""
        return self

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """What is stored for these records."""
        return self.held()[0].transform(vectors, ids)
