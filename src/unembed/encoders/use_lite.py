"""Universal Sentence Encoder lite (English) as an encoder with open weights.

A second real transformer beside the BERT family: two layers of its own design, 8,000 unigram word pieces, a tanh
layer on top of the mean. It is small enough to attack through the weights on a laptop. The weights are not part of
unembed; they are read from a local folder or package file, and nothing is downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from unembed.encoders.base import DenseVectors, EncoderCard, Seen
from unembed.encoders.torch_encoding import default_batch_tokens, token_batches, without_surrogates
from unembed.encoders.unigram import RESERVED, UnigramTokeniser
from unembed.encoders.use_lite_files import UseLiteFiles, read_use_lite
from unembed.errors import UsageError
from unembed.nn.device import pick_device
from unembed.params import Parametrised

if TYPE_CHECKING:
    import torch

    from unembed.encoders.use_lite_model import UseLiteModel

#: The files as published under Apache-2.0 in 2018 and repacked since.
PUBLISHED_DIGEST = "71ad4f4330d039be3776a3a2f074b1cd56be5f8b2bd2b3b34eb1278c28e99707"
LAYERS = 2
_MAX_TOKENS = 128


class UseLiteEncoder(Parametrised):
    """Universal Sentence Encoder lite: 512 dimensions, unit norm, at most 128 word pieces.

    Args:
        model: the folder of ``model.json``, its shards and ``vocab.json``, or the ``.tgz`` package of them.
        max_tokens: longer texts are cut; 128 is the model's own limit.
        device: ``auto``, ``cpu``, ``cuda``, ``cuda:1``, ``mps``.
        batch_tokens: tokens, padding included, that one forward pass may hold; by device unless given.
    """

    shorthand: ClassVar[str] = "model"

    model: str = field(kw_only=False)
    max_tokens: int = _MAX_TOKENS
    device: str = "auto"
    batch_tokens: int | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Parameters only: a worker process reads the weights itself."""
        return self.get_params()

    @cached_property
    def card(self) -> EncoderCard:
        """What this encoder is; the digest covers weights and word pieces, not how they are packed."""
        if not 1 <= self.max_tokens <= _MAX_TOKENS:
            raise UsageError(f"max_tokens must be from 1 to {_MAX_TOKENS}")
        published = self._files.digest == PUBLISHED_DIGEST
        return EncoderCard(
            name="universal-sentence-encoder-lite" if published else "use-lite",
            family="use-lite",
            digest=self._files.digest,
            dimension=self._files.weights["out.bias"].shape[0],
            normalised=True,
            max_tokens=self.max_tokens,
            pooling="mean",
            layer=LAYERS,
            licence="Apache-2.0" if published else None,
            open_weights=True,
        )

    def encode(self, texts: Sequence[str], *, role: str = "document") -> DenseVectors:
        """One float32 vector per text, in order, of unit norm."""
        vectors = np.empty((len(texts), self.card.dimension), dtype=np.float32)
        for rows, words, mask in self._batches(texts):
            vectors[rows] = self._body.sentence(words, mask).cpu().numpy()
        return vectors

    @cached_property
    def vocabulary(self) -> list[str]:
        """The word pieces, one per row of ``word_matrix``; ``▁`` starts a word, ``<…>`` is never read from a text."""
        reserved = [f"<{piece.strip('<>')}>" for piece, _ in self._files.pieces[:RESERVED]]
        return reserved + [piece for piece, _ in self._files.pieces[RESERVED:]]

    @property
    def word_matrix(self) -> DenseVectors:
        """V of Song eq. 7: the vector of every word piece."""
        return self._files.weights["words"][: len(self._files.pieces)]

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The word pieces of each text, cut to ``max_tokens``."""
        return [self._tokeniser.ids(without_surrogates(text))[: self.max_tokens] for text in texts]

    def seen(self, texts: Sequence[str], *, role: str = "document") -> Seen:
        """How much of each text the model reads, in word pieces; a word that is cut in two counts as not read."""
        rows = np.array([self._seen(without_surrogates(text)) for text in texts], dtype=np.int64).reshape(-1, 2)
        return Seen(self.max_tokens, rows[:, 0], np.minimum(rows[:, 0], self.max_tokens), rows[:, 1])

    def _seen(self, text: str) -> tuple[int, int]:
        """The word pieces of a text, and the character up to which its words fit."""
        tokens, end = 0, 0
        for word in re.finditer(r"\S+", text):
            tokens += len(self._tokeniser.ids(word.group()))
            if tokens <= self.max_tokens:
                end = word.end()
        return tokens, end if tokens > self.max_tokens else len(text)

    def layer_output(self, texts: Sequence[str], layer: int) -> DenseVectors:
        """The mean over a text's tokens of layer 0 (word vectors, 256 d), 1 or 2 (512 d), not normalised."""
        self._check(layer)
        width = self.word_matrix.shape[1] if layer == 0 else self._files.weights["widen.bias"].shape[0]
        vectors = np.empty((len(texts), width), dtype=np.float32)
        for rows, words, mask in self._batches(texts):
            vectors[rows] = self._body.mean(self._body.layer(words, mask, layer), mask).cpu().numpy()
        return vectors

    def encode_soft(self, word_weights: Any, *, layer: int | None = None, tokens: Any = None) -> Any:
        """Soft texts, weights over the vocabulary [n, tokens, |V|], to vectors; differentiable.

        With ``tokens`` (rows of the word matrix) the weights stand for these alone.
        """
        import torch

        table = self._body.words[: len(self._files.pieces)]
        if tokens is not None:
            table = table[torch.as_tensor(tokens, device=table.device)]
        words = word_weights.to(device=table.device, dtype=table.dtype) @ table
        mask = torch.ones(words.shape[:2], dtype=torch.bool, device=table.device)
        if layer is None:
            return self._body.sentence(words, mask)
        self._check(layer)
        return self._body.mean(self._body.layer(words, mask, layer), mask)

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[Any, torch.Tensor, torch.Tensor]]:
        """Row numbers, word vectors and masks of batches of like length, within ``torch.inference_mode``."""
        import torch

        if not len(texts):
            return
        ids = self.token_ids(texts)
        device = self._body.device
        budget = self.batch_tokens or default_batch_tokens(device.type)
        with torch.inference_mode():
            for rows in token_batches([len(i) for i in ids], budget):
                padded = np.zeros((len(rows), max(1, *(len(ids[r]) for r in rows))), dtype=np.int64)
                mask = np.zeros(padded.shape, dtype=bool)
                for position, row in enumerate(rows):
                    padded[position, : len(ids[row])] = ids[row]
                    mask[position, : len(ids[row])] = True
                yield rows, self._body.words[torch.from_numpy(padded).to(device)], torch.from_numpy(mask).to(device)

    def _check(self, layer: int) -> None:
        if not 0 <= layer <= LAYERS:
            raise UsageError(f"layer {layer} does not exist: this model has 0 (word vectors) to {LAYERS}")

    @cached_property
    def _files(self) -> UseLiteFiles:
        return read_use_lite(self.model)

    @cached_property
    def _tokeniser(self) -> UnigramTokeniser:
        return UnigramTokeniser(self._files.pieces)

    @cached_property
    def _body(self) -> UseLiteModel:
        device = pick_device(self.device)
        from unembed.encoders.use_lite_model import UseLiteModel

        return UseLiteModel(self._files.weights, heads=self._files.heads, device=device)
