"""How quickly word vectors and Doc2Vec are fitted and encode, and what neighbours they find in real sentences.

Run: python benchmarks/word_vectors.py --texts FILE.parquet [--count 50000] [--workers 1] [--only glove]

Every figure is CPU time. Doc2Vec's inference stands beside gensim's own on the same texts and table, GloVe's training
beside a plain loop of the published algorithm over a sample of the same entries, and every fit beside cutting the
same texts into words. Of the texts only counts are printed.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unembed.corpora import read_corpus
from unembed.corpora.words import words
from unembed.encoders.cooccurrence import count_pairs, number_words
from unembed.encoders.doc2vec import Doc2VecEncoder
from unembed.encoders.fasttext import FastTextEncoder
from unembed.encoders.glove import GloveEncoder
from unembed.encoders.word2vec import Word2VecEncoder
from unembed.encoders.word_tables import WordTableEncoder

CLASSES = (
    "january february march april june july august september october november december",
    "monday tuesday wednesday thursday friday saturday sunday",
    "one two three four five six seven eight nine ten",
    "north south east west northern southern eastern western",
    "red blue green yellow white black",
    "father mother son daughter brother sister wife husband",
)


def clock(action: Any) -> tuple[float, Any]:
    """CPU seconds of a call, and its answer."""
    start = time.process_time()
    answer = action()
    return time.process_time() - start, answer


def neighbours_in_class(encoder: WordTableEncoder) -> tuple[int, int]:
    """Words of closed classes whose nearest neighbour in the whole table is of the same class, of how many."""
    rows = {word: row for row, word in enumerate(encoder.vocabulary)}
    matrix = encoder.word_matrix / np.linalg.norm(encoder.word_matrix, axis=1, keepdims=True)
    right = asked = 0
    for members in (line.split() for line in CLASSES):
        for word in (m for m in members if m in rows):
            closeness = matrix @ matrix[rows[word]]
            closeness[rows[word]] = -1
            asked, right = asked + 1, right + (encoder.vocabulary[int(closeness.argmax())] in members)
    return right, asked


def word_tables(texts: list[str], held_out: list[str], workers: int, only: str | None) -> None:
    """Fit and encode with the three families of word tables."""
    cutting, total = clock(lambda: sum(len(words(text)) for text in texts))
    print(f"{len(texts):,} texts, {total:,} words, cut in {cutting:.1f} s")
    for encoder in (Word2VecEncoder(workers=workers), FastTextEncoder(workers=workers), GloveEncoder()):
        if only not in (None, encoder.kind):
            continue
        passes = encoder.epochs if isinstance(encoder, Word2VecEncoder) else encoder.iterations
        wall = time.perf_counter()
        seconds, _ = clock(lambda made=encoder: made.fit(texts))
        wall = time.perf_counter() - wall
        rate, _ = clock(lambda made=encoder: made.encode(held_out))
        right, asked = neighbours_in_class(encoder)
        print(
            f"{encoder.kind:9} fit {seconds:6.1f} s CPU ({wall:.1f} s wall, {passes * total / seconds:,.0f} words/s, "
            f"{seconds / cutting:.0f} x cutting), {len(encoder.vocabulary):,} words, "
            f"encode {len(held_out) / rate:,.0f} texts/s, neighbours of the same class {right} of {asked}"
        )


def glove_against_plain_loop(texts: list[str]) -> None:
    """Entries a second of the batched trainer over those of a loop that takes one entry at a time."""
    names, occurrences, sentences = number_words(texts, min_count=5)
    pairs = count_pairs(occurrences, sentences, size=len(names), window=10)
    trainer = GloveEncoder(iterations=2)
    seconds, _ = clock(lambda: trainer.train_on_pairs(pairs))
    batched = 2 * pairs.nnz / seconds
    sample = pairs.tocoo()
    taken = np.random.default_rng(0).choice(sample.nnz, size=20_000, replace=False)
    plain_seconds, _ = clock(lambda: plain_glove(sample.row[taken], sample.col[taken], sample.data[taken], len(names)))
    plain = len(taken) / plain_seconds
    print(f"glove     {batched:,.0f} entries/s of {pairs.nnz:,}, {batched / plain:,.0f} x a plain loop ({plain:,.0f})")


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


class _Watched(Doc2VecEncoder):
    """Keeps gensim's model, which the encoder itself has no use for."""

    def _trained_model(self, texts: Any) -> Any:
        self.trained = super()._trained_model(texts)
        return self.trained


def doc2vec(texts: list[str], held_out: list[str], workers: int) -> None:
    """Fit, and inference beside gensim's."""
    encoder = _Watched(workers=workers)
    total = sum(len(words(text)) for text in texts)
    wall = time.perf_counter()
    seconds, _ = clock(lambda: encoder.fit(texts))
    wall = time.perf_counter() - wall
    ours, vectors = clock(lambda: encoder.encode(held_out))
    cut = [words(text) for text in held_out]
    theirs, reference = clock(lambda: np.stack([encoder.trained.infer_vector(text) for text in cut]))
    again = np.stack([encoder.trained.infer_vector(text) for text in cut])

    def likeness(a: NDArray[Any], b: NDArray[Any]) -> float:
        a, b = a - reference.mean(axis=0), b - reference.mean(axis=0)
        lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        return float(np.mean((a * b).sum(axis=1) / np.maximum(lengths, 1e-12)))

    print(
        f"doc2vec   fit {seconds:6.1f} s CPU ({wall:.1f} s wall, {encoder.epochs * total / seconds:,.0f} words/s), "
        f"encode {len(held_out) / ours:,.0f} texts/s, {theirs / ours:.2f} x gensim; cosine to gensim's vector after "
        f"centring {likeness(vectors, reference):.3f} (gensim twice {likeness(again, reference):.3f}, wrong text "
        f"{likeness(np.roll(vectors, 1, axis=0), reference):.3f})"
    )


def main() -> None:
    """Fit on the first texts of a file, encode the last ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--column", default="sentence")
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--only", choices=["word2vec", "fasttext", "glove", "doc2vec"])
    given = parser.parse_args()
    texts = read_corpus(given.texts, column=given.column, columns=[]).texts
    fitted, held_out = list(texts[: given.count]), list(texts[-2000:])
    if given.only != "doc2vec":
        word_tables(fitted, held_out, given.workers, given.only)
    if given.only in (None, "glove"):
        glove_against_plain_loop(fitted)
    if given.only in (None, "doc2vec"):
        doc2vec(fitted, held_out, given.workers)


if __name__ == "__main__":
    main()
