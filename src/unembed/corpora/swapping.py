"""Putting another name into a sentence, or taking the name out (Corò 5.2.3).

A name is one word or several ("Ada Lovelace"). Where it stands in full it is replaced in full; where only its
last word stands, that word is replaced by the last word of the new name. The last word is what recovery is
scored on, as in the thesis.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from unembed.corpora.words import word_spans, words
from unembed.errors import UsageError


def scored_word(name: str) -> str:
    """The last word of a name, as texts are cut into words."""
    return name_words(name)[-1]


def name_words(name: str) -> tuple[str, ...]:
    """The words of a name; a name without a letter is refused."""
    found = tuple(words(name))
    if not found or not any(map(str.isalpha, found[-1])):
        raise UsageError("a name must end in a word with a letter in it")
    return found


def swap_name(text: str, old: str, new: str) -> str:
    """The text with every occurrence of one name replaced by another, written in the case of the old one."""
    name_words(new)
    fresh = [new[start:end] for _, start, end in word_spans(new)]

    def written(standing: Sequence[str]) -> str:
        taken = fresh if len(standing) > 1 else fresh[-1:]
        return " ".join(_like(standing[-1], word) for word in taken)

    return _replace(text, name_words(old), written)


def remove_name(text: str, name: str) -> str:
    """The text without the name; what it leaves behind (two spaces, a space before a comma) is tidied."""
    out = _replace(text, name_words(name), lambda standing: "")
    return re.sub(r"\s+(?=[,.;:!?])", "", re.sub(r"\s{2,}", " ", out)).strip()


def _replace(text: str, name: tuple[str, ...], written: Callable[[Sequence[str]], str]) -> str:
    """Every occurrence, in full or by its last word alone, as ``written`` has it."""
    spans = word_spans(text)
    found = [word for word, _, _ in spans]
    out: list[str] = []
    done = place = 0
    while place < len(spans):
        length = 0
        if tuple(found[place : place + len(name)]) == name:
            length = len(name)
        elif found[place] == name[-1]:
            length = 1
        if length:
            start, end = spans[place][1], spans[place + length - 1][2]
            standing = [text[s:e] for _, s, e in spans[place : place + length]]
            out += [text[done:start], written(standing)]
            done = end
        place += max(length, 1)
    return "".join([*out, text[done:]])


def _like(model: str, word: str) -> str:
    """A word in the case of another: all capitals, a capital first, or lower."""
    if len(model) > 1 and model.isupper():
        return word.upper()
    return word[:1].upper() + word[1:] if model[:1].isupper() else word.lower()
