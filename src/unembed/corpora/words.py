"""The one word tokeniser of the toolkit, stop words, vocabularies, and which words a text holds.

Keyword labels, set metrics, duplicate detection and word substitution all cut texts the same way, so
that a word counted as recovered is the word that was asked for.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from typing import Any

import numpy as np

from unembed.errors import UnknownNameError, UsageError

# Letters and digits, plus the combining marks of scripts that write vowels as marks.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e\u102b-\u103e"
_CHARACTER = rf"(?:[^\W_]|[{_MARKS}])"
_WORD = re.compile(rf"{_CHARACTER}+(?:['’]{_CHARACTER}+)*")
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")

LANGUAGES = ("en", "it")
#: Words in a larger share of the texts say too little of any of them.
MOST_COMMON = 0.2


def words(text: str) -> list[str]:
    """Lower-cased words in order; digits count as words, an apostrophe inside a word stays."""
    if text.isascii():
        return _ASCII_WORD.findall(text.lower())
    return [fold(word) for word in _WORD.findall(text)]


def word_spans(text: str) -> list[tuple[str, int, int]]:
    """The words as :func:`words` gives them, with where each starts and ends in the text."""
    return [(fold(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)]


def whole_words(text: str, end: int) -> str:
    """The text up to a character, without a word that goes on beyond it."""
    for match in _WORD.finditer(text):
        if match.end() > end:
            return text[: min(end, match.start())]
    return text[:end]


def fold(word: str) -> str:
    """One spelling for a word: lower case, composed accents, straight apostrophe."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFC", word.lower()).replace("’", "'")


@cache
def stop_words(language: str = "en") -> frozenset[str]:
    """The function words of a language, as :func:`words` cuts them."""
    if language not in LANGUAGES:
        raise UnknownNameError("language", language, LANGUAGES)
    source = resources.files("unembed.corpora").joinpath("stopwords", f"{language}.txt")
    return frozenset(source.read_text(encoding="utf-8").split())


STOP_WORDS = stop_words("en")
"""English function words."""


def is_content_word(word: str, language: str = "en") -> bool:
    """Whether a word carries meaning of its own: two characters or more, a letter, no function word."""
    return len(word) > 1 and word not in stop_words(language) and any(map(str.isalpha, word))


def content_words(text: str, language: str = "en") -> list[str]:
    """The words of a text without function words, single characters and plain numbers."""
    return [word for word in words(text) if is_content_word(word, language)]


@dataclass(frozen=True)
class Vocabulary:
    """Words by falling frequency, ties in alphabetical order, with their counts."""

    words: tuple[str, ...]
    counts: np.ndarray[Any, np.dtype[np.int64]]
    """Occurrences of each word."""
    document_counts: np.ndarray[Any, np.dtype[np.int64]]
    """Texts that hold each word."""
    texts: int
    """Texts the counts come from."""
    language: str = "en"

    @cached_property
    def index(self) -> dict[str, int]:
        """Word → position."""
        return {word: i for i, word in enumerate(self.words)}

    @cached_property
    def content(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which words are content words."""
        return np.array([is_content_word(word, self.language) for word in self.words], dtype=bool)

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.index


def build_vocabulary(
    texts: Iterable[str], *, size: int = 20_000, min_count: int = 2, language: str = "en"
) -> Vocabulary:
    """The ``size`` most frequent words that occur at least ``min_count`` times."""
    if size < 1 or min_count < 1:
        raise UsageError("size and min_count of a vocabulary must be at least 1")
    counts: Counter[str] = Counter()
    documents: Counter[str] = Counter()
    total = 0
    for text in texts:
        found = words(text)
        counts.update(found)
        documents.update(set(found))
        total += 1
    ranked = sorted((w for w, c in counts.items() if c >= min_count), key=lambda w: (-counts[w], w))[:size]
    return Vocabulary(
        tuple(ranked),
        np.array([counts[w] for w in ranked], dtype=np.int64),
        np.array([documents[w] for w in ranked], dtype=np.int64),
        total,
        language,
    )


def telling_words(texts: Sequence[str], *, min_count: int, language: str = "en") -> list[str]:
    """Content words of some texts that are not in too many of them, the most frequent first."""
    vocabulary = build_vocabulary(texts, size=20_000, min_count=min_count, language=language)
    shares = vocabulary.document_counts / max(len(texts), 1)
    found = zip(vocabulary.words, vocabulary.content, shares, strict=True)
    return [word for word, content, share in found if content and share <= MOST_COMMON and len(word) >= 3]


def at_even_steps(ranked: Sequence[str], count: int) -> tuple[str, ...]:
    """``count`` of them at even steps from the first to the last; all, where there are no more."""
    if len(ranked) <= count:
        return tuple(ranked)
    return tuple(ranked[i] for i in np.linspace(0, len(ranked) - 1, count).round().astype(int))


def word_sets(texts: Sequence[str], vocabulary: Vocabulary) -> Any:
    """A SciPy CSR matrix ``[texts, words]`` of uint8: 1 where the text holds the word."""
    from scipy.sparse import csr_matrix

    index = vocabulary.index
    columns: list[int] = []
    ends = np.zeros(len(texts) + 1, dtype=np.int64)
    for row, text in enumerate(texts):
        columns.extend(sorted({index[word] for word in words(text) if word in index}))
        ends[row + 1] = len(columns)
    held = np.ones(len(columns), dtype=np.uint8)
    return csr_matrix((held, np.array(columns, dtype=np.int64), ends), shape=(len(texts), len(vocabulary)))
