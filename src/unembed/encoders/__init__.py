"""Text to vectors: one file per family, the cache, and ``build_encoder`` that makes one from a name.

Names are resolved on first use; nothing heavy is imported before an encoder encodes.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unembed.encoders.base import (
    DenseVectors,
    Encoder,
    EncoderCard,
    FittedEncoder,
    LimitedEncoder,
    Seen,
    Vectors,
    WhiteBoxEncoder,
)
from unembed.encoders.parameters import typed_options
from unembed.errors import PluginError, UsageError, fenced
from unembed.registry import Registry

__all__ = [
    "DEFAULT_ENCODER",
    "ENCODERS",
    "DenseVectors",
    "Encoder",
    "EncoderCard",
    "FittedEncoder",
    "LimitedEncoder",
    "Seen",
    "Vectors",
    "WhiteBoxEncoder",
    "build_encoder",
    "encoder_problem",
    "must_be_fitted",
    "new_encoder",
]

#: The encoder an audit uses unless another is named; its weights come with ``unembed[standard]``.
DEFAULT_ENCODER = "minilm"


def encoder_problem(found: object) -> str | None:
    """What keeps an object from being an encoder class or a factory of encoders; None if nothing does."""
    if inspect.isclass(found):
        if not callable(getattr(found, "encode", None)):
            return "the class has no method encode(texts, *, role='document')"
        declared = any("card" in vars(c) or "card" in vars(c).get("__annotations__", {}) for c in found.__mro__)
        return None if declared else "the class has no property 'card'"
    return None if callable(found) else f"{type(found).__name__} is neither a class nor a function"


ENCODERS: Registry[Callable[..., Encoder]] = Registry(
    "encoder",
    {
        "tfidf": "unembed.encoders.bag_of_words:TfidfEncoder",
        "hashing": "unembed.encoders.bag_of_words:HashingEncoder",
        "lsa": "unembed.encoders.lsa:LsaEncoder",
        "doc2vec": "unembed.encoders.doc2vec:Doc2VecEncoder",
        "word2vec": "unembed.encoders.word2vec:Word2VecEncoder",
        "fasttext": "unembed.encoders.fasttext:FastTextEncoder",
        "glove": "unembed.encoders.glove:GloveEncoder",
        "transformer": "unembed.encoders.transformer:TransformerEncoder",
        "sentence-transformer": "unembed.encoders.sentence_transformer:SentenceTransformerEncoder",
        "minilm": "unembed.encoders.minilm:MiniLmEncoder",
        "use-lite": "unembed.encoders.use_lite:UseLiteEncoder",
        "callable": "unembed.encoders.callables:CallableEncoder",
        "vectors": "unembed.encoders.vectors:VectorsEncoder",
        "endpoint": "unembed.encoders.endpoint:EndpointEncoder",
    },
    group="unembed.encoders",
    check=encoder_problem,
)


def build_encoder(
    name: str | Encoder,
    options: Mapping[str, Any] | None = None,
    *,
    fit_texts: Sequence[str] | None = None,
) -> Encoder:
    """An encoder ready to encode, from a name, a shorthand or an object that already is one.

    ``name`` is a registered name, ``path/to/file.py:Class``, or ``name:value``, where the value is the
    parameter that the class declares as its ``shorthand``: ``transformer:bert-base-uncased``,
    ``callable:mine.py:embed``, ``vectors:file.npy``, ``endpoint:http://localhost:8000/v1``. Options may be
    strings, as typed on a command line. An encoder that must see texts first is fitted on ``fit_texts``.
    """
    if not isinstance(name, str):
        return _ready_object(name, options, fit_texts)
    encoder = new_encoder(name, options)
    with fenced(kind := f"encoder '{name}'"):
        return _fitted(encoder, fit_texts, kind)


def new_encoder(name: str, options: Mapping[str, Any] | None = None) -> Encoder:
    """An encoder as its constructor leaves it: one that must see texts has seen none."""
    given = dict(options or {})
    base, colon, value = name.partition(":")
    if name in ENCODERS or not colon or base not in ENCODERS:
        factory, kind = ENCODERS.get(name), f"encoder '{name}'"
    else:
        factory, kind = ENCODERS.get(base), f"encoder '{base}'"
        parameter = getattr(factory, "shorthand", None)
        if parameter is None:
            raise UsageError(f"{kind} takes no value after a colon; options are given as name=value")
        if given.get(parameter, value) != value:
            raise UsageError(f"{kind} is given '{parameter}' twice, with different values")
        given[parameter] = value
    with fenced(kind):
        encoder = factory(**typed_options(factory, given, kind=kind))
        if not _answers(encoder):
            raise PluginError(f"{kind} made a {type(encoder).__name__}, which has no encode and card")
        return encoder


def must_be_fitted(encoder: Encoder) -> bool:
    """Whether an encoder must see texts before it can encode."""
    return callable(getattr(encoder, "fit", None)) and not getattr(encoder, "is_fitted", False)


def _answers(candidate: object) -> bool:
    """Whether an object has the two members of an encoder, without evaluating them (a card may load)."""
    card = hasattr(type(candidate), "card") or "card" in getattr(candidate, "__dict__", {})
    return card and callable(getattr(candidate, "encode", None))


def _ready_object(given: object, options: Mapping[str, Any] | None, texts: Sequence[str] | None) -> Encoder:
    if options:
        raise UsageError("options go with an encoder's name; an encoder object already has its own")
    if not _answers(given):
        raise UsageError(f"{type(given).__name__} is not an encoder: it needs encode(texts, *, role) and card")
    return _fitted(given, texts, f"encoder {type(given).__name__}")  # type: ignore[arg-type]


def _fitted(encoder: Encoder, texts: Sequence[str] | None, kind: str) -> Encoder:
    if not must_be_fitted(encoder):
        return encoder
    if texts is None:
        raise UsageError(f"{kind} must see texts before it can encode: give fit_texts or load a saved one")
    encoder.fit(texts)  # type: ignore[attr-defined]
    return encoder
