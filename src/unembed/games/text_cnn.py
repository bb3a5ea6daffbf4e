"""The text classifier of Kim 2014 that Song 6.3 takes as its baseline: words, convolutions, the largest answer.

Song gives 128 filters; widths 3, 4 and 5 and dropout 0.5 are Kim's, and word vectors are learnt from nothing.

A filter's answer to a window is the sum of what each of its columns says of the word at its place. So every column
meets every *distinct* word of the batch once, in one matrix product, and a window adds up rows of the outcome: the
same numbers as a convolution, with as many products as there are distinct words instead of tokens (a fourth of them
in a batch of 128 sentences), and a long text does not make the others of its batch longer. Cost of a step: 6 · distinct
words · dimension · filters · (3 + 4 + 5) FLOP, and 12 · tokens · filters additions forth and back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

#: Token numbers that are not words: filling, and a word never seen in training.
FILLING, UNKNOWN = 0, 1
WIDTHS = (3, 4, 5)


class TextCNN(nn.Module):
    """Texts, as :func:`lay_out` places them, to scores ``[texts, classes]``."""

    def __init__(
        self, tokens: int, classes: int, *, dimension: int = 128, filters: int = 128, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(tokens, dimension, padding_idx=FILLING)
        bounds = [1 / math.sqrt(dimension * width) for width in WIDTHS]
        self.columns = nn.ParameterList(
            torch.empty(dimension, width * filters).uniform_(-bound, bound)
            for width, bound in zip(WIDTHS, bounds, strict=True)
        )
        self.biases = nn.ParameterList(torch.empty(filters).uniform_(-bound, bound) for bound in bounds)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(filters * len(WIDTHS), classes)

    def forward(self, sequence: Tensor, starts: Tensor, lengths: Tensor) -> Tensor:
        """The largest answer of every filter in each text, weighed up."""
        distinct, place = torch.unique(sequence, return_inverse=True)
        embedded = self.words(distinct)
        found = []
        for width, columns, bias in zip(WIDTHS, self.columns, self.biases, strict=True):
            steps = torch.arange(width, device=sequence.device)
            said = (embedded @ columns).view(len(distinct) * width, -1)
            answers = functional.embedding_bag(place[starts[:, None] + steps] * width + steps, said, mode="sum")
            largest = torch.segment_reduce(answers, "max", lengths=lengths, axis=0)
            found.append(torch.relu(largest + bias))
        scores: Tensor = self.out(self.dropout(torch.cat(found, dim=1)))
        return scores


def lay_out(texts: Sequence[Sequence[int]], device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Token numbers of all texts in a row, where windows may begin, and how many begin in each text.

    A text without a token counts as one filling.
    """
    gap = [FILLING] * (max(WIDTHS) - 1)
    sequence: list[int] = []
    starts: list[int] = []
    lengths = []
    for text in texts:
        tokens = list(text) or [FILLING]
        starts += range(len(sequence), len(sequence) + len(tokens))
        lengths.append(len(tokens))
        sequence += tokens + gap
    whole, begin, count = (torch.tensor(part, dtype=torch.int64, device=device) for part in (sequence, starts, lengths))
    return whole, begin, count
