"""Encoders and collections by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unembed.api.objects import ready_encoder
from unembed.collections import Collection, Wanted, from_client
from unembed.collections import open_collection as _open
from unembed.collections.stores import is_address
from unembed.encoders import Encoder
from unembed.errors import UsageError


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
    place: Any,
    *,
    name: str | None = None,
    column: str | None = None,
    columns: Sequence[str] = (),
    ids: str | None = None,
    vectors: str | None = None,
    vectors_column: str | None = None,
    rows: int | None = None,
    seed: int = 0,
    allow_remote: bool = False,
) -> Collection:
    """Texts with ids, columns and stored vectors, from a file, a generator or a store; read once, never written.

    ``collection.corpus`` has ``texts``, ``ids`` and ``columns``.

    Args:
        place: A file, a folder, ``generator:NAME``, or ``KIND:PLACE`` for another registered kind; the address of a
            vector store (``"chroma:./chroma/notes"``), or its client's own object.
        name: The collection or table, for a client that knows several.
        column: The column of texts; an obvious one is found.
        columns: Further columns to read.
        ids: The column of ids.
        vectors: A file of vectors, one per row.
        vectors_column: The column or array in it.
        rows: At most so many, drawn evenly.
        seed: Of that sample.
        allow_remote: Whether a store on another machine may be asked.
    """
    if not isinstance(place, str | Path):
        return from_client(
            place, name, text=column, columns=columns, vectors=vectors_column, id=ids, max_rows=rows, seed=seed
        )
    if name is not None:
        raise UsageError("name goes with a client's object: an address ends with it, KIND:PLACE/NAME")
    stored = str(place) if is_address(str(place)) else None
    if stored is not None and vectors is not None:
        raise UsageError("the vectors are those of the store: leave vectors out")
    wanted = Wanted(
        place="" if stored else str(place),
        column=column,
        columns=tuple(columns),
        id=ids,
        vectors=vectors,
        vectors_column=vectors_column,
        max_rows=rows,
        seed=seed,
        store=stored,
        allow_remote=allow_remote,
    )
    return _open(wanted)
