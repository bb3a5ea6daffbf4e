"""What language models answer about texts and canaries, as rows of the game of membership in a model."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unembed.games.canaries import Exposure, LogPerplexity, asked
from unembed.metrics.spread import FloatArray


def about_texts(
    texts: Sequence[str], log_perplexity: LogPerplexity, second: LogPerplexity, tokens: Sequence[int]
) -> NDArray[np.float32]:
    """A row per text: its log-perplexity, its tokens, what a second model says, zlib's bits, in lower case.

    Columns as in ``model_answers.OF_TEXTS``.
    """
    given = list(texts)
    columns = [
        asked(log_perplexity, given),
        np.asarray(tokens, dtype=np.float64),
        asked(second, given),
        np.array([zlib_bits(text) for text in given]),
        asked(log_perplexity, [text.lower() for text in given]),
    ]
    return np.stack(columns, axis=1).astype(np.float32)


def about_canaries(
    found: Sequence[Exposure], log_perplexities: FloatArray, tokens: Sequence[int]
) -> NDArray[np.float32]:
    """A row per canary: its log-perplexity, its tokens, log2 of its rank and of the number of texts of its format.

    Columns as in ``model_answers.OF_CANARIES``.
    """
    most = np.array([one.most for one in found])
    rank = most - np.array([one.bits.value for one in found])
    return np.stack([log_perplexities, np.asarray(tokens, dtype=np.float64), rank, most], axis=1).astype(np.float32)


def zlib_bits(text: str) -> float:
    """How many bits a text takes when it is compressed."""
    return 8.0 * len(zlib.compress(text.encode("utf-8", "surrogatepass"), 9))
