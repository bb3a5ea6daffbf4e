"""Which words a defense is to hide, and which texts hold them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.substitution import contains_keyword
from unembed.corpora.words import at_even_steps, telling_words
from unembed.defenses.base import Owned
from unembed.errors import CannotMeasureError, UsageError

#: With fewer texts that hold a word, or that don't, nothing is learnt of it.
FEWEST = 5
#: So many words are proposed, chosen as the keyword game chooses its own.
PROPOSED = 10
CANDIDATES = 400


def keywords_in(name: str, keywords: Sequence[str], owned: Owned | None, rows: int) -> tuple[str, ...]:
    """The words that the defense ``name`` hides: those given, or frequent content words at even steps over their ranks.

    They are words of the texts, so they are no learnt facts: those may be shown to anybody.
    """
    if isinstance(keywords, str):
        raise UsageError(f"'keywords' of the defense '{name}' is a list of words")
    if owned is None or len(owned.texts) != rows:
        raise CannotMeasureError(f"the defense '{name}' needs the texts of the vectors, to know which hold a keyword")
    if keywords:
        return tuple(keywords)
    listed = [w for w in telling_words(owned.texts, min_count=FEWEST) if not w.isdigit()][:CANDIDATES]
    enough = np.minimum(*_counts(contains_keyword(owned.texts, listed))) >= 2 * FEWEST
    found = at_even_steps([word for word, kept in zip(listed, enough, strict=True) if kept], PROPOSED)
    if not found:
        raise CannotMeasureError(f"the defense '{name}' found no word in enough of the texts: give 'keywords'")
    return found


def texts_with(name: str, keywords: Sequence[str], texts: Sequence[str]) -> NDArray[np.bool_]:
    """Which text holds which keyword, ``[texts, keywords]``; each must be in some and not in others."""
    held = contains_keyword(texts, keywords)
    few = np.flatnonzero(np.minimum(*_counts(held)) < FEWEST)
    if len(few):
        number, count = int(few[0]) + 1, int(held[:, few[0]].sum())
        raise CannotMeasureError(
            f"the defense '{name}' can't learn keyword number {number}: {count:,} of {len(held):,} texts hold it, and "
            f"{FEWEST} with it and {FEWEST} without it are needed"
        )
    return held


def _counts(held: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    return held.sum(axis=0), (~held).sum(axis=0)
