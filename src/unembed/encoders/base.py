"""The encoder contract: any object with ``encode`` and ``card`` is an encoder; there is no base class."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_matrix

DenseVectors: TypeAlias = NDArray[np.float32]
#: What an encoder returns: dense float32 [n, d], or a CSR matrix for count-based families (2^18 columns).
Vectors: TypeAlias = "NDArray[np.float32] | csr_matrix"
#: Two vectors of one text may differ by this share of their length: sums over another batch, lower precision.
TOLERANCE = 0.1


@dataclass(frozen=True, slots=True)
class EncoderCard:
    """Everything that changes a vector, and what a reader of the report wants to know of its maker.

    ``digest`` identifies the weights or the fitted state; None means that the encoder can't be
    identified, and then its vectors are never cached.
    """

    name: str
    family: str
    digest: str | None
    dimension: int
    normalised: bool
    revision: str | None = None
    max_tokens: int | None = None
    pooling: str | None = None
    layer: int | None = None
    dtype: str = "float32"
    licence: str | None = None
    sparse: bool = False
    remote: bool = False
    open_weights: bool = False
    options: tuple[tuple[str, str], ...] = ()

    def as_dict(self) -> dict[str, object]:
        """The card as plain data for the result file."""
        return {**asdict(self), "options": dict(self.options)}

    def cache_key(self, role: str) -> str | None:
        """One key for every setting under which the same text gives the same vector; None: don't cache."""
        if self.digest is None:
            return None
        identity = {k: v for k, v in asdict(self).items() if k not in ("licence", "remote", "open_weights", "name")}
        payload = json.dumps({**identity, "role": role}, sort_keys=True, default=str)
        return hashlib.sha256(payload.encode()).hexdigest()


@runtime_checkable
class Encoder(Protocol):
    """Text to vectors."""

    @property
    def card(self) -> EncoderCard:
        """What this encoder is; stable once the encoder can encode."""
        ...

    def encode(self, texts: Sequence[str], *, role: str = "document") -> Vectors:
        """One vector per text, in order; float32; ``role`` picks the prompt where a model has several."""
        ...


@runtime_checkable
class FittedEncoder(Encoder, Protocol):
    """An encoder that must see texts before it can encode (tf-idf, LSA)."""

    def fit(self, texts: Sequence[str]) -> FittedEncoder:
        """Learn vocabulary and weights; returns self."""
        ...


@dataclass(frozen=True, slots=True)
class Seen:
    """How much of each text an encoder with a longest input reads.

    ``tokens`` and ``read`` count the text's own tokens: all of them, and those within the limit. ``characters`` says
    up to which character a text is read, where the tokenizer tells and the end of a text is what is cut off.
    """

    limit: int
    """Tokens that the encoder takes, special tokens and prompt among them."""
    tokens: NDArray[np.int64]
    read: NDArray[np.int64]
    characters: NDArray[np.int64] | None = None
    kept: Literal["first", "last"] = "first"
    """Which tokens of a longer text are read."""

    @property
    def cut(self) -> NDArray[np.bool_]:
        """Which texts are longer than what is read of them."""
        return self.read < self.tokens


@runtime_checkable
class LimitedEncoder(Encoder, Protocol):
    """An encoder that reads a text up to a number of tokens, and can say what it leaves out."""

    def seen(self, texts: Sequence[str], *, role: str = "document") -> Seen | None:
        """How much of each text is read, without encoding it; None: this model states no limit."""
        ...


_WHITE_BOX = ("vocabulary", "word_matrix", "layer_output", "encode_soft", "token_ids")


def is_white_box(encoder: object) -> bool:
    """Whether an encoder lets its holder look inside; asks its class alone, so that nothing is loaded."""
    return all(hasattr(type(encoder), member) for member in _WHITE_BOX)


@runtime_checkable
class WhiteBoxEncoder(Encoder, Protocol):
    """What an adversary with the weights can use (Song eq. 4-7): words, their matrix, layers, gradients."""

    @property
    def vocabulary(self) -> list[str]:
        """The encoder's own tokens, one per row of the word matrix."""
        ...

    @property
    def word_matrix(self) -> DenseVectors:
        """V of Song eq. 7: one row per token."""
        ...

    def layer_output(self, texts: Sequence[str], layer: int) -> DenseVectors:
        """The pooled output of one layer (0: the word embeddings)."""
        ...

    def encode_soft(self, word_weights: torch.Tensor, *, layer: int | None = None) -> torch.Tensor:
        """A differentiable pass: weights over the vocabulary [n, tokens, |V|] to vectors [n, d] (torch).

        With ``layer`` to what ``layer_output`` gives, else to what ``encode`` gives.
        """
        ...

    def token_ids(self, texts: Sequence[str]) -> list[list[int]]:
        """The rows of the word matrix that stand for each text, in order, without special tokens."""
        ...


#: Squares of longer vectors, summed over a collection, come near the end of float32 (3.4e38).
LONGEST = 1e15


def first_unusable(vectors: DenseVectors) -> tuple[int, str] | None:
    """The first row that no attack can measure with, and why; None if there is none."""
    with np.errstate(over="ignore", invalid="ignore"):
        # One sum of squares for all costs a third of one per row; single rows are looked at only where it is large.
        if np.vdot(vectors, vectors) <= LONGEST**2:
            return None
        usable = np.einsum("ij,ij->i", vectors, vectors) <= LONGEST**2
    if usable.all():
        return None
    row = int(usable.argmin())
    if np.isfinite(vectors[row]).all():
        return (
            row,
            f"the vector is longer than {LONGEST:g}, too long to measure with in float32; scale the vectors down",
        )
    return row, "NaN, infinity or a number too large for float32"


def differ(one: DenseVectors, other: DenseVectors) -> bool:
    """Whether two vectors differ by more than vectors of one text may."""
    length = max(np.linalg.norm(one), np.linalg.norm(other))
    return bool(np.linalg.norm(one - other) > TOLERANCE * length)
