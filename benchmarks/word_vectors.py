"""Word vectors: training and inference beside gensim's own, GloVe beside a plain loop of the published algorithm."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from measure import Case, Yardstick
from numpy.typing import NDArray

from unembed.corpora.generators.messages import generate_messages
from unembed.corpora.words import words
from unembed.encoders.doc2vec import Doc2VecEncoder
from unembed.encoders.fasttext import FastTextEncoder
from unembed.encoders.glove import GloveEncoder, count_pairs, number_words
from unembed.encoders.word2vec import Word2VecEncoder


def sentences(count: int) -> list[str]:
    """Invented messages."""
    return list(generate_messages(count, seed=0).texts)


def trained(encoder: Word2VecEncoder, count: int) -> Case:
    """Training beside gensim's with the same settings, given texts that are cut into words already."""
    import gensim.models

    texts = sentences(count)
    cut = [words(text) for text in texts]
    make = gensim.models.FastText if isinstance(encoder, FastTextEncoder) else gensim.models.Word2Vec

    def theirs() -> None:
        make(
            cut,
            sg=1,
            vector_size=encoder.dimension,
            window=encoder.window,
            negative=encoder.negatives,
            alpha=encoder.learning_rate,
            epochs=encoder.epochs,
            min_count=encoder.min_count,
            sample=encoder.sample,
            workers=1,
        )

    total = encoder.epochs * sum(map(len, cut))
    return Case("words/s", total, lambda: encoder.fit(texts), (Yardstick("gensim", "reference", theirs),))


class _Watched(Doc2VecEncoder):
    """Keeps gensim's model, which the encoder itself has no use for."""

    def _trained_model(self, texts: Any) -> Any:
        self.trained = super()._trained_model(texts)
        return self.trained


def inferred(folder: Path) -> Case:
    """Doc2Vec's vectors of new texts beside gensim's, from the same table."""
    encoder = _Watched()
    encoder.fit(sentences(500))
    texts = list(generate_messages(2_000, seed=1).texts)

    def theirs() -> None:
        for text in texts:
            encoder.trained.infer_vector(words(text))

    beside = (Yardstick("gensim", "reference", theirs),)
    return Case("texts/s", len(texts), lambda: encoder.encode(texts), beside)


def glove(folder: Path) -> Case:
    """Entries of the co-occurrence matrix, in batches beside one after another."""
    names, occurrences, numbers = number_words(sentences(2_000), min_count=5)
    pairs = count_pairs(occurrences, numbers, size=len(names), window=10)
    trainer = GloveEncoder(iterations=20)
    entries = pairs.tocoo()
    taken = np.random.default_rng(0).choice(entries.nnz, size=8_000)

    def theirs() -> None:
        plain_glove(entries.row[taken], entries.col[taken], entries.data[taken], len(names))

    beside = (Yardstick("a plain loop over entries", "reference", theirs, len(taken)),)
    return Case("entries/s", trainer.iterations * pairs.nnz, lambda: trainer.train_on_pairs(pairs), beside)


def plain_glove(rows: NDArray[Any], columns: NDArray[Any], counts: NDArray[Any], size: int) -> None:
    """The published algorithm, one entry after another."""
    word, context = (np.random.default_rng(k).random((size, 101), dtype=np.float32) / 100 for k in (1, 2))
    word_sum, context_sum = np.ones_like(word), np.ones_like(context)
    for i, j, x in zip(rows, columns, counts, strict=True):
        difference = word[i, :100] @ context[j, :100] + word[i, 100] + context[j, 100] - math.log(x)
        pull = min(1.0, (x / 100) ** 0.75) * difference
        for_word, for_context = pull * context[j], pull * word[i]
        for_word[100] = for_context[100] = pull
        word[i] -= 0.05 * for_word / np.sqrt(word_sum[i])
        context[j] -= 0.05 * for_context / np.sqrt(context_sum[j])
        word_sum[i] += for_word**2
        context_sum[j] += for_context**2


CASES = {
    "train, word2vec": lambda folder: trained(Word2VecEncoder(epochs=1), 1_000),
    "train, fastText": lambda folder: trained(FastTextEncoder(epochs=1), 250),
    "train, GloVe": glove,
    "encode, Doc2Vec": inferred,
}
