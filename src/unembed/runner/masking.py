"""Recovered words and people's names are masked unless the user asks to see them."""

from __future__ import annotations

#: In the place of a word that was not recovered.
UNSEEN = "•"


def mask(word: str) -> str:
    """First letter and length stay: enough to see that something came back, not what."""
    return word[:1] + UNSEEN * (len(word) - 1) if len(word) > 1 else UNSEEN
