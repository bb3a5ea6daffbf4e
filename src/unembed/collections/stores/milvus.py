"""Milvus: a collection behind a server, or in a file of Milvus Lite."""

from __future__ import annotations

import logging
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
    unpacked_bits,
)
from unembed.collections.stores.conditions import as_literal_sql, typed
from unembed.corpora.readers.fields import Field
from unembed.errors import DataError, UsageError

#: Milvus' types of vectors, and how their numbers lie there.
_VECTORS = {
    "FLOAT_VECTOR": "float32",
    "FLOAT16_VECTOR": "float16",
    "BFLOAT16_VECTOR": "bfloat16",
    "BINARY_VECTOR": "bit",
    "INT8_VECTOR": "int8",
}


class MilvusStore(Store):
    """One collection; its scalar fields, dynamic ones included, are the columns."""

    facts: ClassVar[StoreFacts] = StoreFacts(
        "milvus",
        "Milvus",
        "milvus:./milvus.db/COLLECTION?text=body",
        "pymilvus",
        "milvus",
        "MILVUS_TOKEN",
        ("pymilvus",),
    )

    def __init__(self, client: Any, place: str, name: str | None, options: Options, *, own: bool = False) -> None:
        self._client, self._own, self._options = client, own, options
        with asking(place, self.facts):
            known = [str(one) for one in client.list_collections()]
            self._name = chosen_name(known, name, "collection", place, self.facts.kind)
            told = client.describe_collection(self._name)["fields"]
            if own and "://" not in place:
                client.load_collection(self._name)
        kinds = {str(one["name"]): getattr(one["type"], "name", str(one["type"])) for one in told}
        vectors = [name for name, kind in kinds.items() if kind in _VECTORS]
        self._vectors = chosen_vectors(vectors, options, self._name)
        self._dtype = _VECTORS[kinds[self._vectors]]
        self._dimension = int(next(one["params"]["dim"] for one in told if one["name"] == self._vectors))
        self._id = next(str(one["name"]) for one in told if one.get("is_primary"))
        if options.id not in (None, self._id):
            raise UsageError(f"the records of {self._name} are known by '{self._id}': leave ?id= out")
        self._text_ids = kinds[self._id] == "VARCHAR"
        self._but = {self._id, *(n for n, kind in kinds.items() if "VECTOR" in kind)}

    @classmethod
    def at(cls, place: str, name: str | None, options: Options) -> Store:
        """A collection of a server or of a file."""
        made = installed(cls.facts).MilvusClient
        for noisy in (
            "pymilvus",
            "milvus_lite",
        ):  # they tell of what they overcome, and of what is said here in one line
            logging.getLogger(noisy).setLevel(logging.CRITICAL + 1)
        where = place if "://" in place else str(must_exist(place, cls.facts))
        with asking(where, cls.facts):
            try:
                client = made(uri=where, token=os.environ.get(cls.facts.secret or "", ""), timeout=options.timeout)
            except Exception as error:
                if "open local milvus failed" not in str(error).lower():
                    raise
                raise DataError(
                    f"{where} can't be opened: another process holds it (end that, or read a copy), or Milvus Lite "
                    "did not make it"
                ) from error
        try:
            return cls(client, where, name, options, own=True)
        except BaseException:
            client.close()
            raise

    @classmethod
    def of(cls, client: Any, name: str | None, options: Options) -> Store:
        """A collection of a ``MilvusClient``."""
        return cls(client, "the client", name, options)

    @cached_property
    def _fields(self) -> tuple[Field, ...]:
        with asking(self._name, self.facts):
            some = self._client.query(self._name, filter="", limit=TELLING, output_fields=["*"])
        return fields_of([{k: v for k, v in dict(one).items() if k not in self._but} for one in some])

    @cached_property
    def _filter(self) -> str:
        conditions = typed(self._options.conditions, self._fields, self._name)
        # Milvus escapes with a backslash, and a value that holds one can't be told from an escape.
        if any("\\" in str(c.value) or "'" in str(c.value) for c in conditions):
            raise UsageError("Milvus compares with values that hold neither quotes nor backslashes")
        return as_literal_sql(conditions, str, equal="==").replace(" AND ", " and ")

    def describe(self) -> Description:
        """From the schema; columns from the first records, because some are dynamic."""
        with asking(self._name, self.facts):
            asked = self._client.query(self._name, filter=self._filter, output_fields=["count(*)"])
            metrics = [self._client.describe_index(self._name, one) for one in self._client.list_indexes(self._name)]
        metric = next((m.get("metric_type") for m in metrics if m and m.get("field_name") == self._vectors), None)
        return Description(
            kind=self.facts.kind,
            name=self._name,
            count=int(asked[0]["count(*)"]),
            dimension=self._dimension,
            metric=str(metric).lower() if metric else None,
            dtype=self._dtype,
            vectors=self._vectors,
            id=self._id,
            text=chosen_text(self._fields, self._options, self._name),
            columns=self._fields,
        )

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All records, through Milvus' own iterator."""
        with asking(self._name, self.facts):
            pages = self._client.query_iterator(
                self._name,
                batch_size=min(batch, 1000),
                filter=self._filter,
                output_fields=self._wanted(columns, vectors),
            )
        try:
            while True:
                with asking(self._name, self.facts):
                    page = pages.next()
                if not page:
                    return
                yield self._rows(page, columns, vectors)
        finally:
            pages.close()

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Records by their ids."""
        parts = []
        for some in pages_of(ids, 500):
            asked = some if self._text_ids else [int(i) for i in some]
            with asking(self._name, self.facts):
                found = self._client.get(self._name, ids=asked, output_fields=self._wanted(columns, vectors))
            parts.append(self._rows(found, columns, vectors))
        return joined(parts, columns) if parts else Rows([], {name: [] for name in columns})

    def close(self) -> None:
        """Close a client that was opened here."""
        if self._own:
            self._client.close()

    def _wanted(self, columns: Sequence[str], vectors: bool) -> list[str]:
        return [self._id, *columns, *([self._vectors] if vectors else [])]

    def _rows(self, page: Sequence[Any], columns: Sequence[str], vectors: bool) -> Rows:
        ids = [str(one[self._id]) for one in page]
        held = {name: [one.get(name) for one in page] for name in columns}
        if not vectors:
            return Rows(ids, held)
        return Rows(ids, held, *stacked([self._decoded(one.get(self._vectors)) for one in page], self._name))

    def _decoded(self, raw: Any) -> Any:
        if isinstance(raw, list) and len(raw) == 1 and isinstance(raw[0], bytes):
            raw = raw[0]
        if not isinstance(raw, bytes):
            return None if raw is None else np.asarray(raw, dtype=np.float32)
        if self._dtype == "bit":
            return unpacked_bits(raw, self._dimension)
        if self._dtype == "bfloat16":
            return (np.frombuffer(raw, dtype="<u2").astype(np.uint32) << 16).view(np.float32)
        return np.frombuffer(raw, dtype="<f2" if self._dtype == "float16" else np.int8).astype(np.float32)
