"""What is under audit: texts with ids and columns, and vectors where some are stored; one file per kind of place.

Vector stores come as further openers, built in or from plug-ins, through ``unembed.collections``.
"""

from __future__ import annotations

from dataclasses import replace

from unembed.collections.base import Collection, Opener, Stored, Wanted, collection_of
from unembed.registry import Registry

__all__ = ["COLLECTIONS", "Collection", "Opener", "Stored", "Wanted", "collection_of", "open_collection"]

FILES = "files"

COLLECTIONS: Registry[Opener] = Registry(
    "collection",
    {FILES: "unembed.collections.files:open_files", "generator": "unembed.collections.generated:open_generated"},
    group="unembed.collections",
    check=lambda found: None if callable(found) else f"{type(found).__name__} is not a function",
)


def open_collection(wanted: Wanted) -> Collection:
    """What lies at a place: ``KIND:REST`` for a registered kind of collection, else files."""
    kind, colon, rest = wanted.place.partition(":")
    if colon and kind in COLLECTIONS and kind != FILES:
        return COLLECTIONS.get(kind)(replace(wanted, place=rest))
    return COLLECTIONS.get(FILES)(wanted)
