"""Settings files against pydantic models: every mistake becomes one line that says what to type next."""

from __future__ import annotations

import difflib
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from unembed.errors import UsageError

ModelT = TypeVar("ModelT", bound=BaseModel)

_SHOWN_VALUE = 40


def validate(model: type[ModelT], data: object, where: str) -> ModelT:
    """``data`` as a ``model``; otherwise a UsageError that names ``where`` (a file), the key and the remedy.

    Unknown keys come first, because a misspelt key is usually also the reason for a missing one.
    """
    try:
        return model.model_validate(data)
    except ValidationError as error:
        problems = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
        first = problems[0]
        loc = tuple(first["loc"])
        message = f"{where}: {_say(model, loc, first['type'], first['msg'], first.get('input'))}"
        if len(problems) > 1:
            message += f" (and {len(problems) - 1} more)"
        raise UsageError(message) from error


def _say(model: type[BaseModel], loc: tuple[int | str, ...], kind: str, text: str, given: object) -> str:
    if kind == "extra_forbidden":
        known = _keys_at(model, loc[:-1])
        close = difflib.get_close_matches(str(loc[-1]), known, n=1, cutoff=0.5)
        place = f" in {_path(loc[:-1])}" if len(loc) > 1 else ""
        if close:
            return f"unknown key '{loc[-1]}'{place}; did you mean '{close[0]}'?"
        return f"unknown key '{loc[-1]}'{place}" + (f"; known: {', '.join(sorted(known))}" if known else "")
    if kind == "missing":
        place = f" in {_path(loc[:-1])}" if len(loc) > 1 else ""
        return f"'{loc[-1]}' is missing{place}"
    sentence = text.removeprefix("Value error, ")
    sentence = sentence[:1].lower() + sentence[1:]
    shown = f", got {_short(given)}" if isinstance(given, str | int | float | bool) else ""
    return f"{_path(loc)}: {sentence}{shown}" if loc else f"{sentence}{shown}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN_VALUE else text[:_SHOWN_VALUE] + "…"


def _path(loc: Sequence[int | str]) -> str:
    """``rules[1].max``, counting from 0 as TOML libraries do."""
    out = ""
    for part in loc:
        out += f"[{part}]" if isinstance(part, int) else (f".{part}" if out else part)
    return out


def _keys_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """The keys that would have been allowed at a place in a nested model."""
    places: list[Any] = [model]
    for part in loc:
        following = [step for place in places for step in _step(place, part)]
        # A part that leads nowhere is the tag of a union, which pydantic puts into the path.
        places = following or places
    return sorted({key for place in places for found in _models(place) for key in _names(found)})


def _names(model: type[BaseModel]) -> list[str]:
    return [field.alias or name for name, field in model.model_fields.items()]


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models an annotation may hold directly: through Annotated, unions and None."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    origin = get_origin(annotation)
    if origin is Annotated:
        yield from _models(get_args(annotation)[0])
    elif origin in (Union, types.UnionType):
        for choice in get_args(annotation):
            yield from _models(choice)


def _step(annotation: Any, part: int | str) -> Iterator[Any]:
    """What stands one key or index further in."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        yield from _step(arguments[0], part)
    elif origin in (Union, types.UnionType):
        for choice in arguments:
            yield from _step(choice, part)
    elif isinstance(part, int) and isinstance(origin, type) and issubclass(origin, Sequence | set):
        yield arguments[0]
    elif isinstance(origin, type) and issubclass(origin, Mapping):
        yield arguments[1]
    else:
        for model in _models(annotation):
            for name, field in model.model_fields.items():
                if part in (name, field.alias):
                    yield field.annotation
