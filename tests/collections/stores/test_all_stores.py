"""Every kind of store gives the same collection for the same records, by URL and by the client's own object."""

from types import FunctionType

import numpy as np
import pytest
from store_makers import BY_ROW, MAKERS, WITHOUT_TEXTS

from unembed.collections import Wanted, from_client, open_collection
from unembed.collections.stores import open_store
from unembed.errors import UnembedError
from unembed.testing import check_store

KINDS = sorted(MAKERS)
TEXTUAL = [kind for kind in KINDS if kind not in WITHOUT_TEXTS]


def by_id(world):
    return {str(i): text for i, text in zip(world.ids, world.texts, strict=True)}


def collected(url, world, kind, tmp_path, **wanted):
    """The collection behind a URL; texts come from a file where the store has none."""
    if kind in WITHOUT_TEXTS:
        lines = "\n".join(f"{i},{text},{t}" for i, text, t, _ in world.records())
        (tmp_path / "texts.csv").write_text(f"id,body,topic\n{lines}\n")
        wanted |= {"place": str(tmp_path / "texts.csv"), "id": "id"}
    return open_collection(Wanted(**{"place": "", "column": None, "store": url, **wanted}))


@pytest.mark.parametrize("kind", KINDS)
def test_it_conforms(kind, make, world):
    url, _, _ = make(kind, world)
    check_store(lambda: open_store(url), by_id(world) if kind in WITHOUT_TEXTS else None)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_records_give_the_same_collection(kind, make, world, tmp_path):
    """Whatever the kind of store and the order in which it was filled: this is what makes audits comparable."""
    np.save(tmp_path / "expected.npy", np.array(world.vectors))
    expected = collected(f"npy:{tmp_path}/expected.npy", world, "npy", tmp_path, max_rows=50, seed=4)
    url, _, _ = make(kind, world if kind in BY_ROW else world.shuffled())
    found = collected(url, world, kind, tmp_path, max_rows=50, seed=4)
    assert found.corpus.fingerprint == expected.corpus.fingerprint
    assert found.stored.card.cache_key("document") == expected.stored.card.cache_key("document")
    for one, vector in zip(found.corpus.ids, found.stored.vectors_for(found.corpus.ids), strict=True):
        np.testing.assert_array_equal(vector, world.vectors[int(one)])
    assert found.facts["sampled"] is True
    assert found.facts["rows in store"] == len(world.ids)


@pytest.mark.parametrize("kind", TEXTUAL)
def test_conditions_leave_rows_out(kind, make, world):
    url, _, _ = make(kind, world)
    join = "&" if "?" in url else "?"
    for condition, meets in (
        ("topic=1", lambda t: t == 1),
        ("topic!=1", lambda t: t != 1),
        ("topic>=1&where=topic<2", lambda t: t == 1),
    ):
        found = open_collection(Wanted("", None, ("topic",), store=f"{url}{join}where={condition}"))
        wanted = [str(i) for i, t in zip(world.ids, world.topics, strict=True) if meets(t)]
        assert found.corpus.ids == wanted, condition
        assert {type(value) for value in found.corpus.column("topic")} == {int}


@pytest.mark.parametrize("kind", [k for k in KINDS if k not in ("parquet", "arrow", "npz", "safetensors")])
def test_a_clients_own_object_gives_what_its_url_gives(kind, make, world, tmp_path):
    url, client, name = make(kind, world)
    by_url = collected(url, world, kind, tmp_path, max_rows=30, seed=0)
    client = client() if isinstance(client, FunctionType) else client
    texts = by_id(world) if kind in WITHOUT_TEXTS else None
    found = from_client(client, name, texts=texts, max_rows=30)
    # An opener seeds its sample by its purpose as well, so another thirty rows are drawn.
    assert len(found.corpus) == len(by_url.corpus) == 30
    for one, vector in zip(found.corpus.ids, found.stored.vectors_for(found.corpus.ids), strict=True):
        np.testing.assert_array_equal(vector, world.vectors[int(one)])
        assert found.corpus.texts[found.corpus.ids.index(one)] == world.texts[int(one)]
    if hasattr(client, "close"):
        client.close()


@pytest.mark.parametrize("kind", ["chroma", "qdrant", "lancedb", "milvus", "sqlite_blobs", "duckdb", "pgvector"])
def test_a_missing_name_lists_what_there_is(kind, make, world):
    url, _, _ = make(kind, world)
    with pytest.raises(UnembedError, match="did you mean 'notes'"):
        open_store("noets".join(url.rsplit("notes", 1)))


@pytest.mark.parametrize("kind", ["chroma", "qdrant", "lancedb", "milvus", "sqlite_blobs", "duckdb", "faiss", "npy"])
def test_nothing_there_is_one_line_and_nothing_is_made(kind, tmp_path):
    place = {"sqlite_blobs": "sqlite", "npy": "npy"}.get(kind, kind)
    with pytest.raises(UnembedError) as caught:
        open_store(f"{place}:{tmp_path}/nowhere/notes")
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())
