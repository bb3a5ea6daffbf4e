"""The data sets of the experiments (``datasets.toml``): where their originals are, which are here, how one is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from unembed.corpora import published
from unembed.corpora.corpus import Corpus
from unembed.errors import DataError, UnembedError, UnknownNameError
from unembed.papers.base import Conditions
from unembed.papers.library import read_table
from unembed.writing import written_aside


@dataclass(frozen=True)
class DataSet:
    """One data set: what its file holds and what that is made from.

    ``files`` and ``count`` say which files a whole original has, ``converter`` names the function that reads one of
    them, ``most`` is how many rows are taken at the most.
    """

    name: str
    about: str
    rows: int
    columns: list[str]
    used_by: list[str]
    source: str
    licence: str
    layout: str
    files: str
    converter: str
    count: int = 1
    most: int | None = None

    @property
    def file(self) -> str:
        """Its name in the folder of data sets."""
        return f"{self.name}.parquet"

    def needed_for(self, experiment: str) -> bool:
        """Whether an experiment reads it."""
        return any(fnmatch(experiment, pattern) for pattern in self.used_by)


@dataclass(frozen=True)
class Found:
    """A data set's file: where it is, how many rows it has, its SHA-256, and what columns it lacks."""

    path: Path
    rows: int
    digest: str
    missing: tuple[str, ...]


@cache
def data_sets() -> dict[str, DataSet]:
    """All data sets by name."""
    return {name: DataSet(name, **entry) for name, entry in read_table("datasets").items()}


def data_folder(conditions: Conditions) -> Path:
    """The folder of data sets: given, else where they are looked for."""
    return published.data_folder(conditions.data)


def read(conditions: Conditions, name: str, column: str, columns: Sequence[str] = ()) -> Corpus:
    """One data set by name; a missing one is an error that says which file is wanted and where."""
    path = published.data_file(name, conditions.data)
    if not path.is_file():
        raise DataError(
            f"data set {name}.parquet is not in {path.parent}: 'unembed data' says where it comes from and makes it; "
            "name its folder with --data or UNEMBED_DATA, or try --size smoke, which needs no data"
        )
    return published.read_data_set(name, column, columns, conditions.data)


def look_up(data_set: DataSet, folder: Path) -> Found | None:
    """The file of a data set in a folder, or None where there is none."""
    from pyarrow import ArrowInvalid
    from pyarrow.parquet import ParquetFile

    from unembed.encoders.digests import file_digest

    path = folder / data_set.file
    if not path.is_file():
        return None
    try:
        with ParquetFile(path) as held:
            names, rows = held.schema_arrow.names, held.metadata.num_rows
    except ArrowInvalid as error:
        raise DataError(f"{path} is not a Parquet file: make it again with 'unembed data make'") from error
    return Found(path, rows, file_digest(path), tuple(c for c in data_set.columns if c not in names))


def make_data_set(name: str, original: Path, out: Path) -> Found:
    """Turn the public original of a data set into the file that experiments read."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    if name not in data_sets():
        raise UnknownNameError("data set", name, list(data_sets()))
    data_set = data_sets()[name]
    rows = list(islice(_distinct(data_set, _original_files(data_set, original)), data_set.most))
    if not rows:
        raise DataError(f"nothing in {original} can be used for {name}: expected {data_set.layout}")
    with written_aside(out / data_set.file, shared=True) as file:
        write_table(pa.Table.from_pylist(rows), file, compression="zstd")
    found = look_up(data_set, out)
    assert found is not None
    return found


def _original_files(data_set: DataSet, original: Path) -> list[Path]:
    if not original.is_dir():
        raise DataError(f"no folder at {original}: --from names the folder of the original, {data_set.source}")
    found = sorted(path for path in original.glob(data_set.files) if path.is_file())
    if len(found) < data_set.count:
        raise DataError(
            f"{original} holds {len(found):,} of the {data_set.count:,} or more files of the original of "
            f"{data_set.name} ({data_set.source}): expected {data_set.layout}"
        )
    return found


def _distinct(data_set: DataSet, paths: list[Path]) -> Iterator[dict[str, Any]]:
    """The rows of all files, each row once; a file of another form is an error that names it."""
    from unembed.papers import originals

    convert = getattr(originals, data_set.converter)
    seen = set()
    for path in paths:
        try:
            rows = list(convert(path))
        except UnembedError:
            raise
        except Exception as error:  # whatever a parser says of a file that is of another form
            cause = type(error).__name__
            raise DataError(f"{path} is not as in {data_set.source} ({cause}): expected {data_set.layout}") from error
        for row in rows:
            key = repr(row)
            if key not in seen:
                seen.add(key)
                yield row
