"""The one way to open a file that a user names: a regular file, within stated limits, and every failure one line.

Without limits a device, a pipe, a bomb or an endless line costs the machine's memory or hangs. The limits stand in
``docs/how-to/large-files.md``. Standard input is never read.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import stat
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

from unembed.errors import DataError, UsageError

MAX_DOCUMENT = 64 << 20
"""Bytes of a file that is read whole (settings, results, signatures): real ones have kilobytes to a few MiB."""
MAX_LINE = 16 << 20
"""Characters of one line: a vector of a hundred thousand numbers has two million."""
UNPACKED_FLOOR = 64 << 20
"""Bytes a packed file may always expand to, whatever its size."""
UNPACKED_RATIO = 200
"""Above the floor: how many times its own size a packed file may expand to; text and vectors stay far below."""

_PARSERS_RAISE = (
    *(ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, EOFError),
    *(SyntaxError, TokenError),  # numpy reads its headers as Python source
)
_GZIP_MAGIC = b"\x1f\x8b"
_NO_WAIT = getattr(os, "O_NONBLOCK", 0)  # opening a pipe must not wait for its writer


@contextmanager
def parsing(complaint: str) -> Iterator[None]:
    """Whatever a parser raises for input it was not made for becomes a DataError with this one line."""
    try:
        yield
    except _PARSERS_RAISE as error:
        raise DataError(complaint) from error


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """What the system and the decompressor raise becomes one line that names the file."""
    try:
        yield
    except PermissionError:
        raise DataError(f"{path} can't be read: no permission") from None
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise DataError(f"{path} is not a whole gzip file: damaged or cut short") from error
    except IsADirectoryError:
        raise DataError(f"{path} is a folder; name a file in it") from None
    except OSError as error:
        raise DataError(f"{path} can't be read: {error.strerror or type(error).__name__}") from error


@contextmanager
def opened(path: Path, what: str = "file", hint: str = "") -> Iterator[IO[bytes]]:
    """The bytes of a regular file; ``what`` it should be, and a ``hint`` where there is none, go into the message."""
    with reading(path):
        try:
            file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | _NO_WAIT))  # noqa: SIM115
        except (FileNotFoundError, NotADirectoryError, ValueError):
            raise UsageError(f"no {what} at {path}" + (f": {hint}" if hint else "")) from None
        with file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise DataError(f"{path} is not a regular file (a pipe, socket or device); save it to a file first")
            yield file


def check_file(path: Path, what: str = "file") -> None:
    """Refuse what is missing, empty or not a regular file: for readers that open a path themselves."""
    with opened(path, what) as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise DataError(f"{path} is empty")


def read_bytes(path: Path, what: str, hint: str = "", *, limit: int = MAX_DOCUMENT) -> bytes:
    """A whole file of at most ``limit`` bytes."""
    with opened(path, what, hint) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise DataError(f"{path} is larger than {limit >> 20} MiB, too large for {_a(what)}")
    return data


def read_text(path: Path, what: str, hint: str = "") -> str:
    """A whole file of UTF-8 text."""
    with parsing(f"{path} is not {_a(what)}: it is not UTF-8 text"):
        return read_bytes(path, what, hint).decode("utf-8-sig")


def read_json(path: Path, what: str, hint: str = "", *, limit: int = MAX_DOCUMENT) -> dict[str, Any]:
    """A whole file that is one JSON object."""
    data = read_bytes(path, what, hint, limit=limit)
    with parsing(f"{path} is not {_a(what)}: it is not valid JSON, nested too deep or with too long a number"):
        value = json.loads(data)
    if not isinstance(value, dict):
        raise DataError(f"{path} is not {_a(what)}: it is not a JSON object")
    return value


def read_toml(path: Path, what: str) -> dict[str, Any]:
    """A whole TOML file."""
    text = read_text(path, what)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is not valid TOML: {error}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} can't be used: it is nested too deep or holds too long a number") from error


def _a(what: str) -> str:
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def unpacked_limit(size: int) -> int:
    """Bytes that a packed file of this size may expand to."""
    return max(UNPACKED_FLOOR, UNPACKED_RATIO * size)


@contextmanager
def unpacked(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked if it is gzip."""
    with opened(path) as raw:
        packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        limit = unpacked_limit(os.fstat(raw.fileno()).st_size)
        yield io.BufferedReader(_Gunzip(raw, limit, path), 1 << 18) if packed else raw


def lines(
    path: Path, encoding: str, limit: int = MAX_LINE, *, keep_ends: bool = False, errors: str = "strict"
) -> Iterator[str]:
    """Lines of a text file, plain or gzip, without their ends (kept on demand); none longer than ``limit``."""
    number = 0
    with unpacked(path) as stream:
        text = io.TextIOWrapper(stream, encoding, errors, "" if keep_ends else None)
        try:
            while line := text.readline(limit + 2):
                number += 1
                if len(line.rstrip("\r\n")) > limit:
                    raise DataError(f"{path} line {number} is longer than {limit:,} characters; split it")
                if "\0" in line:
                    raise DataError(f"{path} line {number} holds a NUL byte: not a text file")
                yield line if keep_ends else line.rstrip("\n")
        except UnicodeDecodeError:
            raise DataError(
                f"{path} can't be decoded as {encoding} after line {number}; save it as UTF-8, or pass its encoding, "
                "such as encoding='cp1252'"
            ) from None
        finally:
            text.detach()


class _Gunzip(io.RawIOBase):
    """Decompresses and refuses to expand far beyond what text can."""

    def __init__(self, packed: IO[bytes], limit: int, path: Path) -> None:
        self._unpacked: IO[bytes] = gzip.GzipFile(fileobj=packed)  # type: ignore[assignment]
        self._limit, self._done, self._path = limit, 0, path

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read(len(buffer))
        self._done += len(data)
        if self._done > self._limit:
            raise DataError(
                f"{self._path} expands to more than {self._limit >> 20} MiB, far more than text can: "
                "not unpacked further; if it is what you expect, unpack it first"
            )
        buffer[: len(data)] = data
        return len(data)
