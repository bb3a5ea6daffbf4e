"""The facts of a run as rows of words: key numbers, encoder, data, taxonomy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from unembed.report.numbers import count, number
from unembed.report.view import Names, measured, sortable, tone
from unembed.report.words import Taxon, taxon
from unembed.results.schema import DataCard, Run

_ROLES = {
    "corpus": "The whole collection",
    "target": "Texts under attack",
    "adversary": "Texts the adversary holds",
    "external": "Public texts of another kind",
}


@dataclass(frozen=True)
class KeyNumber:
    """One of the few numbers at the top."""

    value: str
    label: str
    detail: str
    tone: str


def key_numbers(run: Run) -> list[KeyNumber]:
    """Three or four numbers that carry the verdict."""
    names = Names(run)
    whole = [f for f in run.findings if not f.curve and not f.yardstick]
    sure = [f for f in whole if measured(f)]
    leaks = [f for f in sure if f.status == "leak"]
    named = [f for f in leaks if f.id in run.verdict.findings] or leaks
    numbers = []
    if named:
        top = max(named, key=lambda f: sortable(f.excess.value))
        card = next((c for c in run.games if c.name == top.game), None)
        meaning = (card.metric_meaning if card else "") or top.metric
        numbers.append(
            KeyNumber(
                number(top.estimate.value, top.metric),
                meaning,
                f"{number(top.floor.value, top.metric)} would be reached without the vectors",
                tone(top),
            )
        )
    without = len(whole) - len(sure)
    numbers.append(
        KeyNumber(
            f"{len(leaks)} of {len(whole)}",
            "measurements show a leak",
            f"{len([f for f in sure if f.status == 'no-leak-found'])} found none",
            "plain",
        )
    )
    if run.verdict.adversary:
        ids = [card.name for card in run.adversaries]
        name = run.verdict.adversary
        rank = f"{ids.index(name) + 1} of {len(ids)}" if name in ids else "–"
        numbers.append(KeyNumber(rank, "is the weakest adversary that succeeds", names.adversary(name), "plain"))
    failed = len([c for c in run.cells if c.status == "failed"])
    numbers.append(
        KeyNumber(
            str(without + failed),
            "could not be measured",
            f"{len(run.skipped)} more not tested",
            "unknown" if without + failed else "plain",
        )
    )
    return numbers


def words_of(key: str) -> str:
    """A field name as a label."""
    text = key.replace("_", " ").replace("-", " ").strip()
    return text[:1].upper() + text[1:]


def shown(value: Any) -> str:
    """A setting or fact of any kind as short text."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return count(value)
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return ", ".join(shown(item) for item in value)
    return json.dumps(value, ensure_ascii=False, default=str)


def encoder_rows(run: Run) -> list[tuple[str, str]]:
    """The encoder's card, name first."""
    told = {key: value for key, value in run.encoder.items() if value not in (None, {}, [], False)}
    ordered = sorted(told.items(), key=lambda item: item[0] != "name")
    return [(words_of(key), shown(value)) for key, value in ordered]


@dataclass(frozen=True)
class DataRow:
    """One collection of texts as it was used."""

    role: str
    name: str
    rows: str
    facts: str
    fingerprint: str


def data_rows(run: Run) -> list[DataRow]:
    """All collections with their counts."""
    return [_data_row(card) for card in run.data]


def _data_row(card: DataCard) -> DataRow:
    facts = "; ".join(f"{words_of(key).lower()}: {shown(value)}" for key, value in card.facts.items())
    return DataRow(_ROLES[card.role], card.name, count(card.rows), facts, card.fingerprint)


def taxonomy_rows(run: Run) -> list[tuple[Taxon, str]]:
    """The entries of public lists the run's questions fall under, with the questions."""
    found: dict[Taxon, list[str]] = {}
    for card in run.games:
        for tag in card.tags:
            found.setdefault(taxon(tag), []).append(card.name)
    return [(entry, ", ".join(names)) for entry, names in found.items()]
