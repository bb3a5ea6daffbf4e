"""What the encoders trained with gensim share: their settings and the training itself.

gensim trains in compiled code; with one worker the same texts and seed give the same table, bit for bit. With more
workers threads write to the table as they come: quicker, and never the same twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from unembed.corpora.words import words
from unembed.encoders.saving import LearntEncoder
from unembed.errors import DataError, MissingExtraError, UsageError
from unembed.seeds import seed_for

#: gensim reads no further in one sentence; longer texts are handed over in pieces.
MAX_WORDS = 10_000
SETTINGS = ("dimension", "window", "negatives", "learning_rate", "epochs", "min_count", "sample", "workers")


def require_gensim(feature: str) -> Any:
    """The module ``gensim.models``, or a one-line error with the install line."""
    try:
        import gensim.models
    except ImportError as error:
        raise MissingExtraError(feature, "word-vectors") from error
    return gensim.models


def read_words(texts: Sequence[str]) -> list[list[str]]:
    """Each text as its words; equal words share one object, so a corpus costs eight bytes per word."""
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


class GensimEncoder(LearntEncoder):
    """An encoder that gensim trains; a family may set other defaults."""

    dimension: int = 100
    window: int = 5
    negatives: int = 25
    learning_rate: float = 0.05
    epochs: int = 5
    min_count: int = 5
    sample: float = 1e-3
    workers: int = 1
    seed: int = 0
    normalise: bool = False

    def _trained(self, make: Any, documents: Iterable[Any], texts: int, **more: Any) -> Any:
        """A model after all its epochs; an error with a way out where no word is frequent enough to be learnt."""
        check_settings(**{name: getattr(self, name) for name in SETTINGS})
        model = make(
            vector_size=self.dimension,
            window=self.window,
            negative=self.negatives,
            alpha=self.learning_rate,
            epochs=self.epochs,
            min_count=self.min_count,
            sample=self.sample,
            workers=self.workers,
            seed=seed_for(self.seed, self.kind) % 2**32,  # gensim takes 32 bits
            **more,
        )
        model.build_vocab(documents)
        if not len(model.wv):
            raise DataError(
                f"no word occurs min_count={self.min_count} times in {texts} texts: fit on more texts or lower "
                "min_count"
            )
        model.train(documents, total_examples=model.corpus_count, epochs=self.epochs)
        return model
