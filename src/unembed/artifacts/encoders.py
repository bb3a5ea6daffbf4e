"""Fitted encoders as artifacts: an encoder that must see texts sees them once."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from unembed._version import __version__
from unembed.artifacts.base import Json, texts_digest
from unembed.artifacts.keeping import Artifacts
from unembed.encoders import build_encoder, must_be_fitted, new_encoder
from unembed.encoders.base import Encoder
from unembed.encoders.saving import SavedEncoder, can_be_saved
from unembed.errors import CannotMeasureError, PluginError, fenced
from unembed.registry import source_digest


@dataclass(frozen=True)
class EncoderRecipe:
    """An encoder by name and options, fitted on texts.

    ``learnt`` is the digest of the texts. Without the texts themselves it can be loaded where it was made, not made.
    """

    name: str
    options: Mapping[str, object]
    learnt: str
    texts: Sequence[str] | None = None

    @property
    def identity(self) -> Mapping[str, Json]:
        """Name, options, texts, the version of unembed, and for plug-ins their source."""
        options: Json = json.loads(json.dumps(dict(self.options), default=str))
        return {
            "encoder": self.name,
            "options": options,
            "texts": self.learnt,
            "unembed": __version__,
            "source": source_digest(type(self._new()), self.name),
        }

    def make(self, place: Path) -> SavedEncoder:
        """Fit; nothing is kept on the way."""
        if self.texts is None:
            raise CannotMeasureError("the fitted encoder has left the work folder: run the same command again")
        encoder = self._new()
        with fenced(f"encoder '{self.name}'"):
            encoder.fit(self.texts)
        return encoder

    def save(self, made: SavedEncoder, place: Path) -> None:
        """As the encoder saves itself."""
        made.save(place)

    def load(self, place: Path) -> SavedEncoder:
        """As the encoder loads itself."""
        return type(self._new()).load(place)

    def _new(self) -> SavedEncoder:
        encoder = new_encoder(self.name, self.options)
        if not can_be_saved(encoder):
            raise PluginError(f"encoder '{self.name}' can't be kept: it needs fit, save and load")
        return encoder


def recipe_for(name: str, options: Mapping[str, object], texts: Sequence[str]) -> EncoderRecipe | None:
    """How an encoder is fitted and kept; None where it need not see texts or can't be saved."""
    encoder = new_encoder(name, options)
    if not must_be_fitted(encoder) or not can_be_saved(encoder):
        return None
    return EncoderRecipe(name, options, texts_digest(texts), texts)


def ready_encoder(
    name: str, options: Mapping[str, object], texts: Sequence[str], artifacts: Artifacts | None
) -> Encoder:
    """An encoder ready to encode; one that must see ``texts`` is fitted once in all that share the artifacts."""
    recipe = None if artifacts is None else recipe_for(name, options, texts)
    if artifacts is None or recipe is None:
        return build_encoder(name, options, fit_texts=texts)
    return artifacts.get(recipe)
