"""What the text itself gives away: a classifier that reads the targets instead of their vectors (Song 6.3).

It is not an attack, because an attacker of vectors has no texts, and not a floor, because it is not ignorant: it is a
yardstick. Where vectors tell more than the text does to somebody with the same few labels, the encoder brought
knowledge of its own to the attack; where they tell less, reading would be worse than the leak. The attribute game sets
it beside an attack's figures (``baseline``); played alone it is ``attribute/textcnn``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from unembed.nn.trained import Trained

#: Style shows in punctuation too, so it counts as words here.
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
#: Of longer texts only the beginning is read.
MOST_TOKENS = 256


class TextReader(Trained):
    """TextCNN: 128 filters each 3, 4 and 5 words wide over word vectors learnt from the labelled texts alone.

    30 epochs of Adam at 0.001 and batches of 128, as in the paper for all its classifiers. Rare classes count as
    much as common ones, as in the attack it is compared with.
    """

    filters: int = 128
    dimension: int = 128
    batch_size: int = 128
    min_steps: int = 200

    def learn(self, texts: Sequence[str], labels: NDArray[np.int64], classes: int) -> Self:
        """Train on labelled texts."""
        import torch
        from torch.nn import functional

        from unembed.games.text_cnn import UNKNOWN, TextCNN, lay_out

        cut = [_tokens(text) for text in texts]
        counts = Counter(token for tokens in cut for token in tokens)
        self.number_ = {token: i for i, token in enumerate(sorted(counts), start=UNKNOWN + 1)}
        known = [self._numbers(tokens) for tokens in cut]
        self._start()
        on = self.device_
        model = TextCNN(len(self.number_) + 2, classes, dimension=self.dimension, filters=self.filters).to(on)
        held = np.bincount(labels, minlength=classes)
        rarity = (len(labels) / (classes * np.maximum(held, 1))).astype(np.float32)
        weights, truth = torch.from_numpy(rarity).to(on), torch.from_numpy(labels).to(on)

        def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
            said = model(*lay_out([known[i] for i in rows], on))
            return functional.cross_entropy(said, truth[torch.from_numpy(rows).to(on)], weight=weights)

        self._train(model, loss_of, len(labels))
        self.classes_ = classes
        return self

    def read(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Log-probabilities of the classes for every text."""
        import torch

        from unembed.games.text_cnn import lay_out

        unseen = [self._numbers(_tokens(text)) for text in texts]
        scores = np.empty((len(texts), self.classes_))
        with torch.no_grad():
            for start in range(0, len(unseen), self.batch_size):
                part = self.model_(*lay_out(unseen[start : start + self.batch_size], self.device_))
                scores[start : start + self.batch_size] = torch.log_softmax(part.double(), dim=1).cpu().numpy()
        return scores

    def _numbers(self, tokens: Sequence[str]) -> list[int]:
        from unembed.games.text_cnn import UNKNOWN

        return [self.number_.get(token, UNKNOWN) for token in tokens]


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())[:MOST_TOKENS]
