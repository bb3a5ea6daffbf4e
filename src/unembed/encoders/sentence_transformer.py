"""Sentence-transformers models, with that library's own pooling, heads and prompts (Corò 2.3.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from unembed.encoders.base import DenseVectors, EncoderCard, Seen
from unembed.encoders.digests import MODEL_FILES, folder_digest
from unembed.encoders.model_folders import LocalModel
from unembed.encoders.model_loading import first_line, quiet_transformers, seen_by
from unembed.encoders.torch_encoding import without_surrogates
from unembed.errors import DataError, MissingExtraError, UsageError
from unembed.nn.device import pick_device

#: Beside the transformer's files: the list of modules, their settings, and the prompts.
_FILES = (*MODEL_FILES, "modules.json", "sentence_bert_config.json", "config_sentence_transformers.json")


class SentenceTransformerEncoder(LocalModel):
    """A sentence-transformers model by hub name or folder.

    ``prompts`` go before the texts by role and take the place of the model's own; ``truncate_dim`` keeps
    the first dimensions; ``normalise`` scales to unit norm even where the model does not.
    """

    family: ClassVar[str] = "sentence-transformer"

    truncate_dim: int | None = None
    batch_size: int = 64

    @cached_property
    def card(self) -> EncoderCard:
        """What this encoder is."""
        prompts = {r: p for r in ("document", "query") if (p := self._prompt(r))} | dict(self.prompts or {})
        options = {
            "prompts": json.dumps(prompts, sort_keys=True),
            "truncate_dim": str(self.truncate_dim or ""),
        }
        return EncoderCard(
            name=self._display_name,
            family=self.family,
            digest=folder_digest(self._folder, _FILES, recursive=True),
            dimension=int(self.encode(["dimension"]).shape[1]),
            normalised=self.normalise or self._normalises,
            revision=self.revision,
            max_tokens=self._loaded.max_seq_length,
            dtype=self.dtype,
            open_weights=True,
            options=tuple((k, v) for k, v in options.items() if v not in ("", "{}")),
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """One float32 vector per text, in order."""
        found = self._loaded.encode(
            [without_surrogates(t) for t in texts],
            prompt=self._prompt(role) or None,
            batch_size=self.batch_size,
            normalize_embeddings=self.normalise,
            show_progress_bar=False,
            convert_to_numpy=True,
        )
        if not len(texts):
            return np.empty((0, self.card.dimension), dtype=np.float32)
        return np.ascontiguousarray(found, dtype=np.float32)

    def seen(self, texts: Sequence[str], *, role: str = "document") -> Seen | None:
        """How much of each text the model reads; None for a model that states no limit."""
        limit, tokenizer = self._loaded.max_seq_length, getattr(self._loaded, "tokenizer", None)
        if limit is None or not hasattr(tokenizer, "is_fast"):
            return None
        return seen_by(tokenizer, [without_surrogates(t) for t in texts], limit, self._prompt(role))

    @cached_property
    def _loaded(self) -> Any:
        self._check_precision()
        folder = self._folder
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise MissingExtraError("a sentence-transformers model", "sentence-transformers") from error
        try:
            with quiet_transformers():
                model = SentenceTransformer(
                    str(folder),
                    device=str(pick_device(self.device)),
                    truncate_dim=self.truncate_dim,
                    local_files_only=True,
                    trust_remote_code=False,
                )
        except UsageError:
            raise
        except Exception as error:  # the library raises many kinds; each means that this folder can't be used
            raise DataError(f"the model in {folder} can't be loaded: {first_line(error)}") from error
        import torch

        model = model.to(getattr(torch, self.dtype))
        if self.max_tokens is not None:
            limit = model.max_seq_length
            if self.max_tokens < 1 or (limit is not None and self.max_tokens > limit):
                raise UsageError(f"max_tokens must be from 1 to {limit} for this model")
            model.max_seq_length = self.max_tokens
        return model

    @property
    def _normalises(self) -> bool:
        """Whether the model's own last module scales to unit norm (undone by cutting dimensions off)."""
        last = list(self._loaded)[-1]
        return type(last).__name__ == "Normalize" and self.truncate_dim is None

    def _prompt(self, role: str) -> str:
        if self.prompts is not None:
            return self.prompts.get(role, "")
        own: Mapping[str, str | None] = self._loaded.prompts or {}
        return own.get(role) or ""
