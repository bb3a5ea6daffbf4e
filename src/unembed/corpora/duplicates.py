"""Duplicates within a corpus and copies of target texts in the adversary's corpus.

Texts are compared as :func:`~unembed.corpora.comparison.comparable` gives them. Three rules, each exact (no random
sketch is involved: every pair a rule describes is found, and no other):

1. *Equal*: the same words.
2. *Near*: the sets of word 3-grams have a Jaccard index of at least a threshold.
3. *Quoted*: of the word 2-grams of the shorter text more than a third stand in the longer one too, and so do more
   than a third of those that are rare in the collection, at least three. This finds quotations, excerpts, and texts
   that were retyped or partly reworded. Texts made from one template share many 2-grams but few rare ones, and stay.

The time grows with the number of words and of pairs that share a rare n-gram, not with the number of all pairs. 10,000
texts against 10,000 took 5 s on one core for texts of 66 words and 10 s for e-mails (``benchmarks/twins.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from unembed.corpora.comparison import compared_words, joined, normalised
from unembed.corpora.corpus import Corpus
from unembed.corpora.shingles import BoolArray, FloatArray, IntArray, Pairs, Shingles
from unembed.corpora.words import words
from unembed.errors import UsageError

THRESHOLD = 0.7
_SHINGLE = 3
#: What a quotation shares of the shorter text's word 2-grams: this share of them and some more, because of a short text
#: little is shared by chance already. With one of eight words changed 5 of 7 are left.
_QUOTED, _QUOTED_MORE = 0.35, 2.5
#: How many rare 2-grams both texts have at least.
_RARE_SHARED = 3
#: A 2-gram is rare if no more than so many targets have it, or one in so many, and of the adversary's texts the same.
#: A template shows on both sides; copies of one target may be many, but only on the adversary's.
_RARE_IN_TARGETS, _RARE_AMONG_TARGETS = 3, 500
_RARE_IN_ADVERSARY, _RARE_AMONG_ADVERSARY = 50, 200
_ADVERSARY_AT_ONCE = 20_000


@dataclass(frozen=True)
class DuplicateReport:
    """Counts of :func:`drop_duplicates`."""

    rows: int
    dropped: int
    kept: int


@dataclass(frozen=True)
class LeakReport:
    """Counts of :func:`remove_leaks`; each removed text counts once, under the first rule that finds it."""

    rows: int
    """Texts the adversary had."""
    targets: int
    exact: int
    """Removed because a target is the same text but for case, white space and punctuation."""
    disguised: int
    """Removed because a target is the same text but for mark-up, accents, invisible or look-alike characters."""
    near: int
    """Removed because a target shares most of its word 3-grams."""
    quoted: int
    """Removed because one of the two texts holds a good part of the other."""
    kept: int
    threshold: float

    @property
    def removed(self) -> int:
        """Texts removed under any rule."""
        return self.rows - self.kept


def drop_duplicates(corpus: Corpus) -> tuple[Corpus, DuplicateReport]:
    """The corpus with the first of each set of equal texts (after :func:`~unembed.corpora.comparison.normalised`)."""
    first: dict[str, int] = {}
    for row, text in enumerate(corpus.texts):
        first.setdefault(normalised(text), row)
    kept = corpus.select(list(first.values()))
    return kept, DuplicateReport(len(corpus), len(corpus) - len(kept), len(kept))


def remove_leaks(adversary: Corpus, target: Corpus, *, threshold: float = THRESHOLD) -> tuple[Corpus, LeakReport]:
    """The adversary's corpus without any text that is a duplicate or near-duplicate of a target or quotes one."""
    _check_threshold(threshold)
    targets: dict[str, list[str]] = {}
    for text in target.texts:
        found = compared_words(text)
        targets.setdefault(joined(found, text), found)
    theirs = list(targets.values())
    equal, near, quoted = (np.zeros(len(adversary), dtype=bool) for _ in range(3))
    for start in range(0, len(adversary) if theirs else 0, _ADVERSARY_AT_ONCE):
        texts = adversary.texts[start : start + _ADVERSARY_AT_ONCE]
        mine = [compared_words(text) for text in texts]
        part = slice(start, start + len(texts))
        equal[part] = [joined(found, text) in targets for found, text in zip(mine, texts, strict=True)]
        near[part] = _but(equal[part], mine, lambda some: _near(some, theirs, threshold))
        quoted[part] = _but(equal[part] | near[part], mine, lambda some: _quoting(some, theirs))
    written = {_as_written(text) for text in target.texts} if equal.any() else set()
    exact = sum(_as_written(adversary.texts[row]) in written for row in np.flatnonzero(equal))
    kept = np.flatnonzero(~(equal | near | quoted))
    report = LeakReport(
        rows=len(adversary),
        targets=len(target),
        exact=exact,
        disguised=int(equal.sum()) - exact,
        near=int(near.sum()),
        quoted=int(quoted.sum()),
        kept=len(kept),
        threshold=threshold,
    )
    return adversary.select(kept), report


def near_duplicates(
    left: Sequence[str], right: Sequence[str], *, threshold: float = THRESHOLD
) -> tuple[IntArray, IntArray, FloatArray]:
    """All pairs (row of left, row of right, Jaccard index of word 3-grams) at or above the threshold.

    A text of fewer than three words has no 3-gram: it pairs with texts that are equal after
    :func:`~unembed.corpora.comparison.normalised`, with index 1.
    """
    _check_threshold(threshold)
    mine, theirs = [compared_words(text) for text in left], [compared_words(text) for text in right]
    parts = list(Shingles(mine, theirs, _SHINGLE).similar(threshold)) if mine and theirs else []
    short = [i for i, found in enumerate(theirs) if len(found) < _SHINGLE]
    parts.append(_equal_pairs(left, [i for i, found in enumerate(mine) if len(found) < _SHINGLE], right, short))
    rows, columns, scores = (np.concatenate([part[i] for part in parts]) for i in range(3))
    order = np.lexsort((columns, rows))
    return rows[order].astype(np.int64), columns[order].astype(np.int64), scores[order].astype(np.float64)


def _check_threshold(threshold: float) -> None:
    if not 0.0 < threshold <= 1.0:
        raise UsageError(f"threshold must be above 0 and at most 1, not {threshold}")


def _as_written(text: str) -> str:
    """A text without case, white space and punctuation, its characters as they are."""
    return " ".join(words(text)) or " ".join(text.casefold().split())


def _but(done: BoolArray, mine: Sequence[list[str]], find: Callable[[list[list[str]]], BoolArray]) -> BoolArray:
    """What ``find`` says of the texts that are not done yet; False for the others."""
    found = np.zeros(len(done), dtype=bool)
    rest = np.flatnonzero(~done)
    found[rest] = find([mine[int(i)] for i in rest])
    return found


def _near(mine: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]], threshold: float) -> BoolArray:
    """Which of my texts share most of their word 3-grams with one of theirs."""
    return _found(Shingles(mine, theirs, _SHINGLE).similar(threshold, once=True), len(mine))


def _quoting(mine: Sequence[Sequence[str]], theirs: Sequence[Sequence[str]]) -> BoolArray:
    """Which of my texts hold a good part of one of theirs, or are a good part of one."""
    pairs = Shingles(mine, theirs, 2)
    of_mine, of_theirs = pairs.counts()
    rare = of_theirs <= max(_RARE_IN_TARGETS, len(theirs) // _RARE_AMONG_TARGETS)
    rare &= of_mine <= max(_RARE_IN_ADVERSARY, len(mine) // _RARE_AMONG_ADVERSARY)
    return _found(pairs.quoting(_QUOTED, _QUOTED_MORE, rare, _RARE_SHARED), len(mine))


def _found(pairs: Iterable[Pairs], rows: int) -> BoolArray:
    """Which left rows are in one of the pairs."""
    found = np.zeros(rows, dtype=bool)
    for left, _, _ in pairs:
        found[left] = True
    return found


def _equal_pairs(left: Sequence[str], mine: Sequence[int], right: Sequence[str], theirs: Sequence[int]) -> Pairs:
    by_text: dict[str, list[int]] = {}
    for j in theirs:
        by_text.setdefault(normalised(right[j]), []).append(j)
    found = [(i, j) for i in mine for j in by_text.get(normalised(left[i]), ())]
    pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], np.ones(len(pairs))
