"""Doc2Vec: distributed bag of words with word vectors trained alongside (Corò 4.1.2, item 4), through gensim.

Training is gensim's: ``benchmarks/word_vectors.py`` gave 251,000 words a second of CPU time on one busy core, those
that sub-sampling leaves out included (20 epochs over 50,000 sentences in 81 s). Unseen texts, which is every text
that is encoded, go through :mod:`dbow_inference`.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unembed.corpora.words import words
from unembed.encoders.base import DenseVectors, EncoderCard
from unembed.encoders.callables import unit_norm
from unembed.encoders.dbow_inference import DbowInference, keep_probability
from unembed.encoders.gensim_training import SETTINGS, GensimEncoder, pieces, read_words, require_gensim
from unembed.encoders.saving import Arrays, State, damaged
from unembed.errors import DataError, UnembedWarning


class Doc2VecEncoder(GensimEncoder):
    """Vectors that predict a text's words; must see texts first.

    A text's vector is found by training it alone against the frozen table, with the same epochs, rate, sub-sampling
    and negatives as in training. The choices in it depend on the text only, so equal texts get equal vectors.

    Args:
        dimension: of the vectors.
        window: most words to either side that count as neighbours, for the word vectors trained alongside.
        negatives: random words set against each word.
        learning_rate: at the start; falls linearly to 1e-4.
        epochs: passes over the texts, and over a text at inference.
        min_count: rarer words are left out.
        sample: threshold above which frequent words are sub-sampled; 0: never. The published 1e-5 suits millions of
            words; on some thousand texts it leaves next to nothing, which a warning says.
        workers: threads; only 1 gives the same table twice.
        seed: of everything random.
        normalise: texts to unit L2 norm.
    """

    kind: ClassVar[str] = "doc2vec"
    arrays: ClassVar[tuple[str, ...]] = ("counts", "output")

    dimension: int = 300
    window: int = 15
    negatives: int = 5
    learning_rate: float = 0.025
    epochs: int = 20
    sample: float = 1e-5

    def fit(self, texts: Sequence[str]) -> Doc2VecEncoder:
        """Train words and output vectors on texts."""
        if not len(texts):
            raise DataError("doc2vec can't be fitted on no texts")
        model = self._trained_model(texts)
        counts = np.array([model.wv.get_vecattr(word, "count") for word in model.wv.index_to_key], dtype=np.int64)
        self._keep(model.wv.index_to_key, counts, model.syn1neg)
        left = float((keep_probability(counts, self.sample) * counts).sum()) / len(texts)
        if left < 1:
            warnings.warn(
                f"sub-sampling with sample={self.sample:g} leaves {left:.2f} words per text and pass: raise sample for "
                "a small collection (0 turns it off)",
                UnembedWarning,
                stacklevel=2,
            )
        return self

    @property
    def card(self) -> EncoderCard:
        """What this encoder is; the digest covers the trained table and the settings of inference."""
        self._require_fitted()
        return EncoderCard(
            name="doc2vec",
            family="doc2vec",
            digest=self._digest,
            dimension=self.output_.shape[1],
            normalised=self.normalise,
            open_weights=True,
            options=tuple((name, str(getattr(self, name))) for name in (*SETTINGS, "seed")),
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """Inferred vectors, float32; a text without a known word is a row of zeros."""
        self._require_fitted()
        rows = self._rows
        vectors = self._inference.vectors([[rows[word] for word in words(text) if word in rows] for text in texts])
        return unit_norm(vectors) if self.normalise else vectors

    @property
    def vocabulary(self) -> list[str]:
        """The words, most frequent first."""
        self._require_fitted()
        return self.words_

    def _state(self, folder: Path) -> tuple[State, Arrays]:
        return {"words": self.words_}, {"counts": self.counts_, "output": self.output_}

    def _restore(self, state: State, arrays: Arrays, folder: Path) -> None:
        size = len(state["words"])
        if arrays["counts"].shape != (size,) or arrays["output"].shape != (size, self.dimension):
            raise damaged(folder)
        self._keep(state["words"], arrays["counts"], arrays["output"])

    def _trained_model(self, texts: Sequence[str]) -> Any:
        models = require_gensim(self.kind)
        tagged = models.doc2vec.TaggedDocument
        documents = [tagged(piece, [row]) for row, found in enumerate(read_words(texts)) for piece in pieces(found)]
        return self._trained(models.Doc2Vec, documents, len(texts), dm=0, dbow_words=1, hs=0)

    def _keep(self, names: Sequence[str], counts: NDArray[Any], output: NDArray[Any]) -> None:
        self.words_ = [str(name) for name in names]
        self.counts_ = np.ascontiguousarray(counts, dtype=np.int64)
        self.output_ = np.ascontiguousarray(output, dtype=np.float32)
        for cached in ("_rows", "_inference", "_digest"):
            self.__dict__.pop(cached, None)

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {word: row for row, word in enumerate(self.words_)}

    @cached_property
    def _inference(self) -> DbowInference:
        return DbowInference(
            self.output_,
            self.counts_,
            sample=self.sample,
            negatives=self.negatives,
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            seed=self.seed,
        )

    @cached_property
    def _digest(self) -> str:
        total = hashlib.sha256(json.dumps(["doc2vec", self.words_, self.get_params()]).encode())
        total.update(self.counts_.tobytes())
        total.update(self.output_.tobytes())
        return total.hexdigest()
