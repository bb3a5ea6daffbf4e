"""What the text itself gives away: a classifier that reads the targets instead of their vectors (Song 6.3).

It is no attack, because whoever attacks vectors has no texts, and no floor, because it is not ignorant: it is a
yardstick. Where vectors tell more than the text does to somebody with the same few labels, the encoder brought
knowledge of its own to the attack; where they tell less, reading would be worse than the leak.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.nn.device import pick_device
from unembed.seeds import generator, seed_for

#: Style shows in punctuation too, so it counts as words here.
_TOKEN = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
#: Of longer texts only the beginning is read.
MOST_TOKENS = 256
BATCH = 128


def text_cnn_scores(
    texts: Sequence[str],
    labels: NDArray[np.int64],
    classes: int,
    asked: Sequence[str],
    *,
    seed: int,
    epochs: int = 30,
    learning_rate: float = 1e-3,
    filters: int = 128,
    dimension: int = 128,
    min_steps: int = 200,
    device: str = "cpu",
) -> NDArray[np.float64]:
    """Trained on labelled ``texts``: log-probabilities of the classes for every text ``asked`` about.

    30 epochs of Adam at 0.001 and batches of 128, as in the paper for all its classifiers. Rare classes count as
    much as common ones, as in the attack it is compared with.
    """
    import torch
    from torch.nn import functional

    from unembed.nn.text_cnn import UNKNOWN, TextCNN, lay_out
    from unembed.nn.training import train

    cut = [_tokens(text) for text in texts]
    counts = Counter(token for tokens in cut for token in tokens)
    number = {token: i for i, token in enumerate(sorted(counts), start=UNKNOWN + 1)}
    known = [_numbers(tokens, number, UNKNOWN) for tokens in cut]
    on = pick_device(device)
    torch.manual_seed(seed_for(seed, "weights") % 2**32)
    model = TextCNN(len(number) + 2, classes, dimension=dimension, filters=filters).to(on)
    held = np.bincount(labels, minlength=classes)
    rarity = (len(labels) / (classes * np.maximum(held, 1))).astype(np.float32)
    weights, truth = torch.from_numpy(rarity).to(on), torch.from_numpy(labels).to(on)

    def loss_of(rows: NDArray[np.int64]) -> torch.Tensor:
        chosen = torch.from_numpy(rows).to(on)
        return functional.cross_entropy(model(*lay_out([known[i] for i in rows], on)), truth[chosen], weight=weights)

    train(
        model,
        loss_of,
        n=len(labels),
        epochs=epochs,
        min_steps=min_steps,
        batch_size=BATCH,
        learning_rate=learning_rate,
        rng=generator(seed, "batches"),
    )
    unseen = [_numbers(_tokens(text), number, UNKNOWN) for text in asked]
    scores = np.empty((len(asked), classes))
    with torch.no_grad():
        for start in range(0, len(unseen), BATCH):
            part = model(*lay_out(unseen[start : start + BATCH], on))
            scores[start : start + BATCH] = torch.log_softmax(part.double(), dim=1).cpu().numpy()
    return scores


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())[:MOST_TOKENS]


def _numbers(tokens: Sequence[str], number: dict[str, int], unknown: int) -> list[int]:
    return [number.get(token, unknown) for token in tokens]
