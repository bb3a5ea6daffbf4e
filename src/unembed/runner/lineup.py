"""The encoders that might have made the vectors under audit: those at hand that make vectors of the same dimension.

Of a network the bundled one can be run anywhere, with every layer and pooling; bags of words and LSA come in any size.
Whoever has other weights names them (``fingerprint.candidates``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from unembed.encoders.base import EncoderCard, Vectors
from unembed.encoders.cache import full_card
from unembed.errors import MissingExtraError, UnembedWarning
from unembed.games.base import Lineup
from unembed.games.fingerprint import NO_ENCODER, dimension_alone
from unembed.runner.encoder_recipe import other_encoder

#: Only bags of words have more columns, and how many depends on the texts or is chosen.
WIDEST = 4096
_MINILM = "all-MiniLM-L6-v2"
_MINILM_DIMENSION = 384

Encode = Callable[[Sequence[str]], Vectors]


def known_encoders(dimension: int) -> dict[str, tuple[str, dict[str, Any]]]:
    """Encoders that can be run without further weights to make vectors of this dimension: name and options."""
    if dimension > WIDEST:
        return {}
    found: dict[str, tuple[str, dict[str, Any]]] = {
        f"hashing, {dimension} columns": ("hashing", {"features": dimension}),
        f"tf-idf, {dimension} columns": ("tfidf", {"max_features": dimension}),
        f"lsa, {dimension} columns": ("lsa", {"components": dimension}),
    }
    if dimension == _MINILM_DIMENSION:
        found[_MINILM] = ("minilm", {})
        found[f"{_MINILM}, first token"] = ("minilm", {"pooling": "first", "normalise": False})
        for layer in range(6):
            found[f"{_MINILM}, layer {layer}"] = ("minilm", {"layer": layer, "normalise": False})
    return found


def make_lineup(
    work: Path,
    name: str,
    key: str,
    dimension: int,
    given: Sequence[str],
    texts: Sequence[str],
) -> Lineup:
    """The encoders beside the one under audit, which is known by its ``key``; what must be fitted learns ``texts``."""
    wanted = {**known_encoders(dimension), **{spec: (spec, {}) for spec in given}}
    made: dict[str, Encode] = {}
    left_out = []
    for title, (kind, options) in wanted.items():
        try:
            with warnings.catch_warnings():
                # LSA warns of fewer columns than asked for; an encoder of another dimension is not a candidate.
                warnings.simplefilter("ignore", UnembedWarning)
                encoder = other_encoder(work, kind, options, texts)
                card = full_card(encoder)
        except MissingExtraError as error:
            left_out.append(f"{title} ({error})")
            continue
        if card.cache_key("document") == key:
            continue
        if card.dimension != dimension:
            left_out.append(f"{title} ({card.dimension:,} dimensions)")
            continue
        made[title] = encoder.encode
    own = f"{name}, as audited" if name in made else name
    return Lineup(own, made, left_out=tuple(left_out))


def no_lineup(game: Any, can_encode: bool, card: EncoderCard) -> str | None:
    """Why the fingerprint can't be asked about, or None."""
    if not game.facts.needs_lineup:
        return None
    if not can_encode:
        return NO_ENCODER
    if not game.candidates and card.dimension and not known_encoders(card.dimension):
        return dimension_alone(card.name, card.dimension)
    return None
