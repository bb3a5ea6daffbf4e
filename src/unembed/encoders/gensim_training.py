"""What the encoders trained with gensim share: its import, words that gensim can read, the checks of settings.

gensim trains in compiled code; with one worker the same texts and seed give the same table, bit for bit. With more
workers threads write to the table as they come: quicker, and never the same twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from unembed.corpora.words import words
from unembed.errors import DataError, MissingExtraError, UsageError
from unembed.seeds import seed_for

#: gensim reads no further in one sentence; longer texts are handed over in pieces.
MAX_WORDS = 10_000


def require_gensim(feature: str) -> Any:
    """The module ``gensim.models``, or a one-line error with the install line."""
    try:
        import gensim.models
    except ImportError as error:
        raise MissingExtraError(feature, "word-vectors") from error
    return gensim.models


def read_words(texts: Sequence[str]) -> list[list[str]]:
    """Each text as its words; equal words share one object, so a corpus costs eight bytes a word."""
    seen: dict[str, str] = {}
    return [[seen.setdefault(word, word) for word in words(text)] for text in texts]


def pieces(sentence: list[str]) -> Iterator[list[str]]:
    """A sentence in pieces that gensim reads whole."""
    for start in range(0, len(sentence), MAX_WORDS):
        yield sentence[start : start + MAX_WORDS]


def check_settings(**settings: float) -> None:
    """Counts of at least one, rates above zero; ``sample`` may be zero (no sub-sampling)."""
    for name, value in settings.items():
        low = 0 if name == "sample" else 1e-12 if name == "learning_rate" else 1
        if not value >= low:
            raise UsageError(f"{name} must be {'above 0' if name == 'learning_rate' else f'at least {low}'}")


def require_vocabulary(model: Any, sentences: int, min_count: int) -> None:
    """An error with a way out where no word is frequent enough to be learnt."""
    if not len(model.wv):
        raise DataError(
            f"no word occurs min_count={min_count} times in {sentences} texts: fit on more texts or lower min_count"
        )


def gensim_seed(seed: int, kind: str) -> int:
    """gensim takes 32 bits."""
    return seed_for(seed, kind) % 2**32
