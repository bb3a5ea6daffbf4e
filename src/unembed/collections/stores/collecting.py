"""From any store to a collection: an even sample, texts and columns by id, vectors that can be measured with.

Neither the order in which a store hands out its rows nor the kind of store decides anything: rows are drawn by a digest
of seed and id, and stand in the order of their ids. The same records in two stores give the same audit.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.collections.base import Collection, Wanted
from unembed.collections.stores import open_store
from unembed.collections.stores.base import PAGE, Description, Rows, Store, pages_of
from unembed.corpora.corpus import Corpus
from unembed.corpora.readers import read_corpus_with_report
from unembed.corpora.readers.fields import require_columns
from unembed.encoders.base import DenseVectors, EncoderCard, first_unusable
from unembed.errors import CannotMeasureError, DataError, NoTextsError, UnknownNameError, UsageError
from unembed.seeds import seed_for

_AT_ONCE = 2000


@dataclass(frozen=True)
class DrawnVectors:
    """The vectors of a sample, read once from the store into a file that has no name and goes with the process."""

    card: EncoderCard
    row_of: dict[str, int]
    table: NDArray[np.float32]

    def vectors_for(self, ids: Sequence[str]) -> DenseVectors:
        """The vectors of these texts, in this order."""
        return np.array(self.table[[self.row_of[i] for i in ids]])


def open_stored(wanted: Wanted) -> Collection:
    """The collection behind ``wanted.store``; its texts lie there, or in a file beside (``wanted.place``), by id."""
    with open_store(wanted.store or "", allow_remote=wanted.allow_remote) as store:
        told = store.describe()
        here = {one.name for one in told.columns}
        beside = None
        if wanted.place:
            beside = _texts_beside(wanted, told, [name for name in wanted.columns if name not in here])
        elif wanted.id and wanted.id != told.id:
            known = [name for name in (told.id, *here) if name]
            raise UnknownNameError("column of ids", wanted.id, known, hint="name it in the address: ?id=COLUMN")
        return collect(
            store,
            text=wanted.column if beside is None else None,
            columns=wanted.columns,
            max_rows=wanted.max_rows,
            seed=seed_for(wanted.seed, wanted.purpose),
            beside=beside,
        )


def collect(
    store: Store,
    *,
    text: str | None = None,
    columns: Sequence[str] = (),
    max_rows: int | None = None,
    seed: int = 0,
    beside: Corpus | None = None,
) -> Collection:
    """A sample of a store as a collection.

    Args:
        store: where vectors, and unless ``beside`` is given texts, lie.
        text: the column of texts, where it can't be found out.
        columns: further columns; from ``beside`` where the store doesn't have them.
        max_rows: the most rows; they are drawn evenly, the same ones for the same seed and ids.
        seed: of the draw.
        beside: texts from elsewhere, with the ids of the store.
    """
    told = store.describe()
    if not told.count:
        raise CannotMeasureError(f"{told.name} is empty: there is nothing to measure")
    ours = [name for name in columns if beside is None or name in {one.name for one in told.columns}]
    require_columns(ours, told.columns, told.name)
    column = None if beside is not None else _text_column(told, text)
    if column in columns:
        others = ", ".join(one.name for one in told.columns if one.name != column) or "none"
        raise UsageError(
            f"{told.name}: '{column}' is the column of the texts, so nothing can be inferred or split by it; "
            f"others: {others}"
        )
    reading = _Reading(store, told, column, ours, beside)
    reading.draw(max_rows, seed)
    return reading.collection([name for name in columns if name not in ours])


def sampled_vectors(store: Store, most: int, seed: int = 0) -> DenseVectors:
    """Vectors of at most so many rows, drawn evenly; rows without one are left out."""
    ids = _drawn(store, most, seed, None).ids[:most]
    rows = store.rows(sorted(ids, key=natural), vectors=True)
    if rows.vectors is None or not len(rows):
        raise CannotMeasureError(f"{store.describe().name} is empty: there is nothing to measure")
    vectors = rows.vectors if rows.missing is None else rows.vectors[~rows.missing]
    if (bad := first_unusable(vectors)) is not None:
        raise DataError(f"{store.describe().name}, a row among {len(vectors)} drawn: {bad[1]}")
    return vectors


def every_vector(store: Store) -> Iterator[tuple[list[str], DenseVectors]]:
    """Ids and vectors of all rows that have one, a page at a time; numbers that can't be compared are refused."""
    for page in store.scan():
        if page.vectors is None:
            continue
        ids, vectors = page.ids, page.vectors
        if page.missing is not None:
            ids = [one for one, gone in zip(ids, page.missing, strict=True) if not gone]
            vectors = vectors[~page.missing]
        if (bad := first_unusable(vectors)) is not None:
            raise DataError(f"{store.describe().name}, {_called(ids[bad[0]])}: {bad[1]}")
        if len(vectors):
            yield ids, vectors


def natural(one: str) -> tuple[int, int, str]:
    """The order of ids: whole numbers by value, then everything else as strings."""
    number = re.fullmatch(r"0|-?[1-9]\d{0,18}", one)
    return (0, int(one), "") if number else (1, 0, one)


def _text_column(told: Description, asked: str | None) -> str:
    if asked is not None:
        require_columns([asked], told.columns, told.name)
        return asked
    if told.text is None:
        names = ", ".join(one.name for one in told.columns[:20]) or "none"
        raise NoTextsError(
            f"no attack can be judged without texts, so nothing was measured: {told.name} has no column of texts "
            f"(columns: {names}); name it with --column, or give texts by id with --texts FILE --id COLUMN"
        )
    return told.text


def _texts_beside(wanted: Wanted, told: Description, columns: Sequence[str]) -> Corpus:
    corpus, report = read_corpus_with_report(
        f"{wanted.place}#{wanted.split}" if wanted.split else wanted.place,
        column=wanted.column,
        columns=list(columns),
        id_column=wanted.id,
        format=wanted.format,
        encoding=wanted.encoding,
        delimiter=wanted.delimiter,
    )
    if wanted.id is None and told.id is None and report.rows != told.count:
        raise DataError(
            f"{told.name} has {told.count} vectors for {report.rows} rows of texts: there must be one per row, in the "
            "same order, or a column with their numbers, --id COLUMN"
        )
    return corpus


@dataclass(frozen=True)
class _Drawn:
    ids: list[str]
    """In the order of the draw."""
    rows: int
    """How many there are to draw from."""


def _drawn(store: Store, most: int | None, seed: int, among: frozenset[str] | None) -> _Drawn:
    """The ids with the smallest digests under the seed: an even draw in one pass over the ids, whatever their order."""
    key = seed.to_bytes(8, "big")
    marks: list[NDArray[np.uint64]] = []
    pool: list[tuple[int, str]] = []
    for page in store.scan(vectors=False):
        ids = page.ids if among is None else [i for i in page.ids if i in among]
        found = np.array([_mark(i, key) for i in ids], dtype=np.uint64)
        marks.append(found)
        pool += zip(found.tolist(), ids, strict=True)
        if most is not None and len(pool) > 4 * most:
            pool = sorted(pool)[:most]
    every = np.concatenate(marks) if marks else np.zeros(0, dtype=np.uint64)
    every.sort()
    if len(again := every[1:][every[1:] == every[:-1]]):
        _check_unique(store, set(again.tolist()), key)
    chosen = sorted(pool)
    return _Drawn([i for _, i in (chosen if most is None else chosen[:most])], len(every))


def _mark(one: str, key: bytes) -> int:
    digest = hashlib.blake2b(one.encode("utf-8", "surrogatepass"), key=key, digest_size=8).digest()
    return int.from_bytes(digest, "big")


def _check_unique(store: Store, suspect: set[int], key: bytes) -> None:
    """Two ids may share a digest by chance; only equal ids are an error."""
    seen: set[str] = set()
    for page in store.scan(vectors=False):
        for one in page.ids:
            if _mark(one, key) in suspect:
                if one in seen:
                    raise _not_unique(store.describe())
                seen.add(one)


def _not_unique(told: Description) -> DataError:
    where = f"column '{told.id}'" if told.id else "the ids"
    return DataError(
        f"{told.name}: {where} holds the same id more than once: name a column of unique ids with ?id=COLUMN"
    )


@dataclass
class _Reading:
    """The rows of a sample as they come in: skipped, checked and put aside."""

    store: Store
    told: Description
    column: str | None
    columns: Sequence[str]
    beside: Corpus | None
    texts: dict[str, str] = field(default_factory=dict)
    values: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    row_of: dict[str, int] = field(default_factory=dict)
    vectorless: int = 0
    empty: int = 0
    eligible: int = 0
    dimension: int | None = None

    def __post_init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the vectors are wanted
        if self.beside is not None:
            self._beside = dict(zip(self.beside.ids, self.beside.texts, strict=True))

    def draw(self, most: int | None, seed: int) -> None:
        """Read rows until there are enough with a text and a vector."""
        among = None if self.beside is None else frozenset(self._beside)
        keep = None if most is None or most >= self.told.count else most + most // 5 + 50
        while True:
            drawn = _drawn(self.store, keep, seed, among)
            self.eligible = drawn.rows
            if among is not None and not drawn.rows:
                raise DataError(
                    f"{self.told.name}: none of its ids is an id of the texts: name their column with --id COLUMN"
                )
            whole = keep is None or keep >= drawn.rows
            self._read([i for i in drawn.ids if i not in self.row_of], most, everything=whole and most is None)
            if whole or keep is None or len(self.texts) >= (most or 0):
                return
            keep *= 4

    def _read(self, ids: Sequence[str], most: int | None, *, everything: bool) -> None:
        asked = [*([self.column] if self.column else []), *self.columns]
        wanted = frozenset(ids)
        pages: Iterator[Rows]
        if everything:
            pages = self.store.scan(asked)
        else:
            pages = (self.store.rows(some, asked) for some in pages_of(ids, min(_AT_ONCE, PAGE)))
        for page in pages:
            self._take(page, wanted, most, ids if not everything else None)
            if most is not None and len(self.texts) >= most:
                return

    def _take(self, page: Rows, wanted: frozenset[str], most: int | None, order: Sequence[str] | None) -> None:
        place = {one: n for n, one in enumerate(page.ids)}
        if len(place) < len(page.ids):
            raise _not_unique(self.told)
        kept: list[int] = []
        # In the order of the draw, not of the store: the last rows that fit must be the same in every store.
        for one in [i for i in order if i in place] if order is not None else page.ids:
            n = place[one]
            if one not in wanted or one in self.row_of:
                continue
            text = self._beside[one] if self.column is None else page.columns[self.column][n]
            if text is not None and not isinstance(text, str):
                raise DataError(f"{self.told.name}: column '{self.column}' holds {type(text).__name__}, not text")
            if text is None or not text.strip():
                self.empty += 1
            elif page.missing is not None and page.missing[n]:
                self.vectorless += 1
            elif most is None or len(self.texts) < most:
                self.row_of[one] = len(self.row_of)
                self.texts[one] = text
                self.values[one] = tuple(page.columns[name][n] for name in self.columns)
                kept.append(n)
        if kept and page.vectors is not None:
            self._put(page.vectors[kept], [page.ids[n] for n in kept])

    def _put(self, vectors: DenseVectors, ids: Sequence[str]) -> None:
        name, width = self.told.name, vectors.shape[1]
        if self.dimension not in (None, width):
            raise DataError(
                f"{name} holds vectors of {min(width, self.dimension or 0)} and {max(width, self.dimension or 0)} "
                "dimensions: leave one kind out with ?where=COLUMN=VALUE"
            )
        self.dimension = width
        if (bad := first_unusable(vectors)) is not None:
            raise DataError(f"{name}, {_called(ids[bad[0]])}: {bad[1]}")
        self._file.write(np.ascontiguousarray(vectors, dtype=np.float32).tobytes())

    def collection(self, others: Sequence[str]) -> Collection:
        """What was read, in the order of the ids."""
        told = self.told
        if self.vectorless and not self.store.skips_missing:
            raise DataError(
                f"{told.name}: {self.vectorless} of {self.vectorless + len(self.texts)} rows have no vector: give them "
                "one, or leave them out with ?missing=skip"
            )
        if not self.texts or self.dimension is None:
            raise CannotMeasureError(f"{told.name}: no row has both a text and a vector, so nothing can be measured")
        ids = sorted(self.texts, key=natural)
        held = {name: [self.values[i][n] for i in ids] for n, name in enumerate(self.columns)}
        if self.beside is not None:
            at = {one: n for n, one in enumerate(self.beside.ids)}
            held |= {name: [self.beside.column(name)[at[i]] for i in ids] for name in others}
        corpus = Corpus([self.texts[i] for i in ids], ids, held, told.name)
        facts: dict[str, int | str | bool] = {
            "store": told.kind,
            "rows in store": told.count,
            "stored as": told.dtype,
            "empty rows skipped": self.empty,
            "sampled": len(ids) + self.empty + self.vectorless < self.eligible,
        }
        if self.vectorless:
            facts["rows without a vector skipped"] = self.vectorless
        if self.beside is not None:
            facts |= {
                "vectors without a text": told.count - self.eligible,
                "texts without a vector": len(self.beside) - self.eligible,
            }
        return Collection(corpus, facts, self._stored(ids), can_encode=False)

    def _stored(self, ids: Sequence[str]) -> DrawnVectors:
        self._file.flush()
        table = np.memmap(self._file, dtype=np.float32, mode="r", shape=(len(self.row_of), self.dimension or 0))
        digest, unit = hashlib.sha256(), True
        for some in pages_of(ids, PAGE):
            vectors = np.array(table[[self.row_of[i] for i in some]])
            unit &= bool(np.abs(np.linalg.norm(vectors, axis=1) - 1).max() < 1e-2)
            digest.update("\0".join(some).encode("utf-8", "surrogatepass") + b"\0")
            digest.update(vectors.tobytes())
        card = EncoderCard(
            name=f"vectors:{self.told.name}",
            family="vectors",
            digest=digest.hexdigest(),
            dimension=self.dimension or 0,
            normalised=unit,
        )
        return DrawnVectors(card, self.row_of, table)


def _called(one: str) -> str:
    """A row in a message: by its id only if that can't be somebody's name or address."""
    return f"row {one}" if re.fullmatch(r"[0-9a-fA-F-]{1,36}", one) else "a row"
