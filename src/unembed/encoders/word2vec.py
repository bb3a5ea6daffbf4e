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
from unembed.encoders.gensim_training import GensimEncoder, pieces, read_words, require_gensim
from unembed.encoders.word_tables import WordTableEncoder
from unembed.errors import UnknownNameError

Architecture: TypeAlias = Literal["skip-gram", "cbow"]
ARCHITECTURES = ("skip-gram", "cbow")


class Word2VecEncoder(GensimEncoder, WordTableEncoder):
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

    def _train(self, texts: Sequence[str]) -> tuple[list[str], DenseVectors]:
        wv = self._trained_model(require_gensim(self.kind).Word2Vec, texts).wv
        return list(wv.index_to_key), wv.vectors

    def _trained_model(self, make: Any, texts: Sequence[str], **more: Any) -> Any:
        """A gensim model of one of the word-table families."""
        if self.architecture not in ARCHITECTURES:
            raise UnknownNameError("architecture", str(self.architecture), ARCHITECTURES)
        sentences = [piece for sentence in read_words(texts) for piece in pieces(sentence)]
        return self._trained(make, sentences, len(texts), sg=int(self.architecture == "skip-gram"), **more)
