"""Qdrant: a collection behind a server, or in a folder of the client's local mode."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unembed.collections.stores.address import must_exist
from unembed.collections.stores.base import (
    PAGE,
    TELLING,
    Description,
    Options,
    Rows,
    Store,
    StoreFacts,
    asking,
    chosen_name,
    chosen_text,
    chosen_vectors,
    fields_of,
    installed,
    joined,
    pages_of,
    stacked,
)
from unembed.collections.stores.conditions import Condition, typed
from unembed.corpora.readers.fields import Field
from unembed.errors import CannotMeasureError, UsageError

#: How the one vector without a name is called here.
UNNAMED = "vector"
_RANGE = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}


class QdrantStore(Store):
    """One collection; its payload are the columns."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "qdrant",
        "Qdrant",
        "qdrant:http://localhost:6333/COLLECTION?text=body",
        "qdrant_client",
        "qdrant",
        "QDRANT_API_KEY",
        ("qdrant_client",),
    )

    def __init__(self, client: Any, place: str, name: str | None, options: Options, *, own: bool = False) -> None:
        self._client, self._own, self._options = client, own, options
        if options.id is not None:
            raise UsageError("the points of Qdrant have an id of their own: leave ?id= out")
        with asking(place, self.facts):
            known = [one.name for one in client.get_collections().collections]
            self._name = chosen_name(known, name, "collection", place, self.facts.kind)
            params = client.get_collection(self._name).config.params
        single = hasattr(params.vectors, "size")
        vectors = {UNNAMED: params.vectors} if single else dict(params.vectors or {})
        if not vectors:
            raise CannotMeasureError(f"{self._name} holds no dense vectors, and sparse ones are not measured")
        self._vectors = chosen_vectors(list(vectors), options, self._name)
        self._params, self._single = vectors[self._vectors], single

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """A collection of a server or of a folder."""
        made = installed(cls.facts).QdrantClient
        if "://" in place:
            key = os.environ.get(cls.facts.secret or "") or None
            with asking(place, cls.facts):
                client = made(url=place, api_key=key, timeout=max(1, round(options.timeout)), check_compatibility=False)
        else:
            path = must_exist(place, cls.facts, "meta.json")
            with asking(str(path), cls.facts):
                client = made(path=str(path))
        try:
            return cls(client, place, name, options, own=True)
        except BaseException:
            client.close()
            raise

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A collection of a ``QdrantClient``."""
        return cls(client, "the client", name, options)

    @cached_property
    def _fields(self) -> tuple[Field, ...]:
        with asking(self._name, self.facts):
            some, _ = self._client.scroll(self._name, limit=TELLING, with_payload=True, with_vectors=False)
        return fields_of([one.payload or {} for one in some])

    @cached_property
    def _filter(self) -> Any:
        conditions = typed(self._options.conditions, self._fields, self._name)
        if not conditions:
            return None
        models = installed(self.facts).models

        def one(c: Condition) -> Any:
            if c.compare in _RANGE:
                return models.FieldCondition(key=c.column, range=models.Range(**{_RANGE[c.compare]: c.value}))
            if isinstance(c.value, float):
                return models.FieldCondition(key=c.column, range=models.Range(gte=c.value, lte=c.value))
            return models.FieldCondition(key=c.column, match=models.MatchValue(value=c.value))

        out = [one(c) for c in conditions if c.compare == "!="]
        # A point without a value meets "not equal" in Qdrant; here it meets nothing.
        out += [
            models.IsEmptyCondition(is_empty=models.PayloadField(key=c.column)) for c in conditions if c.compare == "!="
        ]
        return models.Filter(must=[one(c) for c in conditions if c.compare != "!="], must_not=out)

    def describe(self) -> Description:
        """From the configuration; columns from the first points, because payloads have no schema."""
        with asking(self._name, self.facts):
            count = int(self._client.count(self._name, count_filter=self._filter, exact=True).count)
        kind = getattr(self._params, "datatype", None)
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=count,
            dimension=int(self._params.size),
            metric=str(getattr(self._params.distance, "value", self._params.distance)).lower(),
            dtype=str(getattr(kind, "value", kind) or "float32"),
            vectors=self._vectors,
            id="id",
            text=chosen_text(self._fields, self._options, self._name),
            columns=self._fields,
        )

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All points, page by page."""
        next_page = None
        while True:
            with asking(self._name, self.facts):
                points, next_page = self._client.scroll(
                    self._name,
                    scroll_filter=self._filter,
                    limit=batch,
                    offset=next_page,
                    with_payload=list(columns) or False,
                    with_vectors=self._wanted(vectors),
                )
            if points:
                yield self._rows(points, columns, vectors)
            if next_page is None:
                return

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Points by their ids."""
        parts = []
        for some in pages_of(ids, 500):
            with asking(self._name, self.facts):
                points = self._client.retrieve(
                    self._name,
                    ids=[int(i) if i.isdecimal() else i for i in some],
                    with_payload=list(columns) or False,
                    with_vectors=self._wanted(vectors),
                )
            parts.append(self._rows(points, columns, vectors))
        return joined(parts, columns) if parts else Rows([], {name: [] for name in columns})

    def close(self) -> None:
        """Close a client that was opened here."""
        if self._own:
            self._client.close()

    def _wanted(self, vectors: bool) -> bool | list[str]:
        return vectors if self._single or not vectors else [self._vectors]

    def _rows(self, points: Sequence[Any], columns: Sequence[str], vectors: bool) -> Rows:
        held = {name: [(point.payload or {}).get(name) for point in points] for name in columns}
        ids = [str(point.id) for point in points]
        if not vectors:
            return Rows(ids, held)
        found = [p.vector if self._single else (p.vector or {}).get(self._vectors) for p in points]
        return Rows(ids, held, *stacked([None if v is None else np.asarray(v, np.float32) for v in found], self._name))
