"""Stores of vectors, read and never written: one file per kind, by URL or by the client's own object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from unembed.collections.stores.address import ALIASES, check_host, named, parse_address
from unembed.collections.stores.base import Description, Options, Rows, Store, StoreFacts
from unembed.collections.stores.conditions import parse_condition
from unembed.errors import UsageError
from unembed.registry import Registry

__all__ = [
    "STORES",
    "Description",
    "Options",
    "Rows",
    "Store",
    "StoreFacts",
    "is_address",
    "is_client",
    "open_store",
    "store_facts",
    "store_of",
]

_HERE = "unembed.collections.stores"
#: Kinds whose place is all of the address: they hold one collection.
_WHOLE = ("npy", "parquet", "datasets", "faiss", "pgvector")
#: Kinds that lie in a folder.
_FOLDERS = ("chroma", "qdrant", "lancedb", "milvus")


def _problem(found: object) -> str | None:
    if isinstance(found, type) and issubclass(found, Store) and isinstance(getattr(found, "facts", None), StoreFacts):
        return None
    return "it is not a Store class with facts"


STORES: Registry[type[Store]] = Registry(
    "store",
    {
        "chroma": f"{_HERE}.chroma:ChromaStore",
        "qdrant": f"{_HERE}.qdrant:QdrantStore",
        "lancedb": f"{_HERE}.lancedb:LancedbStore",
        "pgvector": f"{_HERE}.postgres:PostgresStore",
        "milvus": f"{_HERE}.milvus:MilvusStore",
        "sqlite": f"{_HERE}.sqlite:SqliteStore",
        "duckdb": f"{_HERE}.duckdb:DuckdbStore",
        "faiss": f"{_HERE}.faiss:FaissStore",
        "parquet": f"{_HERE}.arrow_file:ArrowFileStore",
        "datasets": f"{_HERE}.arrow_file:DatasetStore",
        "npy": f"{_HERE}.vector_file:VectorFileStore",
    },
    group="unembed.stores",
    check=_problem,
)


def store_facts() -> dict[str, StoreFacts]:
    """What each kind says of itself, in the order of registration."""
    working = STORES.working()
    return {kind: working[kind].facts for kind in STORES.registered() if kind in working}


def is_address(given: str) -> bool:
    """Whether a string begins as the address of a store does; file names, which are texts elsewhere, do not."""
    kind, colon, rest = given.partition(":")
    return bool(colon and rest) and not rest[0].isspace() and (kind in STORES or kind in ALIASES)


def is_client(given: object) -> bool:
    """Whether an object is one that ``store_of`` takes, as far as its class tells."""
    return _kind_of(given) is not None


def open_store(url: str, *, allow_remote: bool = False) -> Store:
    """What lies at ``KIND:PLACE[/NAME][?OPTION=VALUE&…]``, open for reading; close it, or use it as a context.

    Args:
        url: the address; see the how-to on stores for its options.
        allow_remote: whether another machine than this one may be asked.
    """
    address = parse_address(url, store_facts())
    check_host(address, allow_remote=allow_remote)
    place, name = address.place, None
    if address.kind not in _WHOLE:
        place, name = named(address.place, folder=address.kind in _FOLDERS)
    store = STORES.get(address.kind).at(place, name, address.options)
    store.skips_missing = address.options.missing == "skip"
    return store


def store_of(
    client: Any,
    name: str | None = None,
    *,
    vectors: str | None = None,
    text: str | None = None,
    id: str | None = None,
    where: str | Sequence[str] = (),
    missing: str = "refuse",
) -> Store:
    """What a client's own object holds: a Chroma collection, a Qdrant client, a table, a connection, an index …

    Args:
        client: the object; the module of its class tells which store it belongs to.
        name: the collection or table, where the client knows several.
        vectors, text, id: columns, where they can't be found out.
        where: conditions such as ``"topic=news"``.
        missing: ``refuse`` rows without a vector, or ``skip`` them.
    """
    conditions = tuple(parse_condition(one) for one in ([where] if isinstance(where, str) else where))
    options = Options(vectors=vectors, text=text, id=id, conditions=conditions, missing=missing)
    kind = _kind_of(client)
    if kind is not None:
        store = STORES.get(kind).of(client, name, options)
        store.skips_missing = missing == "skip"
        return store
    known = ", ".join(sorted({module for facts in store_facts().values() for module in facts.client} - {"_duckdb"}))
    raise UsageError(f"{type(client).__name__} belongs to no known store; objects of these are: {known}")


def _kind_of(client: object) -> str | None:
    """The kind of store that an object belongs to: the module of its class tells."""
    modules = {kind.__module__.partition(".")[0] for kind in type(client).__mro__}
    return next((kind for kind, facts in store_facts().items() if modules & set(facts.client)), None)
