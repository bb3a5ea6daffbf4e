"""What models answer about texts, as rows of numbers, and what each column of them holds.

Rows of answers stand in the place of vectors: an attack on a model's training data sees them and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unembed.encoders.base import Vectors
from unembed.errors import CannotMeasureError
from unembed.games.base import IntArray
from unembed.metrics.spread import FloatArray

LABEL, TEXT, USER, PROBABILITY = "label", "text", "user", "p"
LOG_PERPLEXITY, TOKENS, SECOND, ZLIB, LOWER = "log_perplexity", "tokens", "second", "zlib", "lower"
RANK, POSSIBLE = "rank", "possible"


@dataclass(frozen=True)
class Columns:
    """What a row of answers holds, by the names above; ``p`` stands once for each class.

    ``label`` is the class that the text has, ``text`` its number, ``user`` the number of its writer and the model that
    was asked. ``log_perplexity`` is in bits for all ``tokens`` of a text (Definition 3.1.1); ``second`` is that of
    another model, ``lower`` that of the lower-cased text, ``zlib`` how many bits the text takes when compressed.
    ``rank`` is that of a canary among the ``possible`` texts of its format, both as log2.
    """

    names: tuple[str, ...]

    @classmethod
    def of_classifier(cls, classes: int) -> Columns:
        """Label, text and user, then the probability of every class."""
        return cls((LABEL, TEXT, USER, *(PROBABILITY,) * classes))

    def has(self, *names: str) -> bool:
        """Whether all of these stand in a row."""
        return set(names) <= set(self.names)

    def read(self, vectors: Vectors, name: str) -> FloatArray:
        """One column."""
        if not self.has(name):
            raise CannotMeasureError(
                f"a model's answers hold {', '.join(dict.fromkeys(self.names))}, not the '{name}' that is read here"
            )
        return np.asarray(np.asarray(vectors)[:, self.names.index(name)], dtype=np.float64)

    def numbers(self, vectors: Vectors, name: str) -> IntArray:
        """A column that numbers something."""
        return np.rint(self.read(vectors, name)).astype(np.int64)

    def labels(self, vectors: Vectors) -> IntArray:
        """The class of each text; a row that is no answer of any model counts as one all the same."""
        return np.clip(self.numbers(vectors, LABEL), 0, self.classes - 1)

    def probabilities(self, vectors: Vectors) -> FloatArray:
        """Of every class, from 0 to 1."""
        self.read(vectors, PROBABILITY)
        held = [place for place, name in enumerate(self.names) if name == PROBABILITY]
        return np.clip(np.asarray(np.asarray(vectors)[:, held], dtype=np.float64), 0, 1)

    @property
    def classes(self) -> int:
        """How many there are."""
        return self.names.count(PROBABILITY)


#: Rows of answers of a language model about a text, and about a canary.
OF_TEXTS = Columns((LOG_PERPLEXITY, TOKENS, SECOND, ZLIB, LOWER))
OF_CANARIES = Columns((LOG_PERPLEXITY, TOKENS, RANK, POSSIBLE))


@dataclass(frozen=True)
class Answered:
    """What models answered: a row per model and text, whether the model learnt from it, and which model it is.

    ``owners`` are those whose texts they are, where that is known.
    """

    rows: NDArray[np.floating]
    members: NDArray[np.bool_]
    models: IntArray
    owners: Sequence[object] | None = None
