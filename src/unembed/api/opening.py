"""Encoders and collections by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unembed.api.objects import ready_encoder
from unembed.collections import Collection, Wanted
from unembed.collections import open_collection as _open
from unembed.encoders import Encoder


def encoder(name: Any, *, fit: Sequence[str] | None = None, **options: Any) -> Encoder:
    """An encoder, ready to encode: ``unembed.encoder("minilm").encode(texts)``.

    Args:
        name: A registered name, ``name:value`` (``"transformer:bert-base-uncased"``), ``path/to/file.py:Class``, a
            function of texts, or any object with ``encode``.
        fit: Texts to learn from, for encoders that must (tf-idf, LSA, Doc2Vec).
        options: Options of the encoder.
    """
    return ready_encoder(name, options, fit)


def open_collection(
    place: str,
    *,
    column: str | None = None,
    columns: Sequence[str] = (),
    ids: str | None = None,
    vectors: str | None = None,
    vectors_column: str | None = None,
    rows: int | None = None,
    seed: int = 0,
) -> Collection:
    """Texts with ids, columns and stored vectors, from a file, a generator or a store; read once, never written.

    ``collection.corpus`` has ``texts``, ``ids`` and ``columns``.

    Args:
        place: A file, a folder, ``generator:NAME``, or ``KIND:PLACE`` for another registered kind.
        column: The column of texts; an obvious one is found.
        columns: Further columns to read.
        ids: The column of ids.
        vectors: A file of vectors, one per row.
        vectors_column: The column or array in it.
        rows: At most so many, drawn evenly.
        seed: Of that sample.
    """
    wanted = Wanted(
        place=str(place),
        column=column,
        columns=tuple(columns),
        id=ids,
        vectors=vectors,
        vectors_column=vectors_column,
        max_rows=rows,
        seed=seed,
    )
    return _open(wanted)
