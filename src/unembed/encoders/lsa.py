"""Latent semantic analysis of a bag of words: truncated randomized SVD, unit norm (Corò 4.1.2, item 3)."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.bag_of_words import HashingEncoder, TfidfEncoder
from unembed.encoders.base import DenseVectors, EncoderCard
from unembed.encoders.callables import unit_norm
from unembed.encoders.saving import Arrays, LearntEncoder, State, damaged
from unembed.errors import DataError, UnembedWarning, UnknownNameError, UsageError


class LsaEncoder(LearntEncoder):
    """1000 dense concepts of the tf-idf or hashed words; must see texts first.

    A corpus of fewer texts or words than ``components`` gives as many components as it can carry; a
    warning and the card say so.
    """

    kind: ClassVar[str] = "lsa"
    arrays: ClassVar[tuple[str, ...]] = ("columns", "space")

    base: Literal["tfidf", "hashing"] = "tfidf"
    components: int = 1000
    language: str | None = "en"
    seed: int = 0

    def fit(self, texts: Sequence[str]) -> LsaEncoder:
        """Learn the words (for tf-idf) and the reduced space."""
        if self.base not in ("tfidf", "hashing"):
            raise UnknownNameError("base of lsa", str(self.base), ["tfidf", "hashing"])
        if self.components < 1:
            raise UsageError("components must be at least 1")
        words = self._new_base()
        if isinstance(words, TfidfEncoder):
            words.fit(texts)
        counts = words.encode(texts)
        columns = np.unique(counts.indices).astype(np.int64)
        rank = min(counts.shape[0], len(columns))
        if rank < 2:
            raise DataError(f"lsa needs at least two texts with words; {len(texts)} texts carry {rank} component")
        kept = min(self.components, rank)
        if kept < self.components:
            warnings.warn(
                f"lsa keeps {kept} components instead of {self.components}: the texts carry no more",
                UnembedWarning,
                stacklevel=2,
            )
        from sklearn.decomposition import TruncatedSVD
        from threadpoolctl import threadpool_limits

        reducer = TruncatedSVD(n_components=kept, algorithm="randomized", random_state=self.seed)
        with threadpool_limits(limits=1):  # the last bits, and so the digest, would depend on the number of threads
            reducer.fit(counts[:, columns])
        self._hold(words, columns, np.ascontiguousarray(reducer.components_.T, dtype=np.float32))
        return self

    def _hold(self, words: TfidfEncoder | HashingEncoder, columns: NDArray[np.int64], space: DenseVectors) -> None:
        """Keep the fitted parts: of the words' columns those that occurred, and their rows in the reduced space."""
        self.words_, self.columns_, self.space_ = words, columns, space
        digest = hashlib.sha256(columns.tobytes())
        digest.update(space.tobytes())
        self.digest_ = hashlib.sha256(f"lsa {words.card.digest} {digest.hexdigest()}".encode()).hexdigest()

    @property
    def card(self) -> EncoderCard:
        """What this encoder is; ``components`` asked for beside the dimension there is."""
        self._require_fitted()
        return EncoderCard(
            name=f"lsa of {self.base}",
            family="lsa",
            digest=self.digest_,
            dimension=self.space_.shape[1],
            normalised=True,
            options=(
                ("base", self.base),
                ("components asked for", str(self.components)),
                ("language", str(self.language)),
            ),
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """Dense float32 rows of unit norm; a text without a known word is a row of zeros."""
        self._require_fitted()
        return unit_norm(np.asarray(self.words_.encode(texts)[:, self.columns_] @ self.space_, dtype=np.float32))

    def _state(self, folder: Path) -> tuple[State, Arrays]:
        if isinstance(self.words_, TfidfEncoder):
            self.words_.save(folder / "words")
        return {}, {"columns": self.columns_, "space": self.space_}

    def _restore(self, state: State, arrays: Arrays, folder: Path) -> None:
        words = TfidfEncoder.load(folder / "words") if self.base == "tfidf" else self._new_base()
        columns, space = arrays["columns"], arrays["space"]
        whole = columns.ndim == 1 and space.ndim == 2 and len(columns) == len(space) > 0
        if (
            not whole
            or columns.dtype.kind not in "iu"
            or not 0 <= columns.min() <= columns.max() < words.card.dimension
        ):
            raise damaged(folder)
        self._hold(words, columns.astype(np.int64), np.ascontiguousarray(space, dtype=np.float32))

    def _new_base(self) -> TfidfEncoder | HashingEncoder:
        if self.base == "tfidf":
            return TfidfEncoder(language=self.language)
        return HashingEncoder(language=self.language)
