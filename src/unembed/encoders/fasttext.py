"""fastText, trained through gensim (Song 6.1): word2vec whose words are made of character n-grams.

A word outside the vocabulary still gets a vector, from the n-grams it shares with words that were seen. A step costs
what word2vec's does plus one row for each n-gram of the word, some 3 to 30 of them.
``benchmarks/word_vectors.py`` gave 59,000 words a second of CPU time where word2vec gave 85,000.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.words import words
from unembed.encoders.base import DenseVectors
from unembed.encoders.gensim_training import require_gensim
from unembed.encoders.saving import Arrays, State, damaged
from unembed.encoders.word2vec import Word2VecEncoder
from unembed.errors import UsageError

_REMEMBERED = 200_000


class FastTextEncoder(Word2VecEncoder):
    """Words as the mean of their own vector and those of their character n-grams.

    Of the ``buckets`` rows that n-grams are hashed into only those that some known word trained are kept; a foreign
    word is the mean of the kept ones among its n-grams, and is skipped where it has none. With ``table`` there are no
    n-grams, and foreign words are skipped.

    Args:
        architecture: ``skip-gram`` predicts the neighbours from the word, ``cbow`` the word from them.
        dimension: of the vectors.
        window: most words to either side that count as neighbours.
        negatives: random words set against each neighbour.
        learning_rate: at the start; falls linearly to 1e-4.
        epochs: passes over the texts.
        min_count: rarer words get no vector of their own.
        sample: threshold above which frequent words are sub-sampled; 0: never.
        shortest: characters of the shortest n-gram.
        longest: characters of the longest n-gram.
        buckets: rows that n-grams are hashed into; training holds 4 · ``dimension`` bytes for each.
        workers: threads; only 1 gives the same table twice.
        seed: of initial vectors, sub-sampling and negatives.
        normalise: texts to unit L2 norm.
        table: a text file of word vectors, or a saved encoder, instead of training.
    """

    kind: ClassVar[str] = "fasttext"
    arrays: ClassVar[tuple[str, ...]] = ("vectors", "bucket_ids", "bucket_rows")

    shortest: int = 3
    longest: int = 6
    buckets: int = 2_000_000

    def layer_output(self, texts: Sequence[str], layer: int) -> DenseVectors:
        """The mean of all words, foreign ones through their n-grams."""
        known = super().layer_output(texts, layer)
        if not len(self._bucket_ids):
            return known
        rows = self._rows
        for number, text in enumerate(texts):
            cut = words(text)
            foreign = [v for v in (self._foreign(word) for word in cut if word not in rows) if v is not None]
            if foreign:
                held = sum(word in rows for word in cut)
                known[number] = (known[number] * held + np.sum(foreign, axis=0)) / (held + len(foreign))
        return known

    def _train(self, texts: Sequence[str]) -> tuple[list[str], DenseVectors]:
        if not 1 <= self.shortest <= self.longest or self.buckets < 1:
            raise UsageError("n-grams need 1 <= shortest <= longest and at least one bucket")
        make = require_gensim(self.kind).FastText
        model = self._trained_model(
            make, texts, min_n=self.shortest, max_n=self.longest, bucket=self.buckets, word_ngrams=1
        )
        used = np.unique(np.concatenate([np.asarray(b, dtype=np.int64) for b in model.wv.buckets_word]))
        self._keep_ngrams(used, model.wv.vectors_ngrams[used], (self.shortest, self.longest, self.buckets))
        return list(model.wv.index_to_key), model.wv.vectors

    def _foreign(self, word: str) -> DenseVectors | None:
        """The vector of a word that has no row, remembered; None where no n-gram of it was trained."""
        remembered = self._remembered
        if word not in remembered:
            if len(remembered) >= _REMEMBERED:
                remembered.clear()
            require_gensim(self.kind)
            from gensim.models.fasttext import ft_ngram_hashes

            hashes = np.asarray(ft_ngram_hashes(word, *self.ngrams_), dtype=np.int64)
            at = np.searchsorted(self._bucket_ids, hashes)
            at = at[self._bucket_ids[np.minimum(at, len(self._bucket_ids) - 1)] == hashes]
            remembered[word] = self._bucket_rows[at].mean(axis=0) if len(at) else None
        return remembered[word]

    @cached_property
    def _remembered(self) -> dict[str, DenseVectors | None]:
        return {}

    @property
    def _bucket_ids(self) -> NDArray[np.int64]:
        return getattr(self, "bucket_ids_", np.zeros(0, dtype=np.int64))

    @property
    def _bucket_rows(self) -> DenseVectors:
        return getattr(self, "bucket_rows_", np.zeros((0, self.matrix_.shape[1]), dtype=np.float32))

    def _keep_ngrams(self, ids: NDArray[Any], rows: NDArray[Any], hashed: tuple[int, int, int]) -> None:
        self.ngrams_ = hashed
        self.bucket_ids_ = np.ascontiguousarray(ids, dtype=np.int64)
        self.bucket_rows_ = np.ascontiguousarray(rows, dtype=np.float32)
        self.__dict__.pop("_remembered", None)

    def _more_arrays(self) -> Arrays:
        return {"bucket_ids": self._bucket_ids, "bucket_rows": self._bucket_rows}

    def _more_state(self) -> State:
        return {"ngrams": list(getattr(self, "ngrams_", ()))}

    def _restore(self, state: State, arrays: Arrays, folder: Path) -> None:
        super()._restore(state, arrays, folder)
        if arrays["bucket_rows"].shape != (len(arrays["bucket_ids"]), self.matrix_.shape[1]):
            raise damaged(folder)
        if state["ngrams"]:
            shortest, longest, buckets = state["ngrams"]
            self._keep_ngrams(arrays["bucket_ids"], arrays["bucket_rows"], (shortest, longest, buckets))
