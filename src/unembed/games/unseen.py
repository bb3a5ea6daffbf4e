"""What stands in a target beyond the tokens its encoder reads: no vector can hold it, whatever the attack."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.substitution import contains_keyword
from unembed.corpora.words import whole_words
from unembed.games.base import Material


def read_texts(material: Material, rows: Sequence[int] | NDArray[np.int64]) -> list[str] | None:
    """The part of each target that the encoder reads; None where that is not known, or all are read whole."""
    if material.seen is None:
        return None
    return [whole_words(material.target.texts[i], int(material.seen[i])) for i in rows]


def unread_words(words: float, read: float) -> str:
    """The note on words that count as missed though no vector can hold them."""
    return f"{1 - read / max(words, 1):.1%} of the targets' words lie beyond what the encoder reads and count as missed"


def unread_keywords(
    material: Material, keywords: Sequence[str], present: NDArray[np.bool_], asked: NDArray[np.bool_]
) -> tuple[str, ...]:
    """The note on targets that are asked about a keyword which they hold only beyond what the encoder reads."""
    rows = np.arange(len(material.target))
    texts = read_texts(material, rows)
    if texts is None:
        return ()
    wanted = present & asked
    missing = int((wanted & ~contains_keyword(texts, keywords)).sum())
    if not missing:
        return ()
    said = f"in {missing:,} of the {int(wanted.sum()):,} cases where a text holds the keyword"
    return (f"{said} it stands only beyond what the encoder reads: no vector can tell",)
