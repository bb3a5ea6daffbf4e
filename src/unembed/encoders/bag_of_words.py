"""Bag-of-words encoders: tf-idf and signed feature hashing (Corò 4.1.2, items 1 and 2).

Both drop the language's stop words, read words of at least two characters, hold at most 2^18 features and
scale to unit L2 norm. tf-idf also drops words found in more than half of the texts it is fitted on.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import EncoderCard
from unembed.encoders.saving import Arrays, LearntEncoder, State
from unembed.errors import DataError, UsageError
from unembed.params import Parametrised

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

WORD_PATTERN = r"(?u)\b\w\w+\b"
MAX_FEATURES = 2**18


def _stop_words(language: str | None) -> list[str] | None:
    """The language's stop words, cut into words the way the texts are, so that "don't" takes out "don"."""
    if language is None:
        return None
    from unembed.corpora.words import stop_words

    pieces = {piece for word in stop_words(language) for piece in re.findall(WORD_PATTERN, word.lower())}
    return sorted(pieces)


def _digest(*parts: str | bytes) -> str:
    total = hashlib.sha256()
    for part in parts:
        raw = part.encode() if isinstance(part, str) else part
        total.update(len(raw).to_bytes(8, "big") + raw)
    return total.hexdigest()


class TfidfEncoder(LearntEncoder):
    """Words weighted by tf-idf; must see texts first (in-domain or an external corpus)."""

    kind: ClassVar[str] = "tfidf"
    arrays: ClassVar[tuple[str, ...]] = ("idf",)

    language: str | None = "en"
    max_df: float = 0.5
    max_features: int = MAX_FEATURES

    def fit(self, texts: Sequence[str]) -> TfidfEncoder:
        """Learn the words and their inverse document frequencies."""
        if not 0 < self.max_df <= 1 or self.max_features < 1:
            raise UsageError("max_df must lie in (0, 1] and max_features be at least 1")
        if not len(texts):
            raise DataError("tf-idf can't be fitted on no texts")
        vectorizer = self._vectorizer()
        try:
            vectorizer.fit(texts)
        except ValueError:
            raise DataError(
                f"none of the words of {len(texts)} texts is left after stop words and max_df={self.max_df}: "
                "fit on more texts or raise max_df"
            ) from None
        self._keep([str(w) for w in vectorizer.get_feature_names_out()], vectorizer.idf_)
        return self

    @property
    def card(self) -> EncoderCard:
        """What this encoder is; the digest is that of the words and their weights."""
        self._require_fitted()
        return EncoderCard(
            name="tfidf",
            family="tfidf",
            digest=_digest("tfidf", json.dumps(self.words_), self.idf_.tobytes(), str(self.language)),
            dimension=len(self.words_),
            normalised=True,
            sparse=True,
            options=(("language", str(self.language)), ("max_df", str(self.max_df))),
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> csr_matrix:
        """Sparse float32 rows; a text without a known word is a row of zeros."""
        self._require_fitted()
        return _rows(self._fitted_vectorizer, texts, len(self.words_))

    @property
    def vocabulary(self) -> list[str]:
        """The words, one per column."""
        self._require_fitted()
        return self.words_

    def _state(self, folder: Path) -> tuple[State, Arrays]:
        return {"words": self.words_}, {"idf": self.idf_}

    def _restore(self, state: State, arrays: Arrays, folder: Path) -> None:
        if arrays["idf"].shape != (len(state["words"]),):
            raise DataError(f"{folder}: {len(state['words'])} words but weights of shape {arrays['idf'].shape}")
        self._keep(state["words"], arrays["idf"])

    def _keep(self, words: list[str], idf: NDArray[Any]) -> None:
        self.words_ = words
        self.idf_ = np.ascontiguousarray(idf, dtype=np.float32)
        self.__dict__.pop("_fitted_vectorizer", None)

    def _vectorizer(self, **more: Any) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(
            stop_words=_stop_words(self.language),
            token_pattern=WORD_PATTERN,
            max_df=self.max_df,
            max_features=self.max_features,
            norm="l2",
            dtype=np.float32,
            **more,
        )

    @cached_property
    def _fitted_vectorizer(self) -> Any:
        vectorizer = self._vectorizer(vocabulary={word: i for i, word in enumerate(self.words_)})
        vectorizer.idf_ = self.idf_
        return vectorizer


class HashingEncoder(Parametrised):
    """Words hashed into 2^18 signed columns; stateless, and collisions tend to cancel."""

    language: str | None = "en"
    features: int = MAX_FEATURES

    @property
    def card(self) -> EncoderCard:
        """What this encoder is; its settings are its whole identity."""
        if self.features < 1:
            raise UsageError("features must be at least 1")
        stop = json.dumps(_stop_words(self.language))
        return EncoderCard(
            name="hashing",
            family="hashing",
            digest=_digest("murmurhash3 signed", str(self.features), WORD_PATTERN, stop),
            dimension=self.features,
            normalised=True,
            sparse=True,
            options=(("language", str(self.language)),),
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> csr_matrix:
        """Sparse float32 rows; a text without a word is a row of zeros."""
        return _rows(self._vectorizer, texts, self.features)

    @cached_property
    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import HashingVectorizer

        return HashingVectorizer(
            stop_words=_stop_words(self.language),
            token_pattern=WORD_PATTERN,
            n_features=self.features,
            alternate_sign=True,
            norm="l2",
            dtype=np.float32,
        )


def _rows(vectorizer: Any, texts: Sequence[str], columns: int) -> csr_matrix:
    from scipy.sparse import csr_matrix

    if not len(texts):
        return csr_matrix((0, columns), dtype=np.float32)
    return csr_matrix(vectorizer.transform(texts), dtype=np.float32)
