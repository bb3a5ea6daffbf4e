"""What exists is documented: attacks, encoders, verbs, options, keys, fields, names."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import BaseModel

import unembed
from unembed.attacks import ATTACKS
from unembed.cli.app import app
from unembed.cli.catalogue import registries
from unembed.encoders import ENCODERS
from unembed.games.threat import ADVERSARIES, Capability
from unembed.gate.baseline import Acceptance
from unembed.gate.exit_codes import MEANING
from unembed.gate.policy import Rule
from unembed.papers import PAPERS
from unembed.report import ENDINGS
from unembed.results import schema
from unembed.runner.spec import whole_spec

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
#: Verbs that take the options of an audit.
AUDITING = ("attack", "defend")
VERBS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def built_in(registry: Any) -> list[str]:
    return [name for name in registry if registry.origin(name).startswith("unembed.")]


def section(page: str, title: str, level: int = 2) -> str:
    text = (DOCS / page).read_text(encoding="utf-8")
    marks = "#" * level
    found = re.search(rf"^{marks} {re.escape(title)}$(.*?)(?=^#{{2,{level}}} |\Z)", text, re.M | re.S)
    assert found, f"{page} has no section '{title}'"
    return found[1]


def options(verb: Any) -> set[str]:
    named = [o for p in verb.params for o in (*p.opts, *p.secondary_opts) if o.startswith("-")]
    return set(named) - {"--help", "-h"}


@pytest.mark.parametrize("name", built_in(ATTACKS))
def test_attack_has_a_card_with_all_its_parts(name: str) -> None:
    path = DOCS / "attacks" / f"{name.replace('/', '-')}.md"
    assert path.is_file(), f"write {path.relative_to(ROOT)}"
    card = path.read_text(encoding="utf-8")
    for part in ("Threat", "Paper", "Requires", "Cost", "Parameters", "Reading the number", "Departures", "Ethics"):
        assert f"**{part}" in card, f"{path.name} lacks '{part}'"
    make = ATTACKS.get(name)
    for capability in make.facts.requires:
        assert capability.value in card
    if make.facts.paper:
        assert f"`{make.facts.paper}`" in card
    for parameter, facts in inspect.signature(make).parameters.items():
        default = str(facts.default).lower() if isinstance(facts.default, bool) else str(facts.default)
        row = f"| `{parameter}` | {default} |"
        assert row in card, f"{path.name} lacks the parameter '{parameter}' or its default: {row}"
    assert f"attacks/{path.name}" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"`{name}`]({path.name})" in (DOCS / "attacks" / "index.md").read_text(encoding="utf-8")


def test_cards_are_of_attacks_that_exist() -> None:
    cards = {p.stem for p in (DOCS / "attacks").glob("*.md")} - {"index"}
    assert cards == {name.replace("/", "-") for name in built_in(ATTACKS)}


@pytest.mark.parametrize("name", built_in(ENCODERS))
def test_encoder_has_a_section(name: str) -> None:
    assert section("encoders.md", name).strip()


@pytest.mark.parametrize("verb", VERBS)
def test_verb_and_its_options_are_in_the_reference(verb: str) -> None:
    text = section("reference/cli.md", verb)
    assert f"$ unembed {verb}" in text
    wanted = options(VERBS[verb])
    if verb in AUDITING:
        wanted -= options(VERBS["audit"])
    for name, inner in getattr(VERBS[verb], "commands", {}).items():
        assert f"unembed {verb} {name}" in text or f"### {verb} {name}" in text
        wanted |= options(inner)
    missing = [o for o in sorted(wanted) if f"`{o}`" not in text]
    assert not missing, f"docs/reference/cli.md, {verb}: describe {', '.join(missing)}"


@pytest.mark.parametrize("verb", VERBS)
def test_reference_names_no_option_that_is_gone(verb: str) -> None:
    known = options(VERBS[verb]) | {"--help", "-h"}
    for inner in getattr(VERBS[verb], "commands", {}).values():
        known |= options(inner)
    if verb in AUDITING:
        known |= options(VERBS["audit"])
    listed = re.findall(r"^\| ((?:`-[^|]*)) \|", section("reference/cli.md", verb), re.M)
    said = {o for cell in listed for o in re.findall(r"`(--?[\w-]+)`", cell)}
    assert said <= known, f"no such option: {sorted(said - known)}"


def tables(model: type[BaseModel], name: str = "Top level") -> Iterator[tuple[str, type[BaseModel]]]:
    yield name, model
    for key, field in model.model_fields.items():
        for inner in _models(field.annotation):
            yield from tables(inner, key)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for part in getattr(annotation, "__args__", ()):
        yield from _models(part)


HEADINGS = {
    "Top level": "Top level",
    "defenses": "`[[defenses]]`",
    "utility": "`[[utility]]`",
    "adversary": "`[[adversary]]`",
    "rules": "`[[policy.rules]]`",
}


@pytest.mark.parametrize(("table", "model"), list(tables(whole_spec())), ids=lambda v: v if isinstance(v, str) else "")
def test_audit_file_keys_are_in_the_reference(table: str, model: type[BaseModel]) -> None:
    heading = HEADINGS.get(table, f"`[{table}]`") if table != "policy" else "`[[policy.rules]]`"
    text = section("reference/audit-file.md", heading)
    missing = [key for key in model.model_fields if f"`{key}`" not in text]
    assert not missing, f"docs/reference/audit-file.md, {heading}: describe {', '.join(missing)}"


def test_rules_and_acceptances_are_in_the_reference() -> None:
    rules, accept = (section("reference/audit-file.md", h) for h in ("`[[policy.rules]]`", "The baseline file"))
    assert not [k for k in Rule.model_fields if f"`{k}`" not in rules]
    assert not [k for k in Acceptance.model_fields if f"`{k}`" not in accept]


def test_result_fields_are_in_the_reference() -> None:
    text = (DOCS / "reference" / "result-schema.md").read_text(encoding="utf-8")
    models = [m for m in vars(schema).values() if inspect.isclass(m) and issubclass(m, schema.Strict)]
    missing = {f"{m.__name__}.{k}" for m in models for k in m.model_fields if f"`{k}`" not in text}
    assert not missing
    assert f"schema version {schema.SCHEMA_VERSION}" in text
    assert not [e for e in ENDINGS if f"`{e}`" not in text]


def test_names_are_in_the_reference() -> None:
    text = (DOCS / "reference" / "names.md").read_text(encoding="utf-8")
    names = {n for registry in registries().values() for n in built_in(registry)} | set(ADVERSARIES) | set(PAPERS)
    assert not [n for n in sorted(names) if f"`{n}`" not in text]


def test_python_names_are_in_the_reference() -> None:
    text = (DOCS / "reference" / "api.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^::: (\S+)\n    options:\n      heading: unembed\.(\w+)$", text, re.M))
    assert set(shown.values()) | {"__version__"} == set(unembed.__all__)
    assert "`unembed.__version__`" in text
    for place, name in shown.items():
        module, _, defined = place.rpartition(".")
        assert getattr(import_module(module), defined) is unembed.__getattr__(name), place


def test_exit_codes_and_capabilities_are_in_the_reference() -> None:
    codes = (DOCS / "reference" / "exit-codes.md").read_text(encoding="utf-8")
    for code, meaning in MEANING.items():
        assert f"| {code} | {meaning} |" in codes
    threats = (DOCS / "reference" / "threat-model.md").read_text(encoding="utf-8")
    assert not [c.value for c in Capability if f"| {c.value} |" not in threats]
