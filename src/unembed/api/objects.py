"""Encoders, attacks, games, defenses and tasks given as objects or classes, as whoever works in a notebook has them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unembed.encoders import Encoder, build_encoder, encoder_problem
from unembed.encoders.base import Seen
from unembed.encoders.callables import CallableEncoder
from unembed.encoders.endpoint import EndpointEncoder
from unembed.errors import PluginError, UsageError
from unembed.registry import Registry


class ModelObject(CallableEncoder):
    """An object with ``encode`` that may say how much of a text it reads, as a SentenceTransformer does."""

    def seen(self, texts: Sequence[str], *, role: str = "document") -> Seen | None:
        """How much of each text the model reads; None where it does not say."""
        limit, tokenizer = getattr(self.function, "max_seq_length", None), getattr(self.function, "tokenizer", None)
        if not isinstance(limit, int) or not hasattr(tokenizer, "is_fast"):
            return None
        from unembed.encoders.model_loading import seen_by

        return seen_by(tokenizer, list(texts), limit, "")


def encoder_object(given: Any) -> Encoder:
    """An encoder from an encoder, a class of encoders, any object with ``encode``, or a function of texts."""
    if inspect.isclass(given) and encoder_problem(given) is None:
        try:
            given = given()
        except TypeError as error:
            raise UsageError(f"{given.__name__} can't be made without arguments: give an object") from error
    if isinstance(given, EndpointEncoder):
        given.check()
    if callable(getattr(given, "encode", None)) and hasattr(type(given), "card"):
        made: Encoder = given
        return made
    if not callable(given) and not callable(getattr(given, "encode", None)):
        raise UsageError(f"encoder: a {type(given).__name__} has no method encode and can't be called")
    shown = getattr(given, "__qualname__", type(given).__name__).replace("<lambda>", "function")
    return ModelObject(given, name=shown)


def ready_encoder(given: Any, options: Mapping[str, Any], fit: Sequence[str] | None) -> Encoder:
    """An encoder that can encode, from a name with options or from an object."""
    if isinstance(given, Mapping):
        table = dict(given)
        given, options = table.pop("name", None), {**table, **options}
    if isinstance(given, str):
        return build_encoder(given, options, fit_texts=fit)
    if given is None:
        raise UsageError("encoder: give a name, a function or an object with encode")
    return build_encoder(encoder_object(given), options, fit_texts=fit)


def encoder_table(given: Any) -> tuple[dict[str, Any], Encoder | None]:
    """What an audit file would say of an encoder, and the encoder itself where it is an object."""
    if given is None:
        return {}, None
    if isinstance(given, str):
        return {"name": given}, None
    if isinstance(given, Mapping):
        return dict(given), None
    made = encoder_object(given)
    name = made.name if isinstance(made, ModelObject) else type(made).__name__
    return {"name": f"callable:{name}"}, made


@dataclass(frozen=True)
class Part:
    """A game, an attack, a defense or a task: its name, its parameters, and its class where it was not named."""

    name: str
    params: dict[str, Any]
    made_by: type[Any] | None = None

    @property
    def table(self) -> dict[str, Any]:
        """As an audit file has it."""
        return {"name": self.name, **self.params}


def part_of(registry: Registry[type[Any]], given: Any) -> Part:
    """What is meant by a name, a class, an object or a table with a name."""
    if isinstance(given, str):
        return Part(given, {})
    if isinstance(given, Mapping):
        table = dict(given)
        if not isinstance(table.get("name"), str):
            raise UsageError(f"{registry.kind}: a table needs a name")
        return Part(table.pop("name"), table)
    make = given if inspect.isclass(given) else type(given)
    name = getattr(getattr(make, "facts", None), "name", None)
    if not isinstance(name, str):
        raise PluginError(f"{make.__name__} is not {_article(registry.kind)}: it has no facts")
    params = {} if inspect.isclass(given) else _params(given)
    if name in registry and registry.get(name) is make:
        return Part(name, params)
    return Part(name, params, make)


def _params(given: Any) -> dict[str, Any]:
    defaults = inspect.signature(type(given)).parameters
    found = given.get_params() if callable(getattr(given, "get_params", None)) else {}
    return {k: v for k, v in found.items() if k not in ("seed", "device") and v is not defaults[k].default}


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def listed(given: Any) -> list[Any]:
    """One thing or several, as a list."""
    if given is None:
        return []
    return list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
