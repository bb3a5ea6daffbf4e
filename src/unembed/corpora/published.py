"""Published data sets by name: the folder they lie in, and one of them as a corpus.

Nothing is fetched. ``unembed data`` says where the originals are and makes the files.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import unembed
from unembed.corpora.corpus import Corpus

DATA_VARIABLE = "UNEMBED_DATA"


def data_folder(given: Path | None = None) -> Path:
    """The folder of data sets: given, else ``UNEMBED_DATA``, else the one shared beside a checkout."""
    if given is not None:
        return given
    if os.environ.get(DATA_VARIABLE):
        return Path(os.environ[DATA_VARIABLE]).expanduser()
    return Path(unembed.__file__).resolve().parents[2].parent / "shared" / "data"


def data_file(name: str, folder: Path | None = None) -> Path:
    """Where the file of a data set lies, or would lie."""
    return data_folder(folder) / f"{name}.parquet"


def read_data_set(name: str, column: str, columns: Sequence[str] = (), folder: Path | None = None) -> Corpus:
    """One data set by name, with its texts and the columns asked for."""
    from unembed.corpora.readers import read_corpus

    return read_corpus(data_file(name, folder), column=column, columns=list(columns))
