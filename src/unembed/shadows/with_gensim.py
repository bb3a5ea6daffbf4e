"""word2vec by gensim: the implementation that the papers used, and that ours is held against."""

from __future__ import annotations

import numpy as np

from unembed.encoders.gensim_training import MAX_WORDS, require_gensim
from unembed.errors import CannotMeasureError
from unembed.params import Params
from unembed.shadows.base import IntArray, Settings, TokenCorpus, WordTable


class Gensim:
    """Trains with gensim. With one worker a seed gives the same table again; with more it is quicker, and never does.

    gensim cuts a text after 10,000 words.
    """

    def __init__(self, settings: Settings | None = None, *, workers: int = 1) -> None:
        self.settings = settings or Settings()
        self.workers = workers

    @property
    def identity(self) -> Params:
        """Its name, version and settings."""
        return {"trainer": "gensim", "version": 1, "workers": self.workers, **vars(self.settings)}

    def train(self, corpus: TokenCorpus, rows: IntArray, seed: int) -> WordTable:
        """A model of the texts ``rows``, read in this order in every pass."""
        models = require_gensim("shadow models trained by gensim")
        asked = self.settings
        # gensim takes words, not numbers; as it goes on it hashes them, so short ones are as good.
        names = [str(number) for number in range(len(corpus.vocabulary))]
        sentences = [
            [names[number] for number in text[start : start + MAX_WORDS]]
            for text in (corpus.text(int(row)).tolist() for row in rows)
            for start in range(0, len(text), MAX_WORDS)
        ]
        model = models.Word2Vec(
            vector_size=asked.dimension,
            window=asked.window,
            negative=asked.negatives,
            alpha=asked.learning_rate,
            min_alpha=asked.last_rate,
            epochs=asked.passes,
            min_count=asked.min_count,
            sample=asked.sample,
            sg=int(asked.architecture == "skip-gram"),
            workers=self.workers,
            seed=seed % 2**32,
        )
        model.build_vocab(sentences)
        if not len(model.wv):
            raise CannotMeasureError(
                f"no word occurs min_count={asked.min_count} times in {len(rows):,} texts: nothing can be learnt"
            )
        model.train(sentences, total_examples=model.corpus_count, epochs=model.epochs)
        numbers = np.array([int(name) for name in model.wv.index_to_key], dtype=np.int64)
        order = np.argsort(numbers)
        return WordTable(numbers[order], np.asarray(model.wv.vectors, dtype=np.float32)[order])
