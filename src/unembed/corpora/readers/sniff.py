"""Finding out what nobody said: encoding and delimiter."""

from __future__ import annotations

import codecs
import csv
from collections.abc import Sequence

from unembed.errors import DataError

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_GUESS_FROM = 64 << 10
DELIMITERS = (",", ";", "\t", "|")


def find_encoding(sample: bytes, forced: str | None, name: str) -> str:
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


def find_delimiter(lines: Sequence[str], *, quotes: bool) -> str:
    """The delimiter under which the first lines have the same number of cells, and the most of them."""
    best, most = ",", 1
    for delimiter in DELIMITERS:
        widths = _widths(lines, delimiter, quotes)
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    return best


def _widths(lines: Sequence[str], delimiter: str, quotes: bool) -> set[int]:
    try:
        rows = [
            row
            for row in csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
            if row
        ]
    except csv.Error:
        return set()
    if len(rows) > 2:
        rows = rows[:-1]  # the sample may end inside the last row
    return {len(row) for row in rows}
