"""Texts that differ in one word: a place in a text, and words of the same kind from other texts to put there.

A number takes the place of a number, a word with a capital inside a sentence that of another (mostly names), any other
content word that of another content word. All texts of such a list are made alike, so none of them shows by its form
that it is the one that was there before; a reader who knows the language may still see which makes sense.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unembed.corpora.words import is_content_word, word_spans

Kind = Literal["digits", "name", "word"]
KINDS: tuple[Kind, ...] = ("digits", "name", "word")


@dataclass(frozen=True)
class Slot:
    """A text before and after one of its words, and the word itself as it is written."""

    before: str
    after: str
    word: str
    kind: Kind

    def filled(self, word: str) -> str:
        """The text with another word in that place."""
        return f"{self.before}{word}{self.after}"


def find_slots(text: str) -> list[Slot]:
    """Every place of a text in which a word of the same kind could stand."""
    found = []
    for place, (word, start, end) in enumerate(word_spans(text)):
        raw = text[start:end]
        kind: Kind
        if raw.isdigit():
            kind = "digits"
        elif not is_content_word(word) or not raw.isalpha():
            continue
        elif place and raw[0].isupper() and not raw.isupper() and text[:start].rstrip()[-1:] not in (".", "!", "?", ""):
            kind = "name"
        elif raw.islower():
            kind = "word"
        else:
            continue
        found.append(Slot(text[:start], text[end:], raw, kind))
    return found


def slot_lists(texts: Sequence[str], size: int, salt: str) -> dict[str, tuple[Slot, list[str]]]:
    """For each text that has a place for it: one of its slots, rarest kind first, and ``size`` texts with its own.

    What is drawn follows from the text and the salt, never from its place in the list. A list is in alphabetical order.
    """
    slots = {text: find_slots(text) for text in texts}
    pool = {kind: sorted({s.word for found in slots.values() for s in found if s.kind == kind}) for kind in KINDS}
    lists = {}
    for text, found in slots.items():
        rng = np.random.default_rng(int.from_bytes(hashlib.sha256((salt + text).encode()).digest()[:8], "big"))
        for kind in KINDS:
            places = [s for s in found if s.kind == kind]
            others = len(pool[kind]) - 1
            if not places or others < size - 1:
                continue
            slot = places[int(rng.integers(len(places)))]
            drawn = [pool[kind][int(i)] for i in rng.permutation(len(pool[kind]))[:size]]
            chosen = [w for w in drawn if w != slot.word][: size - 1]
            lists[text] = (slot, sorted({text, *(slot.filled(w) for w in chosen)}))
            break
    return {text: (slot, made) for text, (slot, made) in lists.items() if len(made) == size}
