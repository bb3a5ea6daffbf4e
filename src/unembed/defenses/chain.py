"""Several transforms, one behind the other: what stands between an encoder and a store."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

import numpy as np
from scipy.sparse import csr_matrix, issparse, vstack

from unembed.defenses.base import CleansTexts, Defense, Invertible, Owned, Sized, with_key
from unembed.encoders.base import Vectors
from unembed.errors import UsageError
from unembed.seeds import seed_for

#: Vectors and the ids of their records in, as many vectors out.
Transform = Callable[[Vectors, Sequence[str]], Vectors]


class Chain:
    """Each step learns from what the steps before it make of the owner's vectors, and has a key of its own.

    ``names`` are what the registry finds the steps by, where those are not the names they call themselves.
    """

    def __init__(self, steps: Sequence[Defense], names: Sequence[str] = ()) -> None:
        self.steps = list(steps)
        self.names = list(names) or [step.facts.name for step in self.steps]

    def fit(
        self,
        vectors: Vectors,
        key: int,
        owned: Owned | None = None,
        ids: Sequence[str] | None = None,
        done: Container[int] = (),
    ) -> Chain:
        """Learn from all vectors the owner holds, and from what they were made of: texts that are clean already.

        Steps whose place is in ``done`` have learnt before and keep their keys.
        """
        self.cleaners()
        names = [str(row) for row in range(int(vectors.shape[0]))] if ids is None else ids
        for place, step in enumerate(self.steps):
            if place not in done:
                step.seed = _key_of(step, place, key)
                step.fit(vectors, owned)
            if place + 1 < len(self.steps):
                vectors = step.transform(vectors, names)
                owned = None if owned is None else owned.behind(step.transform)
        return self

    def with_key(self, key: int) -> Chain:
        """What was learnt, under another key: what an adversary holds who knows everything but the owner's."""
        return Chain([with_key(step, _key_of(step, place, key)) for place, step in enumerate(self.steps)], self.names)

    def cleaners(self) -> list[CleansTexts]:
        """The steps that change texts, which must be the first: behind another step there are no texts any more."""
        kinds = [isinstance(step, CleansTexts) for step in self.steps]
        leading = kinds.index(False) if False in kinds else len(kinds)
        if any(kinds[leading:]):
            late = self.steps[kinds.index(True, leading)]
            raise UsageError(f"the defense '{late.facts.name}' changes texts: it must come before those on vectors")
        return [step for step in self.steps[:leading] if isinstance(step, CleansTexts)]

    def clean(self, texts: Sequence[str]) -> list[str]:
        """The texts as they are to be encoded."""
        cleaned = list(texts)
        for step in self.cleaners():
            cleaned = step.clean(cleaned)
        return cleaned

    def transform(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """What is stored for these records."""
        for step in self.steps:
            vectors = step.transform(vectors, ids)
        return vectors

    def before_map(self) -> Chain:
        """The steps before the first that hides a map: what is left of it for somebody without its key."""
        hidden = (place for place, step in enumerate(self.steps) if step.facts.keyed == "map")
        end = next(hidden, len(self.steps))
        return Chain(self.steps[:end], self.names[:end])

    def inverse(self, vectors: Vectors, ids: Sequence[str]) -> Vectors:
        """What the owner can get back."""
        for step in reversed(self.steps):
            if not isinstance(step, Invertible):
                raise UsageError(f"the defense '{step.facts.name}' can't be undone")
            vectors = step.inverse(vectors, ids)
        return vectors

    def stored_bytes(self, dimension: int) -> float:
        """Bytes of one stored vector."""
        size = 4.0 * dimension
        for step in self.steps:
            if isinstance(step, Sized):
                size, dimension = step.stored_bytes(dimension), step.stored_dimension(dimension)
        return size

    def stored_dimension(self, dimension: int) -> int:
        """Numbers in one stored vector."""
        for step in self.steps:
            if isinstance(step, Sized):
                dimension = step.stored_dimension(dimension)
        return dimension

    @property
    def notes(self) -> list[str]:
        """What its steps learnt that the owner must know, such as an estimated sensitivity."""
        return [note for step in self.steps for note in getattr(step, "notes_", [])]

    @property
    def draws_noise(self) -> bool:
        """Whether records get noise of their own, so that another key gives other vectors."""
        return any(step.facts.keyed == "noise" for step in self.steps)

    @property
    def hides_map(self) -> bool:
        """Whether one secret map is applied to all vectors."""
        return any(step.facts.keyed == "map" for step in self.steps)


def _key_of(step: Defense, place: int, key: int) -> int:
    return seed_for(key, step.facts.name, place)


def unchanged(vectors: Vectors, ids: Sequence[str]) -> Vectors:
    """No defense."""
    return vectors


def stacked(first: Vectors, second: Vectors) -> Vectors:
    """Two collections of vectors, one below the other."""
    if issparse(first) or issparse(second):
        return csr_matrix(vstack([first, second]))
    return np.concatenate([np.asarray(first), np.asarray(second)])
