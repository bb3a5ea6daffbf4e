"""What stores that speak SQL and hand out rows have in common: one query for pages, one for ids."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID

from unembed.collections.stores.base import PAGE, Options, Rows, Store, asking, joined, pages_of, stacked
from unembed.collections.stores.conditions import Condition, as_sql, quoted_name
from unembed.corpora.readers.fields import Field


class SqlStore(Store):
    """A table of a database; subclasses find out its columns and fetch."""

    mark: ClassVar[str] = "?"

    def __init__(self, name: str, options: Options) -> None:
        self._name, self._options = name, options
        self._from = quoted_name(name)
        self._id: str | None = None
        self._vectors = ""
        self._fields: tuple[Field, ...] = ()
        self._conditions: tuple[Condition, ...] = ()

    @abstractmethod
    def _fetch(self, query: str, values: Sequence[Any], size: int) -> Iterator[list[tuple[Any, ...]]]:
        """The rows of a query, so many at a time."""

    @abstractmethod
    def _decoded(self, raw: Any) -> Any:
        """A vector as the database gives it, as an array; None stays None."""

    @property
    @abstractmethod
    def _id_sql(self) -> str:
        """The id in a query."""

    @property
    def _vector_sql(self) -> str:
        return quoted_name(self._vectors)

    def _column_sql(self, name: str) -> str:
        return quoted_name(name)

    @abstractmethod
    def _among(self, ids: Sequence[str]) -> tuple[str, list[Any]]:
        """The condition that an id is one of these."""

    def _count(self) -> int:
        query = f"SELECT count(*) FROM {self._from}"  # noqa: S608 - names are quoted, values are bound
        found = as_sql(self._conditions, quoted_name, self.mark)
        query += f" WHERE {found[0]}" if found[0] else ""
        with asking(self._name, self.facts):
            return int(next(self._fetch(query, found[1], 1))[0][0])

    def scan(self, columns: Sequence[str] = (), *, vectors: bool = True, batch: int = PAGE) -> Iterator[Rows]:
        """All rows in one query, fetched page by page."""
        found, values = as_sql(self._conditions, quoted_name, self.mark)
        yield from self._pages(columns, vectors, found, values, batch)

    def rows(self, ids: Sequence[str], columns: Sequence[str] = (), *, vectors: bool = True) -> Rows:
        """Rows by their ids, some hundred in a query."""
        parts = [
            part for some in pages_of(ids, 500) for part in self._pages(columns, vectors, *self._among(some), PAGE)
        ]
        return joined(parts, columns) if parts else Rows([], {name: [] for name in columns})

    def _pages(
        self, columns: Sequence[str], vectors: bool, condition: str, values: Sequence[Any], size: int
    ) -> Iterator[Rows]:
        asked = [self._id_sql, *([self._vector_sql] if vectors else []), *map(self._column_sql, columns)]
        where = f" WHERE {condition}" if condition else ""
        query = f"SELECT {', '.join(asked)} FROM {self._from}{where}"  # noqa: S608 - see above
        first = 2 if vectors else 1
        with asking(self._name, self.facts):
            for page in self._fetch(query, values, size):
                held = {name: [plain(row[first + n]) for row in page] for n, name in enumerate(columns)}
                ids = [str(row[0]) for row in page]
                if vectors:
                    yield Rows(ids, held, *stacked([self._decoded(row[1]) for row in page], self._name))
                else:
                    yield Rows(ids, held)


def plain(value: Any) -> Any:
    """A value as every store would give it."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, UUID):
        return str(value)
    return value if isinstance(value, str | int | float | bool | datetime | date | None) else str(value)
