"""From pieces of the encoder's own vocabulary to words of the adversary's (attacks through the weights).

An attack over the word matrix finds tokens: whole words, word pieces ("##ing"), SentencePiece tokens ("▁word").
The game asks for words. Every word of the adversary's vocabulary is cut by the encoder's own tokenizer, and it is
found when all its pieces are.

Weights are shares of the text, and words compete for their pieces: "##s" can't belong to every noun, and "em" need not
be a word of its own beside "embedding". So the complete words get the shares that add up best to the weights of the
pieces, and a word that gets little of its scarcest piece is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from unembed.attacks.inversion.pairs import rows_of
from unembed.corpora.words import Vocabulary
from unembed.encoders.base import WhiteBoxEncoder
from unembed.games.inversion import PieceGuess

#: A word must get this share of its scarcest piece, when other words want the piece, too.
LEAST_SHARE = 0.4
UPDATES = 100
CHUNK = 2048
#: Words are cut as they stand inside a text, because some tokenizers mark the space before a word.
_CARRIER = "a"
_SPECIAL = re.compile(r"\[[^\[\]]{2,}\]|<[^<>]{1,}>")

IntArray = NDArray[np.int64]


def guessable_pieces(tokens: Sequence[str]) -> NDArray[np.bool_]:
    """Which tokens can stand for a part of a text: not ``[CLS]``, ``[unused7]``, ``</s>``, ``<|endoftext|>``."""
    return np.array([not _SPECIAL.fullmatch(token) for token in tokens], dtype=bool)


@dataclass(frozen=True)
class PieceWords:
    """The words of a vocabulary as an encoder's tokenizer cuts them.

    A word has several spellings where the encoder tells capitals apart; each row of ``pieces`` is one, short ones
    filled up with their first piece. Rows stand by falling number of pieces.
    """

    pieces: IntArray
    lengths: IntArray
    word_of: IntArray
    usable: NDArray[np.bool_]
    word_count: int

    @classmethod
    def of(cls, encoder: WhiteBoxEncoder, vocabulary: Vocabulary) -> PieceWords:
        """Cut every word of the vocabulary once."""
        usable = guessable_pieces(encoder.vocabulary)
        carrier = encoder.token_ids([_CARRIER])[0]
        spelt: dict[tuple[int, tuple[int, ...]], None] = {}
        for shape in (str.lower, str.capitalize, str.upper):
            texts = [f"{_CARRIER} {shape(word)}" for word in vocabulary.words]
            for word, ids in enumerate(encoder.token_ids(texts)):
                distinct = tuple(sorted(set(ids[len(carrier) :])))
                if distinct and usable[list(distinct)].all():
                    spelt[(word, distinct)] = None
        rows = sorted(spelt, key=lambda key: (-len(key[1]), key))
        longest = max((len(ids) for _, ids in rows), default=1)
        filled = [ids + (ids[0],) * (longest - len(ids)) for _, ids in rows]
        return cls(
            np.array(filled, dtype=np.int64).reshape(len(rows), longest),
            np.array([len(ids) for _, ids in rows], dtype=np.int64),
            np.array([word for word, _ in rows], dtype=np.int64),
            usable,
            len(vocabulary),
        )

    def guess(self, pieces: csr_matrix) -> PieceGuess:
        """Words and pieces found; ``pieces`` is CSR ``[targets, tokens]`` of weights, absent where not above zero."""
        found = csr_matrix(pieces, dtype=np.float32, copy=True)
        found.sum_duplicates()
        found.data[(found.data <= 0) | ~self.usable[found.indices]] = 0
        found.eliminate_zeros()
        parts = [self._words(found[start : start + CHUNK]) for start in range(0, found.shape[0], CHUNK)]
        empty = csr_matrix((0, self.word_count), dtype=np.float32)
        return PieceGuess(csr_matrix(vstack(parts)) if parts else empty, found)

    def _words(self, found: csr_matrix) -> csr_matrix:
        """Words of some targets, with their scarcest piece, or less where others need it too, as confidence."""
        rows, spellings = self._complete(found)
        keys = rows_of(found) * found.shape[1] + found.indices
        where = np.searchsorted(keys, rows[:, None] * found.shape[1] + self.pieces[spellings])
        scarcest = found.data[where].min(axis=1)
        inside = np.arange(where.shape[1]) < self.lengths[spellings][:, None]
        shares = _shares(where, inside, found.data.astype(np.float64), scarcest)
        confidence = np.where(shares >= LEAST_SHARE * scarcest, np.minimum(shares, scarcest), 0).astype(np.float32)
        surest = np.argsort(-confidence, kind="stable")[: np.count_nonzero(confidence)]
        cells, first = np.unique(rows[surest] * self.word_count + self.word_of[spellings[surest]], return_index=True)
        where_words = (cells // self.word_count, cells % self.word_count)
        return csr_matrix((confidence[surest[first]], where_words), shape=(found.shape[0], self.word_count))

    def _complete(self, found: csr_matrix) -> tuple[IntArray, IntArray]:
        """Target and spelling wherever all pieces of the spelling were found."""
        inside = np.arange(self.pieces.shape[1]) < self.lengths[:, None]
        ends = np.concatenate([[0], np.cumsum(self.lengths)])
        shape = (len(self.lengths), found.shape[1])
        spelt = csr_matrix((np.ones(ends[-1], dtype=np.int32), self.pieces[inside], ends), shape=shape)
        present = csr_matrix((np.ones(found.nnz, dtype=np.int32), found.indices, found.indptr), shape=found.shape)
        counts = (present @ spelt.T).tocoo()
        whole = counts.data == self.lengths[counts.col]
        return counts.row[whole].astype(np.int64), counts.col[whole].astype(np.int64)


def _shares(
    where: IntArray, inside: NDArray[np.bool_], weights: NDArray[np.float64], start: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The non-negative shares of the complete words that best add up to the pieces' weights (least squares).

    ``where`` are the places of each word's pieces among the weights. Multiplicative updates keep shares above zero and
    never raise the error; a word nobody competes with has its share at once.
    """
    places, words = where[inside], np.repeat(np.arange(len(where)), inside.sum(axis=1))
    wanted = np.bincount(words, weights[places], minlength=len(where))
    shares = start.astype(np.float64)
    for _ in range(UPDATES):
        explained = np.bincount(places, shares[words], minlength=len(weights))
        shares *= wanted / np.bincount(words, explained[places], minlength=len(where))
    return shares
