"""Chroma: a collection in a folder or behind a server."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar
from urllib.parse import urlsplit

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
    fields_of,
    installed,
    joined,
    pages_of,
    stacked,
)
from unembed.collections.stores.conditions import Condition, holds, typed
from unembed.corpora.readers.fields import Field
from unembed.errors import UsageError

#: What Chroma calls the text of a record, and what it is called here where the metadata have a key of that name.
DOCUMENT, DOCUMENTS = "document", "documents"
_OPERATORS = {"=": "$eq", "!=": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}


class ChromaStore(Store):
    """One collection; its documents are the column ``document``, its metadata are the others.

    Where the metadata have a key ``document`` (often the id of the file that a chunk is of), that is the column of the
    name, and the texts are ``documents``: splitting by the texts themselves would keep nothing together.
    """

    facts: ClassVar[StoreFacts] = StoreFacts(
        "chroma", "Chroma", "chroma:./chroma/COLLECTION", "chromadb", "chroma", "CHROMA_TOKEN", ("chromadb",)
    )

    def __init__(self, collection: Any, options: Options) -> None:
        if options.vectors is not None or options.id is not None:
            raise UsageError("a Chroma collection has one vector and one id per record: leave ?vectors= and ?id= out")
        self._collection, self._options, self._name = collection, options, str(collection.name)

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """A collection of a folder, or of a server at ``http://host:port``."""
        chromadb = installed(cls.facts)
        from chromadb.config import Settings

        settings = Settings(anonymized_telemetry=False)
        if "://" in place:
            parts, token = urlsplit(place), os.environ.get(cls.facts.secret or "")
            headers = {"Authorization": f"Bearer {token}", "x-chroma-token": token} if token else {}
            secure = parts.scheme == "https"
            with asking(place, cls.facts):
                client = chromadb.HttpClient(
                    str(parts.hostname), parts.port or (443 if secure else 8000), secure, headers, settings
                )
        else:
            path = must_exist(place, cls.facts, "chroma.sqlite3")
            with asking(str(path), cls.facts):
                try:
                    client = chromadb.PersistentClient(str(path), settings)
                except ValueError:  # Chroma opens a folder once per process, with one set of settings
                    raise UsageError(
                        f"{path} is open in this process with other settings: give the collection itself, or open it "
                        "with chromadb.Settings(anonymized_telemetry=False) too"
                    ) from None
        return cls._named(client, name, place, options)

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A collection, or a collection of a client."""
        return (
            cls._named(client, name, "the client", options)
            if hasattr(client, "get_collection")
            else cls(client, options)
        )

    @classmethod
    def _named(cls, client: Any, name: str | None, place: str, options: Options) -> Store:
        with asking(place, cls.facts):
            known = [str(getattr(one, "name", one)) for one in client.list_collections()]
            found = chosen_name(known, name, "collection", place, cls.facts.kind)
            return cls(client.get_collection(found, embedding_function=None), options)

    @cached_property
    def _first(self) -> Any:
        with asking(self._name, self.facts):
            return self._collection.get(limit=TELLING, include=["metadatas", "documents"])

    @cached_property
    def _text(self) -> str:
        return DOCUMENTS if any(DOCUMENT in (one or {}) for one in self._first["metadatas"] or ()) else DOCUMENT

    @cached_property
    def _fields(self) -> tuple[Field, ...]:
        texts = any(document is not None for document in self._first["documents"] or ())
        held = fields_of([dict(one) for one in self._first["metadatas"] or () if one])
        return (*([Field(self._text, True)] if texts else []), *(one for one in held if one.name != self._text))

    @cached_property
    def _text_column(self) -> str | None:
        if self._options.text is None and any(one.name == self._text for one in self._fields):
            return self._text
        return chosen_text(self._fields, self._options, self._name)

    @cached_property
    def _conditions(self) -> tuple[Condition, ...]:
        if any(c.column == self._text for c in self._options.conditions):
            raise UsageError("Chroma compares metadata, not documents: name another column in ?where=")
        return typed(self._options.conditions, self._fields, self._name)

    def describe(self) -> Description:
        """Counts, and the columns of the first records: Chroma keeps no schema."""
        with asking(self._name, self.facts):
            first = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
            count = self._collection.count() if not self._conditions else sum(map(len, self.scan(vectors=False)))
            space = (self._collection.metadata or {}).get("hnsw:space")
            told = getattr(self._collection, "configuration", None) or {}
            for part in ("hnsw", "spann"):
                space = space or ((told.get(part) or {}).get("space") if isinstance(told, dict) else None)
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=count,
            dimension=len(first[0]) if first is not None and len(first) else None,
            metric=space or "l2",
            vectors="embedding",
            id="id",
            text=self._text_column,
            columns=self._fields,
        )

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All records, by offset."""
        start, where = 0, _filter(self._conditions)
        while True:
            page, met = self._page(columns, vectors, limit=batch, offset=start, where=where)
            if not met:
                return
            if len(page):
                yield page
            start += met

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Records by their ids."""
        parts = [self._page(columns, vectors, ids=some)[0] for some in pages_of(ids, 500)]
        return joined(parts, columns) if parts else Rows([], {name: [] for name in columns})

    def _page(self, columns: Sequence[str], vectors: bool, **asked: Any) -> tuple[Rows, int]:
        described = self._conditions or any(name != self._text for name in columns)
        include = [
            *(["embeddings"] if vectors else []),
            *(["documents"] if self._text in columns else []),
            *(["metadatas"] if described else []),
        ]
        with asking(self._name, self.facts):
            found = self._collection.get(include=include, **asked)
        ids = list(found["ids"])
        about = [one or {} for one in found["metadatas"]] if described else []
        # Chroma's "not equal" is met by records without the key as well.
        keep = (
            [n for n in range(len(ids)) if holds(self._conditions, about[n])] if self._conditions else range(len(ids))
        )
        held = {
            name: [found["documents"][n] if name == self._text else about[n].get(name) for n in keep]
            for name in columns
        }
        kept = [ids[n] for n in keep]
        if not vectors:
            return Rows(kept, held), len(ids)
        return Rows(kept, held, *stacked([found["embeddings"][n] for n in keep], self._name)), len(ids)


def _filter(conditions: Sequence[Condition]) -> dict[str, Any] | None:
    parts = [{c.column: {_OPERATORS[c.compare]: c.value}} for c in conditions]
    return None if not parts else parts[0] if len(parts) == 1 else {"$and": parts}
