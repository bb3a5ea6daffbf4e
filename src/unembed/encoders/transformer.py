"""Any Hugging Face transformer as an encoder, by folder or hub name (Pan Table I; Song eq. 4-7).

Pan takes the last layer's first or last token, Song and Corò the mean of all tokens; every layer can be
asked, because Song 3.1 inverts from lower ones.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from unembed.encoders.base import DenseVectors, EncoderCard, Seen
from unembed.encoders.digests import folder_digest
from unembed.encoders.model_folders import LocalModel, require_weights
from unembed.encoders.model_loading import FolderTokeniser, ModelFacts, load_body, read_facts
from unembed.encoders.torch_encoding import POOLINGS, PooledModel, Pooling, default_batch_tokens, without_surrogates
from unembed.errors import UnknownNameError, UsageError
from unembed.files import opened
from unembed.nn.device import pick_device


class TransformerEncoder(LocalModel):
    """A pretrained language model whose token outputs are pooled into one vector.

    Args:
        model: a folder, or a hub name found in the local hub cache.
        layer: which output; 0 the embeddings, -1 the last.
        pooling: ``mean`` of all tokens, the ``first`` or the ``last`` one.
        normalise: unit L2 norm.
        max_tokens: longer texts are cut; the model's own limit unless given.
        dtype: of the weights; vectors are always float32.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        revision: of a hub model.
        prompts: text put before each text, by role.
        batch_tokens: tokens, padding included, that one forward pass may hold; by device unless given.
        allow_download: whether a hub model may be fetched.
    """

    family: ClassVar[str] = "transformer"

    layer: int = -1
    pooling: Pooling = "mean"
    batch_tokens: int | None = None

    @cached_property
    def card(self) -> EncoderCard:
        """What this encoder is; needs the files of the model but not its weights in memory."""
        self._check_choices()
        require_weights(self._folder)
        commit = self._folder.name if re.fullmatch(r"[0-9a-f]{40}", self._folder.name) else None
        prompts = json.dumps(dict(self.prompts), sort_keys=True) if self.prompts else None
        return EncoderCard(
            name=self._display_name,
            family=self.family,
            digest=folder_digest(self._folder),
            dimension=self._facts.dimension,
            normalised=self.normalise,
            revision=commit or self.revision,
            max_tokens=self._token_limit,
            pooling=self.pooling,
            layer=self._resolve(self.layer),
            dtype=self.dtype,
            licence=_licence(self._folder),
            open_weights=True,
            options=(("prompts", prompts),) if prompts else (),
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """One float32 vector per text, in order."""
        layer = self._resolve(self.layer)
        return self._core.encode(texts, layer=layer, normalise=self.normalise, prefix=self._prefix(role))

    def seen(self, texts: Sequence[str], *, role: str = "document") -> Seen:
        """How much of each text the model reads; needs the tokenizer alone."""
        return self._tokeniser.seen([without_surrogates(t) for t in texts], self._token_limit, self._prefix(role))

    @cached_property
    def vocabulary(self) -> list[str]:
        """The model's tokens, one per row of ``word_matrix``, as the tokenizer spells them."""
        return self._tokeniser.vocabulary(len(self.word_matrix))

    @cached_property
    def word_matrix(self) -> DenseVectors:
        """V of Song eq. 7: the input embedding of every token."""
        table = self._core.model.get_input_embeddings().weight
        return np.asarray(table.detach().float().cpu().numpy())

    def layer_output(self, texts: Sequence[str], layer: int, *, role: str = "document") -> DenseVectors:
        """The pooled output of a layer, not normalised."""
        resolved = self._resolve(layer)
        return self._core.encode(texts, layer=resolved, normalise=False, prefix=self._prefix(role))

    def encode_soft(
        self, word_weights: Any, *, layer: int | None = None, role: str = "document", tokens: Any = None
    ) -> Any:
        """Vectors of soft texts: weights over the vocabulary [n, tokens, |V|] to [n, d], differentiable.

        The weights stand for the words alone; the model's special tokens and the role's prompt are put
        around them as for ``encode``. One-hot weights give what ``encode`` gives; with ``layer``, what
        ``layer_output`` gives. With ``tokens`` (rows of the word matrix) the weights stand for these alone.
        """
        chosen = self._resolve(self.layer if layer is None else layer)
        normalise = self.normalise and layer is None
        return self._core.encode_soft(
            word_weights, layer=chosen, normalise=normalise, prefix=self._prefix(role), tokens=tokens
        )

    def token_ids(self, texts: Sequence[str], *, special: bool = False) -> list[list[int]]:
        """Token ids of texts, cut at the limit; ``special`` keeps the special tokens around the words."""
        ids, _ = self._tokeniser.tokens(texts, self._token_limit)
        if special:
            return ids
        before, after = (len(part) for part in self._tokeniser.around(""))
        return [i[before : len(i) - after] for i in ids]

    @cached_property
    def _facts(self) -> ModelFacts:
        return read_facts(self._folder)

    @cached_property
    def _tokeniser(self) -> FolderTokeniser:
        return FolderTokeniser(self._folder)

    @cached_property
    def _core(self) -> PooledModel:
        self._check_choices()
        device = str(pick_device(self.device))
        return PooledModel(
            model=load_body(self._folder, dtype=self.dtype, device=device),
            tokeniser=self._tokeniser,
            layers=self._facts.layers,
            dimension=self._facts.dimension,
            pooling=self.pooling,
            max_tokens=self._token_limit,
            device=device,
            batch_tokens=self.batch_tokens or default_batch_tokens(device),
        )

    @property
    def _token_limit(self) -> int:
        if self.max_tokens is None:
            return self._facts.max_tokens
        if self.max_tokens < 1 or (self._facts.limited and self.max_tokens > self._facts.max_tokens):
            raise UsageError(f"max_tokens must be from 1 to {self._facts.max_tokens} for this model")
        return self.max_tokens

    def _check_choices(self) -> None:
        if self.pooling not in POOLINGS:
            raise UnknownNameError("pooling", str(self.pooling), POOLINGS)
        self._check_precision()
        if self.batch_tokens is not None and self.batch_tokens < 1:
            raise UsageError("batch_tokens must be at least 1")

    def _resolve(self, layer: int) -> int:
        layers = self._facts.layers
        if not -layers - 1 <= layer <= layers:
            raise UsageError(f"layer {layer} does not exist: this model has 0 (embeddings) to {layers}")
        return layer if layer >= 0 else layers + 1 + layer

    def _prefix(self, role: str) -> str:
        return (self.prompts or {}).get(role, "")


def _licence(folder: Path) -> str | None:
    """The licence that the model's own README states in its front matter."""
    readme = folder / "README.md"
    if not readme.is_file():
        return None
    with opened(readme) as file:
        head = file.read(4000).decode("utf-8", "replace").split("\n---", 1)[0]
    found = re.search(r"^license:[ \t]*([\w.+-]+)[ \t]*$", head, flags=re.MULTILINE)
    return found.group(1) if found else None
