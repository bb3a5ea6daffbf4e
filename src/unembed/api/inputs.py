"""What a caller calls texts: a list, a series, a frame, a data set, a file, a store, a collection; and what is beside.

``take_in`` finds out what is named and what is held, ``Inputs.collection`` makes a collection of what is held.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from unembed.api.arrays import dense, stored_rows
from unembed.api.tables import Table, is_column, is_table, name_of, plain_values
from unembed.collections import COLLECTIONS, Collection, Wanted, open_collection
from unembed.collections.stores import is_address, is_client, store_of
from unembed.collections.stores.collecting import collect
from unembed.corpora.corpus import Corpus
from unembed.corpora.readers.fields import choose_text_column
from unembed.corpora.readers.load import Picker, check_cell
from unembed.corpora.readers.options import MAX_CELL
from unembed.errors import DataError, UnknownNameError, UsageError
from unembed.seeds import seed_for

#: What values are called that come without a name.
_LABEL, _GROUP, _TIME = "label", "group", "time"
_NAME = "texts"


@dataclass
class Inputs:
    """Texts, columns and vectors, as far as they are held here; ``data`` is what an audit file would say of them."""

    data: dict[str, Any] = field(default_factory=dict)
    name: str = _NAME
    texts: list[Any] | None = None
    """None: a file or another place holds them."""
    ids: list[Any] | None = None
    columns: dict[str, list[Any]] = field(default_factory=dict)
    vectors: Any = None
    vectors_name: str = "array"
    opened: Collection | None = None
    client: Any = None
    """An object of a vector store's own client."""

    @property
    def held(self) -> bool:
        """Whether texts, or an object that has them, were given, and not a name."""
        return self.texts is not None or self.opened is not None or self.client is not None

    @property
    def by_name(self) -> bool:
        """Whether a path or an address says it all, as on the command line."""
        return not self.held and self.vectors is None

    def collection(self, wanted: Wanted, *, can_encode: bool) -> Collection:
        """The texts that are held, and those that the audit samples of them."""
        if self.client is not None:
            return self._of_client(wanted, can_encode)
        if not self.held:
            return self._with_file(wanted, can_encode)
        texts, ids = self.texts or [], self.ids
        columns = dict(self.columns)
        if self.opened is not None:
            corpus = self.opened.corpus
            texts, ids = list(corpus.texts), list(corpus.ids)
            columns = {**corpus.columns, **columns}
        named = _names(ids, len(texts))
        kept, empty = _sampled(texts, wanted.max_rows, seed_for(wanted.seed, wanted.purpose))
        for name in wanted.columns:
            if name not in columns:
                raise UnknownNameError("column", name, columns, hint=f"in {self.name}")
            _check_column(name, columns[name], len(texts))
        corpus = Corpus(
            [texts[i] for i in kept],
            [named[i] for i in kept],
            {name: [columns[name][i] for i in kept] for name in wanted.columns},
            self.name,
        )
        facts = {"rows given": len(texts), "empty rows skipped": empty, "sampled": len(kept) < len(texts) - empty}
        stored = None if self.opened is None else self.opened.stored
        if self.vectors is not None:
            stored = stored_rows(self.vectors, self.vectors_name, {named[i]: i for i in kept}, len(texts))
        told = {} if self.opened is None else self.opened.facts
        able = can_encode or (self.opened is not None and self.opened.can_encode and self.vectors is None)
        return Collection(corpus, {**told, **facts}, stored, can_encode=able or stored is None)

    def _of_client(self, wanted: Wanted, can_encode: bool) -> Collection:
        """The rows that the audit wants of a store, drawn as by its address."""
        store = store_of(self.client, text=wanted.column, id=wanted.id)
        seed = seed_for(wanted.seed, wanted.purpose)
        found = collect(store, text=wanted.column, columns=wanted.columns, max_rows=wanted.max_rows, seed=seed)
        return replace(found, can_encode=can_encode)

    def _with_file(self, wanted: Wanted, can_encode: bool) -> Collection:
        """Texts of a file, with vectors that are held here."""
        if wanted.id:
            raise UsageError("vectors belong to the rows of a file by their order: leave ids out")
        opened = open_collection(wanted)
        rows = opened.facts.get("rows in file", len(opened.corpus))
        stored = stored_rows(self.vectors, self.vectors_name, {i: int(i) for i in opened.corpus.ids}, int(rows))
        return Collection(opened.corpus, opened.facts, stored, can_encode=can_encode)


def take_in(
    texts: Any,
    *,
    column: str | None = None,
    vectors: Any = None,
    attributes: Any = None,
    groups: Any = None,
    time: Any = None,
    ids: Any = None,
) -> Inputs:
    """What is given, told apart: names go into ``data``, values into columns."""
    found = Inputs()
    table = Table(texts) if is_table(texts) else None
    if isinstance(texts, Collection):
        found.opened, found.name = texts, texts.corpus.name
        if column is not None or ids is not None:
            raise UsageError("a collection has its text column and ids already: leave column and ids out")
    elif table is not None:
        chosen = choose_text_column(table.fields, "the table") if column is None else column
        found.texts, found.name = table.column(chosen), _NAME
    elif isinstance(texts, str | Path):
        place = "store" if isinstance(texts, str) and is_address(texts) else "texts"
        found.data[place] = texts if place == "store" else _place(texts)
        found.data |= {} if column is None else {"column": column}
    elif is_column(texts):
        if column is not None:
            raise UsageError("the texts are a plain list: column= goes with a table or a file")
        found.texts, found.name = plain_values(texts), name_of(texts, _NAME)
    elif is_client(texts):
        found.client = texts
        found.data |= {} if column is None else {"column": column}
    else:
        raise UsageError(
            f"texts: expected a list, a series, a table, a path, a collection or a vector store, not {_kind(texts)}"
        )
    if found.texts is not None and not found.texts:
        raise DataError("there are no texts: the list is empty")
    _take_ids(found, table, ids)
    if "store" not in found.data:
        found.data.setdefault("texts", found.name)
    places = ((attributes, "attributes", _LABEL), (groups, "groups", _GROUP), (time, "time", _TIME))
    of_file = found.texts is None and found.opened is None
    for given, what, otherwise in places:
        named = _named(given, what, otherwise, table, found, of_file)
        if named and what == "attributes":
            found.data["attributes"] = named
        elif named:
            if len(named) > 1:
                raise UsageError(f"{what}: one column is enough, {len(named)} are given")
            found.data["group" if what == "groups" else what] = named[0]
    _take_vectors(found, table, vectors)
    return found


def _place(given: str | Path) -> str:
    """A path or another place; a single text is not one, and is not repeated in the message."""
    if isinstance(given, Path):
        return str(given)
    kind, colon, _ = given.partition(":")
    try:
        there = (colon and kind in COLLECTIONS) or Path(given.partition("#")[0]).expanduser().exists()
    except (OSError, ValueError):  # longer than any path, or with a zero in it
        there = False
    if not there:
        raise UsageError("texts is one string, and no file or folder has that name: give a list of texts, or a path")
    return given


def _kind(given: object) -> str:
    return "None" if given is None else f"a {type(given).__name__}"


def _take_ids(found: Inputs, table: Table | None, ids: Any) -> None:
    if ids is None:
        return
    if isinstance(ids, str):
        if table is not None:
            found.ids = table.column(ids)
        elif found.texts is None:
            found.data["id"] = ids
        else:
            raise UsageError("ids: the texts are a plain list, which has no columns; give a list of ids")
        return
    if found.texts is None:
        raise UsageError("ids of a file are a column of it: give its name")
    found.ids = plain_values(ids)


def _named(given: Any, what: str, otherwise: str, table: Table | None, found: Inputs, of_file: bool) -> list[str]:
    """The names of the columns that are meant; values that are given are kept under them."""
    if given is None:
        return []
    known = table if table is not None else found.opened.corpus.columns if found.opened is not None else None
    if isinstance(given, str):
        names, values = [given], {}
    elif isinstance(given, Mapping):
        names, values = [str(name) for name in given], {str(name): plain_values(v) for name, v in given.items()}
    elif is_column(given):
        listed = plain_values(given)
        strings = all(isinstance(v, str) for v in listed)
        rows = 0 if known is None else len(table) if table is not None else len(found.opened.corpus)  # type: ignore[union-attr]
        if of_file or (known is not None and strings and (all(v in known for v in listed) or len(listed) != rows)):
            names, values = listed, {}
        else:
            names = [name_of(given, otherwise)]
            values = {names[0]: listed}
    else:
        raise UsageError(f"{what}: expected names of columns, values, or both as a dict, not {_kind(given)}")
    if values and of_file:
        raise UsageError(f"{what}: the texts are in a file or store, so name columns of it")
    for name in names:
        if name in values:
            found.columns[name] = values[name]
        elif table is not None:
            found.columns[name] = table.column(name)
        elif known is None and not of_file:
            raise UsageError(
                f"{what}: the texts are a plain list, which has no columns; give values, or a dict of them"
            )
    return names


def _take_vectors(found: Inputs, table: Table | None, vectors: Any) -> None:
    if vectors is None:
        return
    if found.client is not None or "store" in found.data:
        raise UsageError("the vectors are those of the store: leave vectors out, or give the texts alone")
    if isinstance(vectors, str) and table is not None and vectors in table:
        found.vectors, found.vectors_name = dense(table.raw(vectors), f"column '{vectors}'"), vectors
    elif isinstance(vectors, str | Path):
        if table is not None and isinstance(vectors, str) and not Path(vectors).exists():
            table.raw(vectors)
        if not found.held:
            found.data["vectors"] = str(vectors)
        else:
            found.vectors = str(vectors)
    else:
        found.vectors = dense(vectors)


def _names(ids: list[Any] | None, count: int) -> list[str]:
    """The ids of all texts, or their row numbers."""
    if ids is None:
        return [str(row) for row in range(count)]
    _check_column("ids", ids, count)
    first: dict[str, int] = {}
    for row, value in enumerate(ids):
        if value is None or value == "" or not isinstance(value, str | int) or isinstance(value, bool):
            raise DataError(f"ids, row {row}: expected a string or a whole number")
        if (other := first.setdefault(str(value), row)) != row:
            raise DataError(f"rows {other} and {row} have the same id; ids must be unique, or leave them out")
    return list(first)


def _check_column(name: str, values: list[Any], count: int) -> None:
    if len(values) != count:
        raise DataError(f"'{name}' has {len(values):,} values for {count:,} texts: there must be one per text")


def _sampled(texts: list[Any], most: int | None, seed: int) -> tuple[list[int], int]:
    """The rows that are used, drawn as from a file, and how many are empty."""
    pick, empty = Picker(most, seed), 0
    for row, text in enumerate(texts):
        if text is None or (isinstance(text, str) and (not text or text.isspace())):
            empty += 1
            continue
        if not isinstance(text, str):
            raise DataError(f"texts, row {row}: a value of type {type(text).__name__}, not text")
        check_cell(text, _NAME, row + 1, "the texts", MAX_CELL)
        pick.offer(row, {})
    if empty == len(texts):
        raise DataError(f"all {len(texts):,} texts are empty")
    return [row for row, _ in pick.kept()], empty
