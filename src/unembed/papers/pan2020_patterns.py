"""Pan et al. 2020, section V: Table II (birth dates of citizen numbers) and Figure 3 (nucleotides of genomes).

Of the paper's eight models only BERT is available; its vector is that of the first token, [CLS]. The other seven are
listed as not measured. Other encoders are measured beside it, and our own attack beside the paper's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.patterns import parse_pattern
from unembed.errors import DataError
from unembed.games.base import Deal, Material
from unembed.games.pattern import PatternGame
from unembed.games.threat import ADVERSARIES
from unembed.papers.base import Conditions, Measured, Size, by_size
from unembed.papers.datasets import read
from unembed.papers.encoders import RECIPES, Encoders
from unembed.papers.library import facts_of
from unembed.papers.tables import HEADLINE, AttackSpec, Names, Row, Table, played, refused, setting
from unembed.papers.texts import sample
from unembed.seeds import generator, seed_for

ENCODERS = ("bert-first", "bert-mean", "minilm", "bge", "use-lite", "hashing")
USUAL = by_size(("minilm",), ("minilm", "bge"), ("bert-first", "bert-mean", "minilm", "bge", "use-lite"))
PAPER, OURS, POSITIONS = "one network a part", "shared body (ours)", "position as input"
#: The paper's other models.
ABSENT = ("Transformer-XL", "XLNet", "GPT", "GPT-2", "RoBERTa", "XLM", "Ernie 2.0")
WHOLE = {"whole_top1": "whole top-1", "whole_top5": "whole top-5"}
#: The columns of Table II by the game's names.
DATE = {
    f"{kind}/birth.{part}": f"{part} {top}"
    for part in ("year", "month", "day")
    for kind, top in (("part", "top-1"), ("part_top5", "top-5"))
} | WHOLE


class Secrets:
    """Deals of one pattern, one encoder at a time: secrets alone, the adversary's and the challenger's apart."""

    def __init__(self, conditions: Conditions, game: PatternGame, target: Corpus | None = None) -> None:
        self.conditions, self.game, self.target = conditions, game, target
        pattern = parse_pattern(game.pattern)
        self.encoders = Encoders(conditions, Corpus.of(pattern.generate(1000, generator(conditions.seed, "fit")).texts))

    def deal(self, key: str, pairs: int | None = None) -> Deal[Any, Any]:
        """Vectors of both sides; with ``pairs`` the adversary gets only that many of its own."""
        target = self.target or Corpus.of(["-"])
        none = np.zeros((0, 1), dtype=np.float32)
        deal = self.game.deal(
            Material(
                target=target,
                known=Corpus.of([]),
                target_vectors=self.encoders.vectors(key, target) if self.target else none,
                known_vectors=none,
                encode=lambda texts: self.encoders.vectors(key, Corpus.of(texts)),
                adversary=ADVERSARIES["outsider"],
                seed=seed_for(self.conditions.seed, "deal"),
            )
        )
        if pairs is None:
            return deal
        return replace(deal, knowledge=self.game.some_pairs(deal.knowledge, np.arange(pairs)))

    def row(self, key: str, spec: AttackSpec, names: Names, pairs: int | None = None, **place: Any) -> Row:
        """One attack on one encoder."""
        name = setting(spec.title, RECIPES[key].title) + ("" if pairs is None else f" · {pairs:,} pairs")
        data = None if self.target is None else self.target.fingerprint
        identity = {**self.encoders.identity(key), "pairs": pairs, "data": data}
        dealt = partial(self.deal, key, pairs)
        seeds = (key, spec.title)
        return played(self.conditions, spec, self.game, dealt, name, names, identity, seeds=seeds, **place)


def _brief(size: Size) -> dict[str, Any]:
    return {"epochs": 2, "min_steps": 20} if size == "smoke" else {}


def _date_attacks(size: Size) -> list[AttackSpec]:
    larger = {"batch_size": 512, "learning_rate": 2e-3} if size == "full" else {}
    return [
        AttackSpec(PAPER, "pattern/fields", {**_brief(size), **larger}),
        AttackSpec(OURS, "pattern/shared", _brief(size)),
    ]


class _PatternTable(Table):
    """What the experiments on patterns share."""

    known: ClassVar[tuple[str, ...]] = ENCODERS
    encoders: ClassVar[Mapping[Size, tuple[str, ...]]] = USUAL
    pairs = by_size(200, 4_000, 100_000)
    targets = by_size(50, 1_000, 1_000)

    def game(self, pattern: str, size: Size, carrier: str = "alone") -> PatternGame:
        """Secrets of the challenger's own, alone or in sentences of our grammar."""
        pairs, planted = self.pairs[size], self.targets[size]
        return PatternGame(pattern=pattern, targets="planted", carrier=carrier, pairs=pairs, planted=planted)

    def notes(self, size: Size) -> list[str]:
        """How many secrets the adversary has."""
        return [f"{self.pairs[size]:,} secrets of the adversary's own, each alone in its text"]


class Table2(_PatternTable):
    """Year, month, day and whole birth date from the vectors of citizen numbers."""

    facts = facts_of("pan2020/table2")

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The paper's attack and ours, and the paper's models that can't be had."""
        secrets = Secrets(conditions, self.game("citizen-id", conditions.size))
        rows = [secrets.row(key, spec, DATE) for key in encoders for spec in _date_attacks(conditions.size)]
        rows += [refused(setting(PAPER, model), f"no weights of {model} are available") for model in ABSENT]
        return rows, self.notes(conditions.size)


class Table2Pairs(_PatternTable):
    """The whole birth date over the number of pairs: what Table II would be with fewer."""

    facts = facts_of("pan2020/table2-pairs")
    steps = by_size((100, 200), (500, 1_000, 2_000, 4_000), (1_000, 3_000, 10_000, 30_000, 100_000))

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The same targets for every number of pairs."""
        size = conditions.size
        secrets = Secrets(conditions, self.game("citizen-id", size))
        rows = [
            secrets.row(key, spec, WHOLE, pairs, series=setting(spec.title, RECIPES[key].title), x=float(pairs))
            for key in encoders
            for pairs in self.steps[size]
            for spec in _date_attacks(size)
        ]
        return rows, self.notes(size)


class Figure3(_PatternTable):
    """The nucleotide at each of 20 positions of a genome."""

    facts = facts_of("pan2020/figure3")
    targets = by_size(50, 1_000, 2_000)

    def attacks(self, size: Size) -> list[AttackSpec]:
        """The paper's attack, one network per part, and ours."""
        larger = {"batch_size": 1024, "learning_rate": 3e-3} if size == "full" else {}
        return [
            AttackSpec(POSITIONS, "pattern/positions", {**_brief(size), **larger}),
            *_date_attacks(size),
        ]

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """One curve for each attack and encoder."""
        size = conditions.size
        game, target = self.game("genome", size), None
        if size != "smoke":
            windows = read(conditions, "splice_sites", "window20", ["clean"])
            clean = [i for i, (text, ok) in enumerate(zip(windows.texts, windows.column("clean"), strict=True))
                     if ok and len(text) == 20]  # fmt: skip
            if not clean:
                raise DataError("splice_sites.parquet has no clean window of 20 nucleotides")
            target = sample(windows.select(clean), self.targets[size], conditions.seed, "windows")
            game.set_params(targets="found")
        secrets = Secrets(conditions, game, target)
        positions = {f"part/{part.name}": "top-1" for part in parse_pattern("genome").parts}
        rows = [
            _by_position(secrets.row(key, spec, {HEADLINE: "mean top-1", **positions}))
            for key in encoders
            for spec in self.attacks(size)
        ]
        rows.append(refused(setting(POSITIONS, "GPT-2"), "no weights of GPT-2 are available"))
        return rows, self.notes(size)


def _by_position(row: Row) -> Row:
    """The mean, and the positions as points of a curve."""

    def measure() -> list[Measured]:
        mean, *places = row.measure()
        return [mean] + [
            replace(part, setting=f"{row.setting} · position {place}", series=row.setting, x=float(place))
            for place, part in enumerate(places, start=1)
        ]

    return replace(row, measure=measure)


class OtherPatterns(_PatternTable):
    """The same attacks on other secrets, alone and inside sentences."""

    facts = facts_of("pan2020/other-patterns")
    patterns = by_size(("passport",), ("phone", "iban", "card", "e-mail"), ("phone", "iban", "card", "e-mail"))
    pairs = by_size(200, 3_000, 50_000)
    targets = by_size(50, 500, 1_000)
    names: ClassVar[Names] = {HEADLINE: "parts top-1", "part_top5": "parts top-5", **WHOLE}

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """Every pattern alone and in sentences of our grammar."""
        size = conditions.size
        rows = []
        for pattern in self.patterns[size]:
            for carrier, where in (("alone", "alone"), ("sentences", "in sentences")):
                secrets = Secrets(conditions, self.game(pattern, size, carrier))
                about = [replace(a, title=f"{pattern}, {where} · {a.title}") for a in _date_attacks(size)]
                rows += [secrets.row(key, spec, self.names) for key in encoders for spec in about]
        return rows, [f"{self.pairs[size]:,} secrets of the adversary's own"]
