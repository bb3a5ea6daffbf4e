"""Files that hold vectors and nothing else (``.npy`` ``.npz`` ``.safetensors``): the texts lie in a file beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unembed.collections.stores.base import PAGE, Description, Options, Rows, Store, StoreFacts
from unembed.encoders.vector_files import VectorTable, open_vectors
from unembed.errors import UsageError


class VectorFileStore(Store):
    """Rows of a file of vectors, known by their numbers; memory-mapped where the format allows."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "npy", "a file of vectors (.npy, .npz, .safetensors)", "npy:vectors.npy", client=("numpy",)
    )

    def __init__(self, table: VectorTable, options: Options) -> None:
        if options.conditions or options.text or options.id not in (None, "row"):
            raise UsageError(f"{table.path} holds vectors alone: ?where=, ?text= and ?id= have no effect on it")
        self._table = table

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """The file; ``vectors`` names the array where there are several."""
        return cls(open_vectors(place, column=options.vectors), options)

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A NumPy array."""
        return cls(VectorTable(np.asarray(client), Path(name or "the array given")), options)

    def describe(self) -> Description:
        """From the header."""
        rows, dimension = self._table.shape
        kind = "bfloat16" if self._table.half_words else str(self._table.stored.dtype)
        return Description(self.facts.kind, self._table.path.name, rows, dimension, dtype=kind)

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """Pages of the file."""
        for start in range(0, len(self._table), batch):
            end = min(start + batch, len(self._table))
            yield Rows([str(n) for n in range(start, end)], {}, self._table[start:end] if vectors else None)

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Rows by their numbers."""
        there = [i for i in ids if i.isdecimal() and int(i) < len(self._table)]
        return Rows(there, {}, self._table[np.array([int(i) for i in there], dtype=np.intp)] if vectors else None)
