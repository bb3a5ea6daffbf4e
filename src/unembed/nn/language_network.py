"""The network of a language model: an embedding, LSTM layers, and a score for each token that may come next."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence


class LanguageNetwork(nn.Module):
    """Reads the numbers of tokens; the number after the last token marks a start where read, an end where said."""

    def __init__(self, vocabulary: int, units: int, layers: int, embedding: int | None, dropout: float) -> None:
        super().__init__()
        width = embedding or units
        self.words = nn.Embedding(vocabulary + 1, width)
        self.cells = nn.LSTM(width, units, layers, batch_first=True, dropout=dropout if layers > 1 else 0.0)
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(units, vocabulary + 1)

    def read(self, tokens: Any, state: tuple[Tensor, Tensor] | None = None) -> tuple[Any, tuple[Tensor, Tensor]]:
        """What the last layer says after each token, packed where the tokens are, and the states behind them."""
        if isinstance(tokens, PackedSequence):
            tokens = tokens._replace(data=self.drop(self.words(tokens.data)))
        else:
            tokens = self.drop(self.words(tokens))
        outputs, after = self.cells(tokens, state)
        return outputs, after

    def scores(self, outputs: Tensor) -> Tensor:
        """Of every token, and last of the end."""
        scores: Tensor = self.out(self.drop(outputs))
        return scores
