"""The plain words of a report: levels, terms, capabilities, public lists of weaknesses, encoder and data."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from unembed.games.threat import MEANINGS, Capability
from unembed.report.numbers import count
from unembed.results.schema import Run

_CAPABILITIES: Final = frozenset(c.value for c in Capability)

STATUS: Final[dict[str, str]] = {
    "leak": "Leak",
    "no-leak-found": "No leak found",
    "inconclusive": "Inconclusive",
    "could-not-measure": "Could not measure",
    "yardstick": "Yardstick, reads the texts",
}

LEVEL: Final[dict[str, str]] = {
    "high": "High exposure",
    "moderate": "Moderate exposure",
    "low": "Low exposure",
    "none": "No leak found",
    "unknown": "Unknown",
}

#: What a finding of this status tells, and what it does not.
STATUS_MEANING: Final[dict[str, str]] = {
    "leak": "The adversary did better with the vectors than anyone could without them.",
    "no-leak-found": (
        "The adversary did no better with the vectors than without them, and would have found a leak of the stated "
        "size. This holds for these attacks and this amount of knowledge, not for every possible attack."
    ),
    "inconclusive": "The measurement allows both a leak and none; the finding says what would settle it.",
    "could-not-measure": (
        "The attack did not show that it would find a leak, so its result says nothing in either direction. "
        "This is not a sign of safety."
    ),
    "yardstick": (
        "This was given the texts themselves, which no adversary is. It shows how much the texts would tell, to "
        "compare with; it is no leak of the vectors, and neither verdict nor policy rests on it."
    ),
}

OUTCOME: Final[dict[str, str]] = {
    "met": "Met",
    "violated": "Violated",
    "inconclusive": "Inconclusive",
    "could-not-measure": "Could not measure",
    "accepted": "Accepted",
    "not-applicable": "Not applicable",
}

FLOOR: Final[dict[str, str]] = {
    "prior": "guessing from what is common, without vectors",
    "shuffled": "the same attack on vectors that belong to other texts",
    "random": "the same attack on random vectors",
    "texts": "reading the words of the texts, without asking the model",
    "without": "the same attack on the same texts without what is asked for",
}

#: Metrics that count texts, with the least share of its content words that such a text gave back.
TEXT_SHARES: Final[dict[str, str]] = {
    "texts_a_quarter_recovered": "a quarter",
    "texts_half_recovered": "half",
    "texts_three_quarters_recovered": "three quarters",
}

GLOSSARY: Final[list[tuple[str, str]]] = [
    (
        "Vector, embedding",
        "The list of numbers an encoder makes of a text so that texts of like meaning lie close together.",
    ),
    ("Encoder", "The model that turns texts into vectors."),
    ("Adversary", "The attacker a measurement assumes, described by what they hold and can do."),
    (
        "Floor",
        "What the adversary scores without the information in the vectors, for example by always guessing "
        "what is most common. Only what lies above the floor is given away by the vectors. Where there are "
        "several, the strongest counts.",
    ),
    ("Excess", "The result minus the floor, measured on the same targets."),
    (
        "Interval",
        "The range that holds the true value in 95 of 100 repetitions. A wide interval means few targets.",
    ),
    (
        "Reference",
        "The same attack by the same adversary on another encoder's vectors of the same texts: something to compare "
        "with, on which no judgement rests.",
    ),
    ("Pairs", "Texts the adversary holds together with their vectors, used to train the attack."),
    ("Queries", "Texts the adversary had encoded on purpose."),
    (
        "Defense, adaptive",
        "A defense changes vectors before they are stored. An adaptive adversary knows it and trains on "
        "defended vectors; a defense that only holds against adversaries who don't adapt is no protection.",
    ),
    (
        "Could not measure",
        "An attack that finds nothing and could not show that it finds planted leaks or answers held-back pairs, or "
        "that crashed, tells nothing about safety. It is never counted as a pass.",
    ),
    (
        "Would have been found",
        "The smallest leak that this attack found in ten copies of these vectors out of ten, into which leaks of known "
        "size were planted. Its size is what an ideal reader of it scores above the floor.",
    ),
]


@dataclass(frozen=True)
class Taxon:
    """An entry of a public list of weaknesses."""

    id: str
    list: str
    name: str
    later: str = ""
    """Its id in the next edition of the list, where that has another."""


_OWASP: Final = "OWASP Top 10 for LLM Applications 2025"
_ATLAS: Final = "MITRE ATLAS"

TAXA: Final[dict[str, Taxon]] = {
    t.id: t
    for t in (
        Taxon("LLM02:2025", _OWASP, "Sensitive Information Disclosure", "LLM02:2026"),
        Taxon("LLM08:2025", _OWASP, "Vector and Embedding Weaknesses", "LLM09:2026"),
        Taxon("AML.T0024", _ATLAS, "Exfiltration via AI Inference API"),
        Taxon("AML.T0024.000", _ATLAS, "Infer Training Data Membership"),
        Taxon("AML.T0024.001", _ATLAS, "Invert AI Model"),
        Taxon("AML.T0024.002", _ATLAS, "Extract AI Model"),
    )
}

_ID: Final = re.compile(r"LLM\d\d:\d{4}|AML\.T\d{4}(\.\d{3})?")


def taxon(tag: str) -> Taxon:
    """The entry a tag names; a tag that is not known keeps its id, in a list of its own."""
    found = _ID.search(tag.upper())
    return TAXA.get(found[0] if found else tag) or Taxon(tag, "Other", tag)


def taxa(tags: Iterable[str]) -> list[Taxon]:
    """The entries that tags name, each once; a weakness of vectors that leaks also discloses information."""
    found: dict[Taxon, None] = {}
    for entry in map(taxon, tags):
        found |= dict.fromkeys([entry, TAXA["LLM02:2025"]] if entry.id == "LLM08:2025" else [entry])
    return list(found)


def capability(name: str) -> str:
    """A capability in plain words; one that is not ours keeps its name."""
    return MEANINGS[Capability(name)] if name in _CAPABILITIES else name.replace("-", " ").replace("_", " ")


_ROLES = {
    "corpus": "The whole collection",
    "target": "Texts under attack",
    "owner": "Texts the defense learnt from",
    "adversary": "Texts an insider holds",
    "external": "Public texts of another kind",
}


@dataclass(frozen=True)
class DataRow:
    """One collection of texts as it was used."""

    role: str
    name: str
    rows: str
    facts: str
    fingerprint: str


def words_of(key: str) -> str:
    """A field name as a label."""
    text = key.replace("_", " ").strip()
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


def data_rows(run: Run) -> list[DataRow]:
    """All collections with their counts."""
    return [
        DataRow(
            _ROLES[card.role],
            card.name,
            count(card.rows),
            "; ".join(f"{words_of(key).lower()}: {shown(value)}" for key, value in card.facts.items() if value != 0),
            card.fingerprint,
        )
        for card in run.data
    ]


def invented(run: Run) -> bool:
    """Whether the collection was made up by a generator, so that nobody stands in it."""
    return any(card.role == "corpus" and card.facts.get("generated") is True for card in run.data)


def taxonomy_rows(run: Run) -> list[tuple[Taxon, str]]:
    """The entries of public lists the run's questions fall under, with the questions."""
    found: dict[Taxon, list[str]] = {}
    for card in run.games:
        for entry in taxa(card.tags):
            found.setdefault(entry, []).append(card.name)
    return [(entry, ", ".join(names)) for entry, names in found.items()]
