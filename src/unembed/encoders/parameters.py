"""Options as users type them, checked against a constructor and converted to its annotated types."""

from __future__ import annotations

import inspect
import json
import re
import sys
import typing
from collections.abc import Mapping
from typing import Any

from unembed.errors import UnknownNameError, UsageError

#: Names under which people give a secret, which would then stand in results and reports.
_SECRET = re.compile(r"(.*[_-])?(key|apikey|token|secret|password)")


def typed_options(factory: Any, options: Mapping[str, Any], *, kind: str) -> dict[str, Any]:
    """Options checked against a constructor: names known, values converted to the annotated types.

    Strings, as the command line gives them, become numbers, booleans, None (``none``) or, for mappings,
    the JSON object they spell.
    """
    parameters = inspect.signature(factory).parameters
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    known = [n for n, p in parameters.items() if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    where = ", as api_key_env=NAME" if "api_key_env" in known else ""
    hints = _hints(factory)
    values: dict[str, Any] = {}
    for name, value in options.items():
        if name not in known:
            if _SECRET.fullmatch(name.lower()):
                raise UsageError(f"{kind}: put the key into an environment variable and name the variable{where}")
            if not open_ended:
                raise UnknownNameError(f"option of {kind}", name, known)
            values[name] = value
            continue
        values[name] = _convert(value, hints.get(name, Any), f"option '{name}' of {kind}")
    missing = [n for n in known if parameters[n].default is inspect.Parameter.empty and n not in values]
    if missing:
        raise UsageError(f"{kind} needs the option{'s' * (len(missing) > 1)} {', '.join(missing)}")
    return values


def _hints(factory: Any) -> dict[str, Any]:
    try:
        if not inspect.isclass(factory):
            return typing.get_type_hints(factory)
        # A constructor made from fields also names types that only the module of a base class imports.
        modules = (sys.modules.get(base.__module__) for base in reversed(factory.__mro__))
        known = {name: value for module in modules if module for name, value in vars(module).items()}
        return typing.get_type_hints(factory.__init__, known)
    except (NameError, TypeError, AttributeError):  # a plug-in whose annotations can't be resolved
        return {}


def _convert(value: Any, annotation: Any, what: str) -> Any:
    if annotation is Any or annotation is object:
        return value
    allowed = [a for a in typing.get_args(annotation) if a is not type(None)]
    optional = type(None) in typing.get_args(annotation)
    plain = allowed[0] if optional and len(allowed) == 1 else annotation
    if isinstance(value, str) and optional and value.lower() in ("none", "null"):
        return None
    if isinstance(value, str) and typing.get_origin(plain) in (dict, Mapping):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise UsageError(f"""{what} must be a JSON object such as '{{"query": "query: "}}'""") from None
    if typing.get_origin(plain) is typing.Literal and isinstance(value, str):
        choices = typing.get_args(plain)
        if value not in choices:
            raise UnknownNameError(what, value, [str(c) for c in choices])
        return value
    if isinstance(value, bool) and plain in (int, float):
        raise UsageError(f"{what} must be a number, not {value}")
    return _validated(value, annotation, what)


def _validated(value: Any, annotation: Any, what: str) -> Any:
    from pydantic import ConfigDict, PydanticSchemaGenerationError, TypeAdapter, ValidationError
    from pydantic.errors import PydanticUserError

    try:
        adapter: TypeAdapter[Any] = TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=True))
    except (PydanticSchemaGenerationError, PydanticUserError):
        return value
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        reason = error.errors()[0]["msg"].lower()
    shown = annotation.__name__ if inspect.isclass(annotation) else str(annotation)
    shown = re.sub(r"\b(?:typing|collections\.abc|pathlib)\.", "", shown)
    raise UsageError(f"{what} must be {shown}: {reason}")
