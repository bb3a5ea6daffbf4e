"""An LSTM that writes a text word by word from a vector (Pan, Appendix F), trained with the true words before each.

A step costs batch · words · (8 · units · (units + embedding) + 2 · units · vocabulary) operations forward, and thrice
that with the gradient; scores of batch · words · vocabulary are held, so batches and vocabularies are kept small.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

#: Numbers of the marks among the words: filling, start of text, end of text, a word outside the vocabulary.
FILL, START, END, UNKNOWN = range(4)
MARKS = 4


class TextDecoder(nn.Module):
    """One LSTM layer whose first state is a map of the vector."""

    def __init__(self, inputs: int, vocabulary: int, units: int, embedding: int, generator: torch.Generator) -> None:
        super().__init__()
        self.start = nn.Linear(inputs, units)
        self.words = nn.Embedding(vocabulary, embedding, padding_idx=FILL)
        self.cell = nn.LSTM(embedding, units, batch_first=True)
        self.out = nn.Linear(units, vocabulary)
        with torch.no_grad():
            for parameter in self.parameters():
                bound = parameter.shape[-1] ** -0.5
                parameter.uniform_(-bound, bound, generator=generator)

    def state(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """The first hidden state is the vector, mapped to the right width; the first cell state is zero."""
        hidden = torch.tanh(self.start(vectors))[None]
        return hidden, torch.zeros_like(hidden)

    def loss(self, vectors: Tensor, texts: Tensor) -> Tensor:
        """Cross-entropy of each word and of the end, given those before it; ``texts`` start with ``START``."""
        outputs, _ = self.cell(self.words(texts[:, :-1]), self.state(vectors))
        scores = self.out(outputs)
        return functional.cross_entropy(
            scores.reshape(-1, scores.shape[-1]), texts[:, 1:].reshape(-1), ignore_index=FILL
        )

    @torch.no_grad()
    def write(self, vectors: Tensor, most: int) -> NDArray[np.int64]:
        """The likeliest next word, ``most`` times or until all texts have ended: ``[rows, words]``."""
        state = self.state(vectors)
        word = torch.full((len(vectors), 1), START, device=vectors.device)
        ended = torch.zeros(len(vectors), dtype=torch.bool, device=vectors.device)
        written = []
        for _ in range(most):
            output, state = self.cell(self.words(word), state)
            word = self.out(output).argmax(dim=2)
            ended |= word[:, 0] == END
            written.append(torch.where(ended, FILL, word[:, 0]))
            if bool(ended.all()):
                break
        return torch.stack(written, dim=1).cpu().numpy()
