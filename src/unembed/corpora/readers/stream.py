"""Lines of a text file, its encoding detected unless it is given."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from unembed import files
from unembed.corpora.readers.options import ReadOptions
from unembed.errors import DataError

_SAMPLE = 4 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GUESS_FROM = 64 << 10
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
    return _find_encoding(sample, options.encoding, path.name)


def lines(path: Path, options: ReadOptions, *, limit: int, keep_ends: bool = False) -> Iterator[str]:
    """Lines without their ends (kept on demand); longer than ``limit`` characters is an error."""
    return files.lines(path, encoding_of(path, options), limit, keep_ends=keep_ends)


def _find_encoding(sample: bytes, forced: str | None, name: str) -> str:
    """The forced encoding, else the byte-order mark's, else UTF-8 if it fits, else the best guess."""
    if forced is not None:
        is_utf8 = codecs.lookup(forced).name == "utf-8"
        return "utf-8-sig" if is_utf8 and sample.startswith(codecs.BOM_UTF8) else forced
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            if encoding == "utf-16" and b"\0" not in sample:
                raise DataError(
                    f"{name} starts with the mark of UTF-16 but is not UTF-16: remove its first two bytes, or pass "
                    "its encoding, such as encoding='utf-8'"
                )
            return encoding
    if b"\0" in sample:
        raise DataError(
            f"{name} holds NUL bytes: not a text file (or UTF-16 without a mark: pass encoding='utf-16-le')"
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return _guess(sample, name)
    return "utf-8"


def _guess(sample: bytes, name: str) -> str:
    from charset_normalizer import from_bytes

    telling = b"\n".join(line for line in sample.splitlines() if not line.isascii())
    best = from_bytes(telling[:_GUESS_FROM]).best()
    if best is None:
        raise DataError(f"{name}: can't find out the encoding; pass it, such as encoding='cp1252'")
    return str(best.encoding)
