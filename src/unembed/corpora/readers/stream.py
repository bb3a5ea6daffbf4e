"""Lines of a text file whose encoding nobody said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unembed import files
from unembed.corpora.readers.options import ReadOptions
from unembed.corpora.readers.sniff import find_encoding
from unembed.errors import DataError

_SAMPLE = 4 << 20

_FOREIGN = {
    b"PAR1": "a parquet file: pass format='parquet'",
    b"ARROW1": "an Arrow file: pass format='arrow'",
    b"PK\x03\x04": "a zip archive or spreadsheet: unpack it or save it as csv",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet: save it as csv",
    b"%PDF": "a PDF: save its text as txt",
    b"BZh": "bzip2-compressed: unpack it or use gzip",
    b"\xfd7zXZ": "xz-compressed: unpack it or use gzip",
    b"\x28\xb5\x2f\xfd": "zstd-compressed: unpack it or use gzip",
    b"SQLite format": "a database: export the table as csv",
}


def encoding_of(path: Path, options: ReadOptions) -> str:
    """The encoding a file is read with: forced, or found in its first bytes."""
    with files.unpacked(path) as stream:
        sample = stream.read(_SAMPLE)
    if not sample:
        raise DataError(f"{path.name} is empty")
    for magic, advice in _FOREIGN.items():
        if sample.startswith(magic):
            raise DataError(f"{path.name} is {advice}")
    return find_encoding(sample, options.encoding, path.name)


def lines(path: Path, options: ReadOptions, *, limit: int, keep_ends: bool = False) -> Iterator[str]:
    """Lines without their ends (kept on demand); longer than ``limit`` characters is an error."""
    return files.lines(path, encoding_of(path, options), limit, keep_ends=keep_ends)
