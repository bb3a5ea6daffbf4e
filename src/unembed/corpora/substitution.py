"""The word substitution trick (Pan et al. 2020, VI-B): balanced training texts for one keyword.

Each text gives two examples: itself, and a copy whose label is the other way round. In a copy of a text
without the keyword a random word becomes the keyword; in a copy of a text with it, every occurrence
becomes another random word of the vocabulary. The corpus is twice enlarged and balanced.

Where the adversary's texts do not hold the keyword at all, a random word is a poor place for it: a body part
that stands where a verb stood makes vectors unlike those of real sentences. Pan VI-C therefore takes sentences with one
noun (*salad*) and puts the keyword, or a random word, in its place: :func:`substitute_at`. :func:`noun_like` finds such
words in any English corpus, by the company they keep.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unembed.corpora.words import Vocabulary, is_content_word, word_spans, words
from unembed.errors import DataError, UsageError

BoolArray = np.ndarray[Any, np.dtype[np.bool_]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]
Spans = list[tuple[str, int, int]]
# fmt: off
_DETERMINERS = frozenset((
    "a", "an", "the", "my", "your", "his", "her", "its", "our", "their", "this", "that", "these", "those", "no", "any",
    "each", "every",
))
# fmt: on


@dataclass(frozen=True)
class Substituted:
    """Texts with labels (does it hold the keyword?), and the row each was made from."""

    texts: list[str]
    labels: BoolArray
    source_rows: IntArray
    original: BoolArray
    """Whether the text is the source itself and not a changed copy."""


def substitute(
    texts: Sequence[str], keyword: str, vocabulary: Vocabulary | Sequence[str], rng: np.random.Generator
) -> Substituted:
    """Originals and changed copies for one keyword; texts without a word are left out.

    A keyword of several words takes the place of as many neighbouring words, and random words that take its
    place are as many as it has, so that the length tells nothing.
    """
    key = _keyword_words(keyword)
    pool = [w for w in (vocabulary.words if isinstance(vocabulary, Vocabulary) else vocabulary) if w not in key]
    if not pool:
        raise DataError("the vocabulary has no word besides the keyword to put in its place")
    out: list[str] = []
    labels: list[bool] = []
    rows: list[int] = []
    for row, text in enumerate(texts):
        spans = word_spans(text)
        if not spans:
            continue
        places = _occurrences(spans, key)
        changed = (
            _without(text, spans, places, len(key), pool, rng)
            if places
            else _with(text, spans, len(key), keyword.strip(), rng)
        )
        out += [text, changed]
        labels += [bool(places), not places]
        rows += [row, row]
    original = np.arange(len(out)) % 2 == 0
    return Substituted(out, np.array(labels, dtype=bool), np.array(rows, dtype=np.int64), original)


def substitute_at(text: str, places: frozenset[str], keyword: str, rng: np.random.Generator) -> str | None:
    """The text with the keyword in the place of one of its words that are among ``places``; None where none is.

    All occurrences of the chosen word change, so that nothing of it is left beside the keyword.
    """
    spans = word_spans(text)
    there = sorted({word for word, _, _ in spans} & places)
    if not there:
        return None
    gone = there[int(rng.integers(len(there)))] if len(there) > 1 else there[0]
    changed = text
    for word, start, end in reversed(spans):
        if word == gone:
            changed = changed[:start] + _in_case_of(text[start:end], keyword) + changed[end:]
    return changed


def exchange_one(text: str, pool: Sequence[str], rng: np.random.Generator) -> str | None:
    """The text with one random word exchanged for another of the pool; None where there is no word to exchange."""
    spans = word_spans(text)
    if not spans:
        return None
    word, start, end = spans[int(rng.integers(len(spans)))]
    other = pool[int(rng.integers(len(pool)))]
    if other == word:
        return None
    return text[:start] + _in_case_of(text[start:end], other) + text[end:]


def noun_like(texts: Iterable[str], *, min_count: int = 3, share: float = 0.2) -> frozenset[str]:
    """English words that often stand between a determiner and a function word or the end, as nouns do."""
    seen: Counter[str] = Counter()
    alike: Counter[str] = Counter()
    for text in texts:
        found = words(text)
        for before, word, after in zip(["", *found], found, [*found[1:], ""], strict=False):
            if is_content_word(word):
                seen[word] += 1
                alike[word] += before in _DETERMINERS and not is_content_word(after)
    return frozenset(w for w, n in seen.items() if n >= min_count and alike[w] >= share * n)


def contains_keyword(texts: Sequence[str], keywords: Sequence[str]) -> BoolArray:
    """Which text holds which keyword as whole words, upper or lower case: ``[texts, keywords]``."""
    keys = [_keyword_words(keyword) for keyword in keywords]
    single: dict[str, list[int]] = {}
    for column, key in enumerate(keys):
        if len(key) == 1:
            single.setdefault(key[0], []).append(column)
    phrases = [(column, f" {' '.join(key)} ") for column, key in enumerate(keys) if len(key) > 1]
    held = np.zeros((len(texts), len(keywords)), dtype=bool)
    for row, text in enumerate(texts):
        found = words(text)
        for word in single.keys() & set(found):
            held[row, single[word]] = True
        if phrases:
            joined = f" {' '.join(found)} "
            for column, phrase in phrases:
                held[row, column] = phrase in joined
    return held


def _keyword_words(keyword: str) -> tuple[str, ...]:
    key = tuple(words(keyword))
    if not key:
        raise UsageError("a keyword must hold a letter or a digit")
    return key


def _occurrences(spans: Spans, key: tuple[str, ...]) -> list[int]:
    """Where the keyword starts among the words; occurrences do not overlap."""
    found: list[int] = []
    place = 0
    while place <= len(spans) - len(key):
        if all(spans[place + i][0] == word for i, word in enumerate(key)):
            found.append(place)
            place += len(key)
        else:
            place += 1
    return found


def _without(
    text: str, spans: Spans, places: list[int], length: int, pool: Sequence[str], rng: np.random.Generator
) -> str:
    positions = [p + i for p in places for i in range(length)]
    drawn = rng.integers(len(pool), size=len(positions))
    changed = text
    for position, word in sorted(zip(positions, drawn, strict=True), reverse=True):
        _, start, end = spans[position]
        changed = changed[:start] + _in_case_of(text[start:end], pool[int(word)]) + changed[end:]
    return changed


def _with(text: str, spans: Spans, length: int, keyword: str, rng: np.random.Generator) -> str:
    first = int(rng.integers(max(len(spans) - length + 1, 1)))
    last = min(first + length, len(spans)) - 1
    start, end = spans[first][1], spans[last][2]
    return text[:start] + _in_case_of(text[start : spans[first][2]], keyword) + text[end:]


def _in_case_of(model: str, word: str) -> str:
    """The word written as the one it replaces: all capitals, a capital first, or as it is."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    if model[:1].isupper() and word[:1].islower():
        return word[:1].upper() + word[1:]
    return word
