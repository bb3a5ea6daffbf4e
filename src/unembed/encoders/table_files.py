"""Word vectors from text files: word2vec's format (a first line "words dimension") and GloVe's (none)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from unembed.encoders.base import DenseVectors
from unembed.errors import DataError
from unembed.files import check_file, lines

_ROWS_AT_ONCE = 20_000


def read_table(path: Path) -> tuple[list[str], DenseVectors]:
    """Words and their vectors in the file's order; gzip is unpacked on the way; of a repeated word the first."""
    check_file(path, "table of word vectors")
    blocks = list(_blocks(lines(path, "utf-8", errors="replace"), path))
    words = [word for names, _ in blocks for word in names]
    if not words:
        raise DataError(f"{path} holds no word vectors")
    first = {word: row for row, word in reversed(list(enumerate(words)))}
    kept = sorted(first.values())
    matrix = np.concatenate([rows for _, rows in blocks])[kept]
    if not np.isfinite(matrix).all():
        raise DataError(f"{path} holds NaN or infinite values")
    return [words[row] for row in kept], matrix


def _blocks(rows: Iterator[str], path: Path) -> Iterator[tuple[list[str], DenseVectors]]:
    """Some thousand lines at a time, so that a table of gigabytes never lies in memory as text."""
    dimension: int | None = None
    words: list[str] = []
    numbers: list[str] = []
    for number, line in enumerate(rows, start=1):
        stripped = line.rstrip()
        if not stripped:
            continue
        if dimension is None:
            parts = stripped.split(" ")
            if number == 1 and len(parts) == 2 and all(p.isdigit() for p in parts):
                dimension = int(parts[1])
                continue
            dimension = len(parts) - 1
        # Cut from the right: some tables hold words with a space in them.
        word, *values = stripped.rsplit(" ", dimension)
        if len(values) != dimension or dimension < 1:
            raise DataError(f"{path}, line {number}: expected a word and {dimension} numbers")
        words.append(word)
        numbers.extend(values)
        if len(words) == _ROWS_AT_ONCE:
            yield words, _floats(numbers, dimension, path, number)
            words, numbers = [], []
    if words and dimension is not None:
        yield words, _floats(numbers, dimension, path, number)


def _floats(numbers: list[str], dimension: int, path: Path, last: int) -> DenseVectors:
    try:
        return np.array(numbers, dtype=np.float32).reshape(-1, dimension)
    except ValueError:
        raise DataError(f"{path}: something is not a number in the {_ROWS_AT_ONCE} lines up to line {last}") from None
