"""``unembed show``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from unembed.cli.completion import of_kind

EXAMPLE = "unembed show inversion/mlc"


def show(
    name: Annotated[
        str,
        typer.Argument(
            help="A name of 'unembed list', file.py:Class, 'schema' or 'exit-codes'.",
            show_default=False,
            autocompletion=of_kind("attacks", "games", "encoders", "defenses", "utility", "papers", "adversaries"),
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="As JSON on stdout.")] = False,
) -> int:
    """Show the facts and parameters of anything that has a name, the result schema, or the exit codes."""
    import json

    from unembed.cli.catalogue import find
    from unembed.cli.output import Voice, raw, table

    voice = Voice(as_json=as_json)
    if name == "schema":
        from unembed.results.schema import json_schema

        raw(json.dumps(json_schema(), indent=2) + "\n")
        return 0
    if name == "exit-codes":
        from unembed.gate.exit_codes import MEANING

        voice.data({str(code): meaning for code, meaning in MEANING.items()})
        if not as_json:
            voice.show(table(("Code", "Meaning"), list(MEANING.items()), right=(0,)))
        return 0
    described = [describe(name, kind, found) for kind, found in find(name)]
    voice.data(described[0] if len(described) == 1 else described)
    if as_json:
        return 0
    for facts in described:
        parameters = facts.pop("parameters")
        voice.show(table(("", ""), [(k, _shown(v)) for k, v in facts.items() if v not in (None, [], "")]))
        if parameters:
            rows = [(p["name"], p["type"], "required" if p["required"] else repr(p["default"])) for p in parameters]
            voice.line()
            voice.show(table(("Parameter", "Type", "Default"), rows))
    return 0


def describe(name: str, kind: str, found: Any) -> dict[str, Any]:
    """The facts a thing states and the parameters of its constructor, as plain data."""
    import inspect
    from dataclasses import asdict, is_dataclass

    from unembed.cli.catalogue import title_of

    facts = getattr(found, "facts", None)
    stated = asdict(facts) if is_dataclass(facts) and not isinstance(facts, type) else {}
    if is_dataclass(found) and not isinstance(found, type):
        stated = asdict(found)
    described: dict[str, Any] = {"name": name, "kind": kind, "title": title_of(found)}
    described |= {k: _plain(v) for k, v in stated.items() if k != "name" and v is not None}
    if not stated:
        described["description"] = inspect.getdoc(found)
    described["parameters"] = _parameters(found) if callable(found) else []
    return described


def _parameters(found: Any) -> list[dict[str, Any]]:
    import inspect

    parameters = []
    for p in inspect.signature(found).parameters.values():
        if p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL):
            continue
        required = p.default is p.empty
        kind = p.annotation if isinstance(p.annotation, str) else getattr(p.annotation, "__name__", "")
        parameters.append(
            {
                "name": p.name,
                "type": "" if p.annotation is p.empty else kind,
                "required": required,
                "default": None if required else _plain(p.default),
            }
        )
    return parameters


def _plain(value: Any) -> Any:
    if isinstance(value, set | frozenset):
        return sorted(str(v) for v in value)
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def _shown(value: Any) -> str:
    return ", ".join(str(v) for v in value) if isinstance(value, list) else str(value)
