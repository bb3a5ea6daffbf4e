"""Long texts cut into chunks with an overlap, as retrieval systems cut them before encoding.

The unit is the word of ``corpora.words``; of the scripts that put no spaces between words (Chinese, Japanese), the
character. A chunk has at most ``size`` words. It ends at the last end of a sentence or line among its last quarter,
or at ``size`` words where there is none. The next one starts ``overlap`` words before that end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.paragraphs import sentence_ends
from unembed.corpora.words import word_spans
from unembed.errors import DataError, UsageError

#: The column that names the text a chunk was cut from.
ORIGIN = "#text"
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_OTHER_ENDS = re.compile(r"[。！？]+[」』”’）]*|\n")
_SPACE = re.compile(r"\s")


def default_overlap(size: int) -> int:
    """A tenth of a chunk."""
    return size // 10


def chunk_problem(size: int, overlap: int) -> str | None:
    """What is wrong with a size and an overlap; None if nothing is."""
    if size < 1:
        return "a chunk needs at least one word"
    if not 0 <= overlap <= size // 2:
        return f"the overlap of chunks of {size} words must be from 0 to {size // 2} words"
    return None


def count_words(text: str) -> int:
    """The length of a text as chunks count it."""
    return sum(1 for _ in _units(text))


def split_text(text: str, size: int, overlap: int) -> list[str]:
    """The chunks of a text, in order; a text of at most ``size`` words stays as it is."""
    problem = chunk_problem(size, overlap)
    if problem:
        raise UsageError(problem)
    units = np.array(list(_units(text)), dtype=np.int64).reshape(-1, 2)
    if len(units) <= size:
        return [text]
    starts, ends = units.T
    marks = [*sentence_ends(text), *(match.end() for match in _OTHER_ENDS.finditer(text))]
    borders = np.unique([0, *np.searchsorted(starts, marks)])
    chunks: list[str] = []
    first = 0
    while True:
        last = min(first + size, len(units))
        if last < len(units):
            near = int(borders[np.searchsorted(borders, last, side="right") - 1])
            # Three quarters of a chunk are more than its overlap, so every chunk starts after the one before.
            last = near if near - first >= size - size // 4 else last
        begin = 0 if first == 0 else _cut(text, int(ends[first - 1]), int(starts[first]))
        end = len(text) if last == len(units) else _cut(text, int(ends[last - 1]), int(starts[last]))
        chunks.append(text[begin:end].strip())
        if last == len(units):
            return chunks
        first = last - overlap


def chunk_corpus(corpus: Corpus, size: int, overlap: int | None = None) -> Corpus:
    """One row per chunk: ids ``id#1``, ``id#2`` …, columns repeated, and in ``ORIGIN`` the id of the text."""
    if ORIGIN in corpus.columns:
        raise DataError(f"{corpus.name}: a column is called '{ORIGIN}', which names the text of a chunk: rename it")
    shared = default_overlap(size) if overlap is None else overlap
    cut = [split_text(text, size, shared) for text in corpus.texts]
    rows = [row for row, chunks in enumerate(cut) for _ in chunks]
    repeated = corpus.select(rows)
    return Corpus(
        [chunk for chunks in cut for chunk in chunks],
        [f"{corpus.ids[row]}#{n}" for row, chunks in enumerate(cut) for n in range(1, len(chunks) + 1)],
        {**repeated.columns, ORIGIN: repeated.ids},
        corpus.name,
    )


def _units(text: str) -> Iterator[tuple[int, int]]:
    """Where each word starts and ends."""
    for _, start, end in word_spans(text):
        at = start
        for sign in _UNSPACED.finditer(text, start, end):
            if at < sign.start():
                yield at, sign.start()
            yield sign.span()
            at = sign.end()
        if at < end:
            yield at, end


def _cut(text: str, end: int, start: int) -> int:
    """Where to cut between two words: at the first space, so that quotes stay with the word they belong to."""
    space = _SPACE.search(text, end, start)
    return space.start() if space else start
