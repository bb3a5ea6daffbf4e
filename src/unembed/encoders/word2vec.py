"""word2vec, trained through gensim (Song 6.1; Mahloujifar 3.2 with other settings).

Training is gensim's compiled loop. Its limit is memory and arithmetic of a skip-gram pair: (1 + negatives) rows of
d floats read, multiplied and written, 4·d·(1 + negatives) multiply-adds; a word makes about ``window`` + 1 pairs.
``benchmarks/word_vectors.py`` (50,000 sentences of an encyclopedia, one worker on a busy core, CPU time) gave 85,000
words a second with the defaults.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias

from unembed.encoders.base import DenseVectors
from unembed.encoders.gensim_training import (
    check_settings,
    gensim_seed,
    pieces,
    read_words,
    require_gensim,
    require_vocabulary,
)
from unembed.encoders.word_tables import WordTableEncoder
from unembed.errors import UnknownNameError

Architecture: TypeAlias = Literal["skip-gram", "cbow"]
ARCHITECTURES = ("skip-gram", "cbow")


class Word2VecEncoder(WordTableEncoder):
    """Words that predict their neighbours; a text is the mean of its words.

    Args:
        architecture: ``skip-gram`` predicts the neighbours from the word, ``cbow`` the word from them.
        dimension: of the vectors.
        window: most words to either side that count as neighbours.
        negatives: random words set against each neighbour.
        learning_rate: at the start; falls linearly to 1e-4.
        epochs: passes over the texts.
        min_count: rarer words are left out.
        sample: threshold above which frequent words are sub-sampled; 0: never.
        workers: threads; only 1 gives the same table twice.
        seed: of initial vectors, sub-sampling and negatives.
        normalise: texts to unit L2 norm.
        table: a file of word vectors, or a saved encoder, instead of training.
    """

    kind: ClassVar[str] = "word2vec"

    architecture: Architecture = "skip-gram"
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
    table: str | None = None

    def _train(self, texts: Sequence[str]) -> tuple[list[str], DenseVectors]:
        model = self._trained_model(require_gensim(self.kind).Word2Vec, texts)
        return list(model.wv.index_to_key), model.wv.vectors

    def _trained_model(self, make: Any, texts: Sequence[str], **more: Any) -> Any:
        """A gensim model of one of the word-table families after all its epochs."""
        if self.architecture not in ARCHITECTURES:
            raise UnknownNameError("architecture", str(self.architecture), ARCHITECTURES)
        names = ("dimension", "window", "negatives", "learning_rate", "epochs", "min_count", "sample", "workers")
        check_settings(**{name: getattr(self, name) for name in names})
        model = make(
            sg=int(self.architecture == "skip-gram"),
            vector_size=self.dimension,
            window=self.window,
            negative=self.negatives,
            alpha=self.learning_rate,
            epochs=self.epochs,
            min_count=self.min_count,
            sample=self.sample,
            workers=self.workers,
            seed=gensim_seed(self.seed, self.kind),
            **more,
        )
        sentences = [piece for sentence in read_words(texts) for piece in pieces(sentence)]
        model.build_vocab(sentences)
        require_vocabulary(model, len(texts), self.min_count)
        model.train(sentences, total_examples=model.corpus_count, epochs=self.epochs)
        return model
