"""FAISS index files: vectors with numbers for ids; the texts lie in a file beside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.collections.stores.base import PAGE, Description, Options, Rows, Store, StoreFacts, asking, installed
from unembed.encoders.base import DenseVectors
from unembed.errors import CannotMeasureError, UsageError
from unembed.files import check_file

_BINARY = b"IB"


class FaissStore(Store):
    """The vectors of an index, as it can give them back: exact for flat ones, near for quantised ones."""

    facts: ClassVar[StoreFacts] = StoreFacts("faiss", "FAISS", "faiss:notes.index", "faiss", "faiss", client=("faiss",))

    def __init__(self, index: Any, name: str, options: Options) -> None:
        if options.conditions or options.text or options.id or options.vectors:
            raise UsageError(
                "a FAISS index holds vectors alone: ?where=, ?text=, ?id= and ?vectors= have no effect on it"
            )
        self._faiss, self._index, self._name = installed(self.facts), index, name
        self._binary = isinstance(index, self._faiss.IndexBinary)

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """An index file, mapped into memory where FAISS can."""
        faiss, path = installed(cls.facts), Path(place).expanduser()
        check_file(path, "FAISS index")
        with path.open("rb") as file:
            binary = file.read(2) == _BINARY
        with asking(str(path), cls.facts):
            if binary:
                return cls(faiss.read_index_binary(str(path)), path.name, options)
            return cls(faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY), path.name, options)

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """An index."""
        return cls(client, name or "the index", options)

    @cached_property
    def _ids(self) -> NDArray[np.int64]:
        """The ids as the index knows them, else row numbers."""
        if hasattr(self._index, "id_map"):
            return np.asarray(self._faiss.vector_to_array(self._index.id_map), dtype=np.int64)
        inner = self._inverted
        if inner is None:
            return np.arange(self._index.ntotal, dtype=np.int64)
        lists = inner.invlists
        found = [np.zeros(0, dtype=np.int64)]
        for number in range(lists.nlist):
            size = lists.list_size(number)
            if size:
                found.append(self._faiss.rev_swig_ptr(lists.get_ids(number), size).copy())
        return np.sort(np.concatenate(found))

    @cached_property
    def _inverted(self) -> Any:
        """The lists of an inverted file, which keep ids of their own; None for other kinds."""
        if self._binary:
            return None
        found = self._faiss.try_extract_index_ivf(self._index)
        if found is not None:
            found.set_direct_map_type(self._faiss.DirectMap.Hashtable)
        return found

    def describe(self) -> Description:
        """From the index."""
        kind = type(
            self._faiss.downcast_IndexBinary(self._index) if self._binary else self._faiss.downcast_index(self._index)
        ).__name__
        metrics = {self._faiss.METRIC_INNER_PRODUCT: "inner product", self._faiss.METRIC_L2: "l2"}
        exact = self._binary or not any(word in kind for word in ("PQ", "Scalar", "LSH", "Residual"))
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=int(self._index.ntotal),
            dimension=int(self._index.d),
            metric="hamming" if self._binary else metrics.get(self._index.metric_type),
            dtype="bit" if self._binary else "float32" if exact else "quantised",
            id=None if np.array_equal(self._ids, np.arange(len(self._ids))) else "id",
            notes=(kind,) if exact else (kind, "vectors come back as the index approximates them"),
        )

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All vectors, in the order of the index or of the ids."""
        for start in range(0, len(self._ids), batch):
            some = self._ids[start : start + batch]
            places = np.arange(start, start + len(some))
            yield Rows([str(i) for i in some], {}, self._read(some, places) if vectors else None)

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Vectors by their ids."""
        place_of = self._place_of
        there = [i for i in ids if i in place_of]
        places = np.array([place_of[i] for i in there], dtype=np.int64)
        return Rows(there, {}, self._read(self._ids[places], places) if vectors else None)

    @cached_property
    def _place_of(self) -> dict[str, int]:
        return {str(i): place for place, i in enumerate(self._ids.tolist())}

    def _read(self, ids: NDArray[np.int64], places: NDArray[np.int64]) -> DenseVectors:
        inner = self._index.index if hasattr(self._index, "id_map") else self._index
        asked = ids if self._inverted is not None and inner is self._index else places
        width = self._index.d // 8 if self._binary else self._index.d
        made = np.zeros((len(asked), width), dtype=np.uint8 if self._binary else np.float32)
        try:
            for row, one in enumerate(asked.tolist()):
                made[row] = inner.reconstruct(one)
        except RuntimeError:
            raise CannotMeasureError(
                f"{self._name} can't give its vectors back: this kind of index keeps none"
            ) from None
        return np.unpackbits(made, axis=1).astype(np.float32) if self._binary else made
