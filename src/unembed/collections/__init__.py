"""What is under audit: texts with ids and columns, and vectors where some are stored; one file per kind of place.

Vector stores are in ``stores``: ``open_store`` opens one by its URL, ``from_client`` reads a client's own object.
Further kinds come from plug-ins, through ``unembed.collections`` and ``unembed.stores``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from unembed.collections.base import Collection, Opener, Stored, Wanted, collection_of
from unembed.corpora.corpus import Corpus
from unembed.registry import Registry

__all__ = [
    "COLLECTIONS",
    "Collection",
    "Opener",
    "Stored",
    "Wanted",
    "collection_of",
    "from_client",
    "open_collection",
]

FILES = "files"

COLLECTIONS: Registry[Opener] = Registry(
    "collection",
    {FILES: "unembed.collections.files:open_files", "generator": "unembed.collections.generated:open_generated"},
    group="unembed.collections",
    check=lambda found: None if callable(found) else f"{type(found).__name__} is not a function",
)


def open_collection(wanted: Wanted) -> Collection:
    """What lies in a store, or at a place: ``KIND:REST`` for a registered kind of collection, else files."""
    if wanted.store is not None:
        from unembed.collections.stores.collecting import open_stored

        return open_stored(wanted)
    kind, colon, rest = wanted.place.partition(":")
    if colon and kind in COLLECTIONS and kind != FILES:
        return COLLECTIONS.get(kind)(replace(wanted, place=rest))
    return COLLECTIONS.get(FILES)(wanted)


def from_client(
    client: Any,
    name: str | None = None,
    *,
    text: str | None = None,
    columns: Sequence[str] = (),
    vectors: str | None = None,
    id: str | None = None,
    where: str | Sequence[str] = (),
    missing: str = "refuse",
    max_rows: int | None = 10_000,
    seed: int = 0,
    texts: Mapping[str, str] | None = None,
) -> Collection:
    """A collection from a store's own object: a Chroma collection, a Qdrant client, a connection, an index, an array …

    Args:
        client: the object; nothing is written to it.
        name: the collection or table, where the client knows several.
        text, vectors, id: columns, where they can't be found out.
        columns: further columns, to infer or to split by.
        where: conditions such as ``"topic=news"``.
        missing: ``refuse`` rows without a vector, or ``skip`` them.
        max_rows: the most rows, drawn evenly; None: all.
        seed: of the draw.
        texts: texts by id, for a store that holds none.
    """
    from unembed.collections.stores import store_of
    from unembed.collections.stores.collecting import collect

    beside = None
    if texts is not None:
        beside = Corpus(list(texts.values()), [str(one) for one in texts], {}, "texts")
    store = store_of(client, name, vectors=vectors, text=text, id=id, where=where, missing=missing)
    return collect(store, text=text, columns=columns, max_rows=max_rows, seed=seed, beside=beside)
