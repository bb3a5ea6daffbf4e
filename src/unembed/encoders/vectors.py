"""Vectors computed elsewhere, aligned with texts by row: the target of an audit without its encoder."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import DenseVectors, EncoderCard
from unembed.encoders.callables import checked_vectors
from unembed.encoders.vector_files import VectorTable, open_vectors
from unembed.errors import CannotMeasureError, DataError, UsageError
from unembed.params import Parametrised

#: Two vectors of one text count as the same up to this relative distance (stores round, APIs jitter).
_SAME = 1e-2


class VectorsEncoder(Parametrised):
    """Answers with stored vectors; a text it has no vector for can't be encoded.

    ``fit(texts)`` states which texts the rows belong to: as many, in the same order. A text that occurs
    several times must have the same vector each time, because otherwise a text does not determine its
    vector; then only ``vectors_for_rows`` can serve them.

    Args:
        vectors: a file (see ``vector_files``) or an array [n, d].
        column: the column, key or array in the file.
        name: shown in reports, e.g. the model that made them.
    """

    shorthand: ClassVar[str] = "vectors"

    vectors: Any = field(kw_only=False)
    column: str | None = None
    name: str | None = None

    @property
    def is_fitted(self) -> bool:
        """Whether the rows' texts are known."""
        return hasattr(self, "row_of_")

    @cached_property
    def card(self) -> EncoderCard:
        """What is known of the vectors; whether all have unit norm is found by reading them once."""
        named = self.name or (Path(self.vectors).name if isinstance(self.vectors, str | Path) else "array")
        norms = [np.abs(np.linalg.norm(part, axis=1) - 1).max() < 1e-2 for part in self._table.batches()]
        return EncoderCard(
            name=f"vectors:{named}",
            family="vectors",
            digest=_array_digest(self._table) if self._in_memory else self._table.digest,
            dimension=self._table.shape[1],
            normalised=all(norms),
            options=(("column", self.column),) if self.column else (),
        )

    def fit(self, texts: Sequence[str]) -> VectorsEncoder:
        """Take note of the rows' texts."""
        if len(texts) != len(self._table):
            raise DataError(
                f"{self._table.path} has {len(self._table)} vectors for {len(texts)} texts: "
                "there must be one vector per text, in the same order"
            )
        row_of: dict[str, int] = {}
        firsts, seconds = [], []
        for row, text in enumerate(texts):
            first = row_of.setdefault(text, row)
            if first != row:
                firsts.append(first)
                seconds.append(row)
        self._check_repeated(np.array(firsts, dtype=np.intp), np.array(seconds, dtype=np.intp))
        self.row_of_ = row_of
        return self

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """The stored vectors of texts that are known."""
        if not self.is_fitted:
            raise UsageError("the texts of these vectors are not known yet: call fit(texts) with one text per row")
        rows = [self.row_of_.get(text, -1) for text in texts]
        unknown = rows.count(-1)
        if unknown:
            raise CannotMeasureError(
                f"{unknown} of {len(texts)} texts have no vector, first the one at row {rows.index(-1)}: "
                "these vectors come without the encoder, so new texts can't be encoded"
            )
        return self.vectors_for_rows(rows)

    def vectors_for_rows(self, rows: Sequence[int] | NDArray[np.intp] | slice) -> DenseVectors:
        """Stored vectors by row number, texts known or not."""
        if isinstance(rows, slice):
            return self._table[rows]
        wanted = np.asarray(rows, dtype=np.intp)
        if not len(wanted):
            return np.empty((0, self._table.shape[1]), dtype=np.float32)
        if wanted.min() < 0 or wanted.max() >= len(self._table):
            raise UsageError(f"rows go from 0 to {len(self._table) - 1}")
        return self._table[wanted]

    def vectors_for(self, ids: Sequence[str]) -> DenseVectors:
        """Stored vectors by the ids of their texts, which are row numbers."""
        return self.vectors_for_rows([int(i) for i in ids])

    def __len__(self) -> int:
        return len(self._table)

    @property
    def _in_memory(self) -> bool:
        return not isinstance(self.vectors, str | Path)

    @cached_property
    def _table(self) -> VectorTable:
        if not self._in_memory:
            return open_vectors(self.vectors, column=self.column)
        if self.column is not None:
            raise UsageError("'column' goes with a file of vectors, not with an array")
        try:
            count = len(self.vectors)
        except TypeError:
            raise UsageError(f"{type(self.vectors).__name__} is neither a file nor an array of vectors") from None
        return VectorTable(checked_vectors(self.vectors, count, "the array given"), Path("the array given"))

    def _check_repeated(self, firsts: NDArray[np.intp], seconds: NDArray[np.intp]) -> None:
        for start in range(0, len(firsts), 8192):
            one = self._table[firsts[start : start + 8192]]
            other = self._table[seconds[start : start + 8192]]
            apart = np.linalg.norm(one - other, axis=1) > _SAME * np.linalg.norm(one, axis=1)
            if apart.any():
                at = start + int(apart.argmax())
                raise DataError(
                    f"{self._table.path}: rows {firsts[at]} and {seconds[at]} are the same text with "
                    "different vectors; leave one out"
                )


def _array_digest(table: VectorTable) -> str:
    total = hashlib.sha256(str(table.shape).encode())
    for part in table.batches():
        total.update(part.tobytes())
    return total.hexdigest()
