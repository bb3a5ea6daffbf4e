"""The papers and what their experiments say of themselves, from ``experiments.toml``."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from unembed.papers.base import ExperimentFacts, Published


@dataclass(frozen=True)
class Paper:
    """One publication and the part of it that can be reproduced here."""

    name: str
    title: str
    authors: str
    year: int
    venue: str
    scope: str


@cache
def read_table(name: str) -> dict[str, Any]:
    """A table that comes with the package."""
    return tomllib.loads(files("unembed.papers").joinpath(f"{name}.toml").read_text(encoding="utf-8"))


PAPERS: dict[str, Paper] = {name: Paper(name, **entry) for name, entry in read_table("experiments")["papers"].items()}


def facts_of(name: str) -> ExperimentFacts:
    """What an experiment says of itself, with the figures that its paper prints."""
    table = read_table("experiments")
    entry = table["experiments"][name]
    printed = table["experiments"][entry.get("published_as", name)]
    return ExperimentFacts(
        name,
        paper=name.partition("/")[0],
        title=entry["title"],
        section=entry["section"],
        published=tuple(
            Published(setting, metric, value)
            for setting, values in printed.get("published", {}).items()
            for metric, value in zip(printed["metrics"], values, strict=False)
        ),
        departures=entry["departures"].format_map(table["shared"]),
        headline=entry.get("headline"),
        axis=entry.get("axis"),
    )
