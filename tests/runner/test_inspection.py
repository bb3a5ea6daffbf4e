"""Vectors that belong to other texts, or to no text, are noticed before they look safe."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
import pytest

from unembed.encoders.bag_of_words import HashingEncoder
from unembed.encoders.base import DenseVectors
from unembed.errors import CannotMeasureError, UnembedWarning
from unembed.runner.inspection import inspect_vectors
from unembed.testing.toys import LeakyEncoder, toy_corpus

TEXTS = list(dict.fromkeys(toy_corpus(300, seed=3).texts))


class Reordered(LeakyEncoder):
    """Answers a batch in the order of its texts' letters, as a server does that gathers what is ready."""

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        return super().encode(sorted(texts))


class Backwards(LeakyEncoder):
    """Answers from the last text to the first."""

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        return super().encode(texts)[::-1]


class Centred(LeakyEncoder):
    """Takes the mean of the batch away."""

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        found = super().encode(texts)
        return np.asarray(found - found.mean(axis=0))


class Failing(LeakyEncoder):
    """Zeros for every tenth text, as from a service that hides its errors."""

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        found = super().encode(texts)
        found[[sum(map(ord, t)) % 10 == 0 for t in texts]] = 0
        return found


class Noisy(LeakyEncoder):
    """Other noise each time."""

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        found = super().encode(texts)
        return np.asarray(found + np.random.default_rng().standard_normal(found.shape), dtype=np.float32)


@pytest.mark.parametrize("make", [Reordered, Backwards, Centred])
def test_vectors_that_depend_on_the_batch_are_refused(make: type[LeakyEncoder]) -> None:
    with pytest.raises(CannotMeasureError, match="another vector alone than among others"):
        inspect_vectors(make(), TEXTS, make().encode(TEXTS))


@pytest.mark.parametrize(
    ("make", "said"), [(Failing, "equal to that of another text"), (Noisy, "another vector each time")]
)
def test_vectors_that_are_odd_are_spoken_of(make: type[LeakyEncoder], said: str) -> None:
    with pytest.warns(UnembedWarning, match=said):
        inspect_vectors(make(), TEXTS, make().encode(TEXTS))


@pytest.mark.parametrize("encoder", [LeakyEncoder(), HashingEncoder(features=256)], ids=["dense", "sparse"])
def test_a_sound_encoder_passes_in_silence(encoder: LeakyEncoder | HashingEncoder) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for texts in (TEXTS, TEXTS[:1], TEXTS[:2]):
            inspect_vectors(encoder, texts, encoder.encode(texts))


def test_the_last_bits_may_differ() -> None:
    close = LeakyEncoder().encode(TEXTS) * np.float32(1.01)
    inspect_vectors(LeakyEncoder(), TEXTS, close)
