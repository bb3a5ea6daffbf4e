"""What is asked of a language model about a user's data: whether it would say the next word of a pair as they did.

For a pair of neighbouring words, each sentence of the user that has it is read up to the first of the two, and the
model names the likeliest next word (Mahloujifar, Algorithm 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unembed.shadows.base import IntArray, TokenCorpus
from unembed.shadows.signals import Asked, FloatArray


class SaysNext(Protocol):
    """A language model of which the likeliest next word is seen and nothing else."""

    def next_words(self, sequences: Sequence[IntArray], /) -> list[IntArray]:
        """For each sequence the likeliest word after each of its words."""
        ...


@dataclass(frozen=True)
class Lexicon:
    """The words that a language model tells apart: a number for each of the corpus' vocabulary, one for all others."""

    numbers: IntArray
    others: int

    @classmethod
    def of(cls, corpus: TokenCorpus, least: int) -> Lexicon:
        """Words that occur so often in the corpus at least."""
        counts = np.bincount(corpus.tokens, minlength=len(corpus.vocabulary))
        kept = np.flatnonzero(counts >= least)
        numbers = np.full(len(counts), len(kept), dtype=np.int64)
        numbers[kept] = np.arange(len(kept))
        return cls(numbers, len(kept))

    def __len__(self) -> int:
        return self.others + 1

    def sequences(self, corpus: TokenCorpus, rows: IntArray) -> list[IntArray]:
        """Texts as a model of these words reads them."""
        return [self.numbers[corpus.text(int(row))] for row in rows]


@dataclass(frozen=True)
class Places:
    """Where the pairs asked about stand in a user's texts: which pair, in which text, its first word at which place."""

    pair: IntArray
    text: IntArray
    word: IntArray

    def hits(self, said: Sequence[IntArray], texts: Sequence[IntArray], others: int, pairs: int) -> FloatArray:
        """For each pair 1 where the model says its second word in some text, -1 where in none, 0 where no text has it.

        ``said`` is what the model says after each word of the texts; ``others`` is no word in particular.
        """
        found = np.zeros(pairs)
        found[self.pair] = -1
        for pair, text, word in zip(self.pair, self.text, self.word, strict=True):
            if said[text][word] == texts[text][word + 1] != others:
                found[pair] = 1
        return found


def places_of(corpus: TokenCorpus, rows: IntArray, asked: Asked) -> Places:
    """Every place where two words of a pair follow each other, in either order."""
    number = {frozenset(pair): n for n, pair in enumerate(asked.words[asked.pairs].tolist())}
    found = [
        (number[pair], text, word)
        for text, row in enumerate(rows)
        for word, pair in enumerate(map(frozenset, pairwise(corpus.text(int(row)).tolist())))
        if pair in number
    ]
    pair, text, word = np.array(found, dtype=np.int64).reshape(-1, 3).T
    return Places(pair, text, word)


def that_stand(asked: Asked, places: Places) -> Asked:
    """The pairs that stand side by side in a text as it is, with no word passed over between them."""
    kept = np.unique(places.pair)
    return replace(asked, pairs=asked.pairs[kept], gaps=asked.gaps[kept], times=asked.times[kept])


def rare_pairs(corpus: TokenCorpus, asked: Asked, dictionary: frozenset[str]) -> NDArray[np.bool_]:
    """Pairs with a word that a public dictionary does not have (5.2, the second baseline)."""
    rare = np.array([corpus.vocabulary[int(word)] not in dictionary for word in asked.words], dtype=bool)
    return np.asarray(rare[asked.pairs].any(axis=1))
