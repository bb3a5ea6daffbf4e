"""Lines of a text file, plain or gzip, in constant memory, with every failure as a DataError."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from unembed.corpora.readers.options import ReadOptions
from unembed.corpora.readers.sniff import find_encoding
from unembed.errors import DataError

GZIP_MAGIC = b"\x1f\x8b"
BOMB_FLOOR = 64 << 20
"""Bytes a gzip file may always expand to, whatever its size."""
BOMB_RATIO = 200
"""Above the floor: how many times its own size a gzip file may expand to; text stays far below."""
SAMPLE = 4 << 20

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


class _Gunzip(io.RawIOBase):
    """Decompresses and refuses to expand far beyond what text can."""

    def __init__(self, packed: IO[bytes], size: int, name: str) -> None:
        self._unpacked: IO[bytes] = gzip.GzipFile(fileobj=packed)  # type: ignore[assignment]
        self._limit = max(BOMB_FLOOR, BOMB_RATIO * size)
        self._done, self._name = 0, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read(len(buffer))
        self._done += len(data)
        if self._done > self._limit:
            raise DataError(
                f"{self._name} expands to more than {self._limit >> 20} MiB, far more than text can: "
                "not unpacked further; if it is what you expect, unpack it first"
            )
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turns what the system and the decompressor raise into one-line errors that name the file."""
    try:
        yield
    except PermissionError:
        raise DataError(f"{path.name} can't be read: no permission") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path.name} is not a whole gzip file: damaged or cut short") from error
    except OSError as error:
        raise DataError(f"{path.name} can't be read: {error.strerror or type(error).__name__}") from error


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if it is gzip."""
    with reading(path), path.open("rb") as raw:
        if raw.read(2) != GZIP_MAGIC:
            raw.seek(0)
            yield raw
            return
        raw.seek(0)
        yield io.BufferedReader(_Gunzip(raw, path.stat().st_size, path.name), 1 << 18)


def encoding_of(path: Path, options: ReadOptions) -> str:
    """The encoding a file is read with: forced, or found in its first bytes."""
    with open_bytes(path) as stream:
        sample = stream.read(SAMPLE)
    if not sample:
        raise DataError(f"{path.name} is empty")
    for magic, advice in _FOREIGN.items():
        if sample.startswith(magic):
            raise DataError(f"{path.name} is {advice}")
    return find_encoding(sample, options.encoding, path.name)


def lines(path: Path, options: ReadOptions, *, limit: int, keep_ends: bool = False) -> Iterator[str]:
    """Lines without their ends (kept on demand); longer than ``limit`` characters is an error."""
    encoding = encoding_of(path, options)
    number = 0
    with open_bytes(path) as stream:
        text = io.TextIOWrapper(stream, encoding=encoding, newline="" if keep_ends else None)
        try:
            while line := text.readline(limit + 2):
                number += 1
                if len(line.rstrip("\r\n")) > limit:
                    raise DataError(
                        f"{path.name} line {number} is longer than {limit:,} characters; "
                        "split the text or raise max_cell"
                    )
                if "\0" in line:
                    raise DataError(f"{path.name} line {number} holds a NUL byte: not a text file")
                yield line if keep_ends else line.rstrip("\n")
        except UnicodeDecodeError:
            raise DataError(
                f"{path.name} can't be decoded as {encoding} after line {number}; "
                "pass the right one, such as encoding='cp1252'"
            ) from None
        finally:
            text.detach()
