"""A look at what an encoder answered, before anything is measured: vectors of the wrong texts would seem safe."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from unembed.encoders.base import DenseVectors, Encoder, Vectors, differ
from unembed.errors import CannotMeasureError, UnembedWarning

#: So many texts are encoded once more, each alone.
PROBES = 5
#: More texts than this share with the vector of another text are worth a word.
ALIKE = 0.05


def inspect_vectors(encoder: Encoder, texts: Sequence[str], vectors: Vectors) -> None:
    """Refuse answers that stand in another order than the texts; warn of many equal ones.

    An adversary trained on such pairs can still pass its own check, by learning them by heart, and then finds nothing.
    An encoder that looks at the order of every answer is not asked again: endpoints are paid for.
    """
    probes = 0 if getattr(encoder, "checks_order", False) else PROBES
    for row in sorted({int(r) for r in np.linspace(0, len(texts) - 1, probes)}):
        alone = _dense(encoder.encode([texts[row]]))[0]
        if differ(alone, _dense(vectors[row : row + 1])[0]):
            if differ(alone, _dense(encoder.encode([texts[row]]))[0]):
                _warn("the encoder gives a text another vector each time, so the order of its answers can't be checked")
                return
            raise CannotMeasureError(
                f"the encoder gives text {row} another vector alone than among others: its answers come in another "
                "order than the texts, or depend on the texts beside them, so no text can be matched with its vector"
            )
    equal = len(texts) - _distinct(vectors)
    if equal > ALIKE * len(texts):
        _warn(
            f"{equal:,} of {len(texts):,} vectors under attack are equal to that of another text: is the encoder whole?"
        )


def _warn(message: str) -> None:
    warnings.warn(message, UnembedWarning, stacklevel=3)


def _dense(vectors: Vectors) -> DenseVectors:
    return np.asarray(vectors if isinstance(vectors, np.ndarray) else vectors.toarray(), dtype=np.float32)


def _distinct(vectors: Vectors) -> int:
    """How many different rows there are."""
    if not isinstance(vectors, np.ndarray):
        rows = vectors.tocsr()
        ends = list(zip(rows.indptr[:-1], rows.indptr[1:], strict=True))
        return len({(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in ends})
    return len({row.tobytes() for row in vectors})
