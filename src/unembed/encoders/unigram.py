"""Unigram word pieces (SentencePiece): the cut of a text whose pieces have the highest summed score.

No piece holds the word mark anywhere but at its start, so the best cut of a text is the best cuts of its words side
by side; each word is cut once and remembered. The limit is one look-up per position and piece length, for new words
only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache

MARK = "▁"
UNKNOWN = 0
RESERVED = 6
_UNKNOWN_SCORE = -100.0


class UnigramTokeniser:
    """Texts to rows of a piece table; the table's first six rows are reserved symbols, row 0 the unknown.

    Args:
        pieces: every piece with its log-probability, as the table lists them.
    """

    def __init__(self, pieces: Sequence[tuple[str, float]]) -> None:
        self.pieces = [piece for piece, _ in pieces]
        self._scored = {piece: (score, row) for row, (piece, score) in enumerate(pieces) if row >= RESERVED}
        self._longest = max((len(piece) for piece in self._scored), default=1)
        self._word = lru_cache(maxsize=200_000)(self._best_cut)

    def ids(self, text: str) -> list[int]:
        """The rows of a text's pieces; characters no piece holds become one unknown each run."""
        return [row for word in unicodedata.normalize("NFKC", text).split() for row in self._word(MARK + word)]

    def _best_cut(self, word: str) -> tuple[int, ...]:
        """Viterbi over the positions of one word; of equal cuts the one whose last piece is shorter."""
        score = [0.0] + [float("-inf")] * len(word)
        back = [(0, UNKNOWN)] * (len(word) + 1)
        for end in range(1, len(word) + 1):
            for start in range(max(0, end - self._longest), end):
                found = self._scored.get(word[start:end])
                if found is None and end - start == 1:
                    found = (_UNKNOWN_SCORE, UNKNOWN)
                if found is not None and score[start] + found[0] >= score[end]:
                    score[end], back[end] = score[start] + found[0], (start, found[1])
        cut: list[int] = []
        at = len(word)
        while at > 0:
            at, row = back[at]
            if row != UNKNOWN or not cut or cut[-1] != UNKNOWN:
                cut.append(row)
        return tuple(reversed(cut))
