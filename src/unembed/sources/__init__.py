"""Vectors that already exist, read-only: files, and the vector stores that plug-ins bring."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from unembed.registry import Registry
from unembed.sources.base import VectorBatch, VectorSource

__all__ = ["SOURCES", "VectorBatch", "VectorSource", "source_problem"]

_MEMBERS = ("name", "count", "dimension", "batches")


def source_problem(found: object) -> str | None:
    """What keeps an object from being a source class or a factory of sources; None if nothing does."""
    if inspect.isclass(found):
        missing = [m for m in _MEMBERS if not hasattr(found, m)]
        return f"the class has no {', '.join(missing)}" if missing else None
    return None if callable(found) else f"{type(found).__name__} is neither a class nor a function"


SOURCES: Registry[Callable[..., VectorSource]] = Registry(
    "source", {"file": "unembed.sources.files:FileSource"}, group="unembed.sources", check=source_problem
)
