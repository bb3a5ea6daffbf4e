"""The checks behind ``check_store``: what the rest of unembed relies on, on a store with some dozen rows or more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from unembed.collections.stores.base import Description, Rows, Store
from unembed.collections.stores.collecting import collect
from unembed.corpora.corpus import Corpus
from unembed.testing.checks import check_collection, require

_BATCH = 7


def check_store(opened: Callable[[], Store], texts: Mapping[str, str] | None = None) -> None:
    """A store keeps the contract.

    Args:
        opened: opens the same store anew, so that nothing is left from one check to the next.
        texts: texts by id, for a store that holds none.
    """
    for check in store_checks(texts):
        with opened() as store:
            check(store)


def store_checks(texts: Mapping[str, str] | None = None) -> Iterator[Callable[[Store], None]]:
    """Every check of a store, for test suites that want one test each."""
    yield pages_hold_what_is_described
    yield vectors_are_read_only_if_wanted
    yield rows_are_found_by_id

    def draw(store: Store) -> None:
        samples_are_even_and_repeatable(store, texts)

    yield draw
    yield nothing_private_is_described


def pages_hold_what_is_described(store: Store) -> None:
    """As many rows as counted, in pages of the size asked for, each with an id of its own, all columns and a vector."""
    told, whole = store.describe(), _everything(store)
    require(isinstance(told, Description), f"describe gives {type(told).__name__}, not Description")
    require(told.count > _BATCH, f"the suite needs more than {_BATCH} rows, there are {told.count}")
    require(len(whole.ids) == told.count, f"{told.count} rows are counted and {len(whole.ids)} given")
    require(len(set(whole.ids)) == len(whole.ids), "two rows have the same id")
    require(all(isinstance(one, str) for one in whole.ids), "ids are not strings")
    vectors = _vectors(whole)
    require(vectors.shape == (told.count, told.dimension), f"the vectors are {vectors.shape}, not as described")
    require(vectors.dtype == np.float32, f"the vectors are {vectors.dtype}, not float32")
    for name, values in whole.columns.items():
        require(len(values) == told.count, f"column '{name}' has {len(values)} values for {told.count} rows")
    require(told.text is None or told.text in whole.columns, f"the column of texts, '{told.text}', is not a column")
    largest = max(map(len, store.scan(batch=_BATCH)))
    require(largest <= _BATCH, f"a page of at most {_BATCH} rows has {largest}")


def vectors_are_read_only_if_wanted(store: Store) -> None:
    """A pass over ids gives the ids of the whole pass, in the same order, and no vectors."""
    pages = list(store.scan(vectors=False))
    require(all(page.vectors is None for page in pages), "vectors were not wanted and came")
    ids = list(chain.from_iterable(page.ids for page in pages))
    require(ids == _everything(store).ids, "a pass over ids gives others than a pass over all, or in another order")


def rows_are_found_by_id(store: Store) -> None:
    """Rows asked for by id are those of the pass over all; what is not there is left out."""
    whole = _everything(store)
    asked = whole.ids[::-2][:20]
    absent = [str(max(map(int, whole.ids)) + 1000)] if all(one.isdecimal() for one in whole.ids) else []
    found = store.rows([*asked, *absent], list(whole.columns))
    require(sorted(found.ids) == sorted(asked), f"{len(asked)} ids were asked for and {len(found.ids)} rows came")
    at = {one: n for n, one in enumerate(whole.ids)}
    places = [at[one] for one in found.ids]
    require(bool(np.array_equal(_vectors(found), _vectors(whole)[places])), "a row found by id has another vector")
    for name, values in found.columns.items():
        expected = [whole.columns[name][place] for place in places]
        require(values == expected, f"column '{name}' of rows found by id differs")


def samples_are_even_and_repeatable(store: Store, texts: Mapping[str, str] | None) -> None:
    """The same seed draws the same rows, another seed others, and what is drawn is a collection."""
    beside = None if texts is None else Corpus(list(texts.values()), list(texts), {}, "texts")
    count = store.describe().count

    def draw(seed: int, rows: int | None) -> Any:
        return collect(store, max_rows=rows, seed=seed, beside=beside)

    first, again, other = draw(1, count // 2), draw(1, count // 2), draw(2, count // 2)
    require(first.corpus.ids == again.corpus.ids, "the same seed draws other rows the second time")
    require(first.corpus.ids != other.corpus.ids, "another seed draws the same rows")
    require(len(first.corpus) <= count // 2, "more rows are drawn than asked for")
    for one in (first, draw(1, None)):
        check_collection(one)


def nothing_private_is_described(store: Store) -> None:
    """A description can be shown to anybody: it holds no text."""
    told = store.describe()
    if told.text is None:
        return
    shown = repr(told)
    texts = next(store.scan([told.text], vectors=False)).columns[told.text]
    require(not any(text in shown for text in texts if text), "a text of the store is in its description")


def _everything(store: Store) -> Rows:
    columns = [one.name for one in store.describe().columns]
    pages = list(store.scan(columns, batch=_BATCH))
    ids = list(chain.from_iterable(page.ids for page in pages))
    held = {name: list(chain.from_iterable(page.columns[name] for page in pages)) for name in columns}
    vectors = [_vectors(page) for page in pages]
    return Rows(ids, held, np.concatenate(vectors) if vectors else None)


def _vectors(rows: Rows) -> Any:
    require(rows.vectors is not None, "vectors were wanted and did not come")
    require(rows.missing is None or not rows.missing.any(), "the suite needs a vector in every row")
    return rows.vectors
