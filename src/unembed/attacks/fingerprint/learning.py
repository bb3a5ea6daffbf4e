"""Learning a signature: from an encoder, with text made up for the purpose, or from vectors that are known to be its.

Nobody's text goes into a signature. Three kinds are generated: statements, messages, and words in no order; what
changes between them tells how far the same encoder's vectors move when the text is of another kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unembed.attacks.fingerprint.directions import directions
from unembed.attacks.fingerprint.signature import Signature, fit_signature
from unembed.corpora.generators import GENERATORS
from unembed.corpora.words import words
from unembed.encoders.base import Encoder
from unembed.errors import UsageError
from unembed.metrics.estimate import FloatArray
from unembed.seeds import generator

TEXTS_A_KIND = 200
KINDS = ("statements", "messages", "loose words")


def made_up_texts(count: int = TEXTS_A_KIND) -> dict[str, list[str]]:
    """So many texts of every kind, always the same."""
    statements = list(GENERATORS.get("public-text")(count, seed=0).texts)
    messages = list(GENERATORS.get("messages")(count, seed=0).texts)
    known = sorted({word for text in (*statements, *messages) for word in words(text)})
    rng = generator(0, "fingerprint", "loose words")
    loose = [" ".join(known[i] for i in rng.integers(0, len(known), size=rng.integers(3, 25))) for _ in range(count)]
    return dict(zip(KINDS, (statements, messages, loose), strict=True))


def learn_from_encoder(name: str, encoder: Encoder, *, count: int = TEXTS_A_KIND) -> Signature:
    """The signature of an encoder that is at hand."""
    kinds = [directions(encoder.encode(texts)) for texts in made_up_texts(count).values()]
    card = encoder.card
    facts = {"family": card.family, "pooling": card.pooling, "layer": card.layer, "normalised": card.normalised}
    return fit_signature(_checked(name), card.dimension, kinds, {k: v for k, v in facts.items() if v is not None})


def learn_from_vectors(name: str, kinds: Sequence[Any], facts: Mapping[str, Any] | None = None) -> Signature:
    """The signature of an encoder of which only vectors are at hand, best of two or more kinds of text."""
    widths = {int(part.shape[1]) for part in kinds}
    if len(widths) != 1:
        raise UsageError(f"vectors of one encoder have one dimension, these have {sorted(widths)}")
    rows: list[FloatArray] = [np.asarray(directions(part)) for part in kinds]
    return fit_signature(_checked(name), widths.pop(), rows, dict(facts or {}))


def _checked(name: str) -> str:
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise UsageError("a signature's name is one printable line of at most 100 characters")
    return name.strip()
