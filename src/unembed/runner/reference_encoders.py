"""Encoders to put beside the one under audit, so that its figures have a scale.

Three are at hand everywhere and cost seconds: a bag of words (the upper end: every word has a column), its latent
semantic analysis (in between), random vectors (the lower end: they know nothing of their text). Whatever must be fitted
learns from the adversary's texts alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unembed.artifacts import Artifacts
from unembed.artifacts.encoders import ready_encoder
from unembed.encoders import ENCODERS
from unembed.encoders.base import Encoder, Vectors
from unembed.errors import UnembedWarning, UnknownNameError, UsageError
from unembed.seeds import generator

RANDOM = "random"
#: Of more columns random vectors would know no more, and cost more.
RANDOM_DIMENSION = 64
#: The encoders behind names of ours. A bag of words keeps the most frequent words: attacks look at all its columns.
_OURS: dict[str, tuple[str, dict[str, Any]]] = {
    "bag-of-words": ("tfidf", {"max_features": 2000}),
    "lsa": ("lsa", {"components": 100}),
}
DEFAULT_REFERENCES = (*_OURS, RANDOM)
#: Goes up when what these names stand for changes.
_VERSION = 1


def check_reference(name: str) -> None:
    """Refuse a name that stands for no encoder, and stored vectors, which have no vector for another text."""
    base = name.partition(":")[0]
    if base == "vectors":
        raise UsageError("stored vectors can't be a reference: name an encoder that can be run on the texts")
    if name not in DEFAULT_REFERENCES and base not in ENCODERS and ".py:" not in name:
        raise UnknownNameError("reference", name, [*DEFAULT_REFERENCES, *(n for n in ENCODERS if n != "vectors")])


@dataclass(frozen=True)
class ReferenceEncoder:
    """One reference for one adversary's texts; ``encoder`` is there where it had to be opened to be identified."""

    name: str
    identity: dict[str, Any]
    encoder: Encoder | None = None


def ready_reference(name: str) -> ReferenceEncoder | None:
    """A reference that its name alone identifies."""
    return ReferenceEncoder(name, {"name": name, "version": _VERSION}) if name in DEFAULT_REFERENCES else None


def reference_vectors(
    reference: ReferenceEncoder,
    known: Sequence[str],
    target: Sequence[str],
    seed: int,
    artifacts: Artifacts | None = None,
) -> tuple[Vectors, Vectors]:
    """Vectors of the adversary's texts and of the targets."""
    if reference.name == RANDOM:
        rng = generator(seed, "random reference")
        drawn = rng.standard_normal((len(known) + len(target), RANDOM_DIMENSION), dtype=np.float32)
        return drawn[: len(known)], drawn[len(known) :]
    encoder = reference.encoder
    if encoder is None:
        name, options = _OURS[reference.name]
        with warnings.catch_warnings():
            # LSA warns where few texts carry fewer components than asked for: here that is as it should be.
            warnings.simplefilter("ignore", UnembedWarning)
            encoder = ready_encoder(name, options, known, artifacts)
    return encoder.encode(known), encoder.encode(target)
