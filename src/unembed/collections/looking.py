"""Looking for texts in a store: encoded, compared with every stored vector, and answered at a stated rate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from unembed.collections.nearest import SAME, Batches, FloatArray, nearest, threshold_for
from unembed.encoders.base import Encoder
from unembed.errors import DataError, UsageError

Answer = Literal["stored", "nearly", "not found"]
#: Texts made up as outsiders where none are given; more where the rate asks for more.
MADE_UP = 300


@dataclass(frozen=True)
class Looked:
    """For each text its nearest stored vector and the answer; what the answers rest on.

    "stored": the vector is there but for rounding, which texts may share that the encoder takes for the same; "nearly":
    nearer than all but ``false_alarm`` of the outsiders come.
    """

    similarity: FloatArray
    nearest: list[object]
    answers: list[Answer]
    vectors: int
    threshold: float
    false_alarm: float
    outsiders: int
    made_up: bool

    def count(self, answer: Answer) -> int:
        """How many texts got this answer."""
        return self.answers.count(answer)


def look_for(
    texts: Sequence[str],
    stored: Batches,
    encoder: Encoder,
    *,
    outsiders: Sequence[str] | None = None,
    false_alarm: float = 0.01,
) -> Looked:
    """Whether each text lies in the store, exactly or nearly, in one pass over it.

    Args:
        texts: What to look for.
        stored: Ids and vectors, a batch at a time.
        encoder: The one that made the store.
        outsiders: Texts that are surely not stored, of the same kind as ``texts``; the false-alarm rate is theirs.
            None: made-up public text.
        false_alarm: How often a text that is not stored may be answered "nearly".
    """
    from unembed.corpora.generators.public_text import generate_public_text

    if not texts:
        raise DataError("there is no text to look for")
    if not 0 < false_alarm < 1:
        raise UsageError(f"a false-alarm rate lies between 0 and 1, not {false_alarm}")
    others = outsiders
    if others is None:
        others = generate_public_text(max(MADE_UP, 2 * math.ceil(1 / false_alarm))).texts
    found = nearest(encoder.encode([*texts, *others]), stored)
    if not found.vectors:
        raise DataError("there are no stored vectors to look among")
    threshold = threshold_for(found.similarity[len(texts) :], false_alarm)
    here = found.similarity[: len(texts)]
    answers: list[Answer] = ["stored" if s >= SAME else "nearly" if s >= threshold else "not found" for s in here]
    names = found.ids[: len(texts)]
    return Looked(here, names, answers, found.vectors, threshold, false_alarm, len(others), outsiders is None)
