"""Pan et al. 2020, section V: Table II (birth dates of citizen numbers) and Figure 3 (nucleotides of genomes).

Of the paper's eight models BERT is at hand; its vector is that of the token [CLS], the first one. The other seven are
listed as not measured. Encoders of our own stand beside it, and our own attack beside the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from unembed.corpora.corpus import Corpus
from unembed.corpora.patterns import parse_pattern
from unembed.encoders.base import Vectors
from unembed.errors import DataError
from unembed.games.base import Deal, Material
from unembed.games.pattern import PatternGame
from unembed.games.play import Play, play
from unembed.games.threat import ADVERSARIES
from unembed.metrics.estimate import Estimate
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Published, Reproduction, Size, Unmeasured
from unembed.papers.cells import Cell, run_cells
from unembed.papers.lab import RECIPES, Lab, pick_encoders
from unembed.papers.scoring import AttackSpec
from unembed.papers.stand_ins import INVENTED, read, sample
from unembed.seeds import generator, seed_for

ENCODERS = ("bert-first", "bert-mean", "minilm", "bge", "use-lite", "hashing")
USUAL: dict[Size, tuple[str, ...]] = {
    "smoke": ("minilm",),
    "small": ("minilm", "bge"),
    "full": ("bert-first", "bert-mean", "minilm", "bge", "use-lite"),
}
PAPER, OURS, POSITIONS = "one network a part", "shared body (ours)", "position as input"
#: Year, month, day and the whole date, each top-1 and top-5, as printed.
TABLE2 = {
    "Bert": (0.661, 0.926, 0.616, 0.950, 0.539, 0.885, 0.219, 0.384),
    "Transformer-XL": (0.725, 0.927, 0.802, 0.992, 0.839, 0.992, 0.488, 0.624),
    "XLNet": (0.506, 0.748, 0.484, 0.877, 0.457, 0.797, 0.112, 0.186),
    "GPT": (0.735, 0.978, 0.601, 0.987, 0.630, 0.960, 0.281, 0.434),
    "GPT-2": (0.626, 0.882, 0.664, 0.965, 0.624, 0.927, 0.259, 0.384),
    "RoBERTa": (0.454, 0.774, 0.441, 0.889, 0.307, 0.703, 0.061, 0.108),
    "XLM": (0.572, 0.847, 0.509, 0.911, 0.642, 0.908, 0.187, 0.269),
    "Ernie 2.0": (0.584, 0.892, 0.559, 0.924, 0.465, 0.843, 0.152, 0.257),
    "Baseline": (0.01, 0.05, 0.083, 0.417, 0.033, 0.167, 0.0001, 0.0005),
}
METRICS = tuple(f"{part} {top}" for part in ("year", "month", "day", "whole") for top in ("top-1", "top-5"))
TRAINING = (
    "The paper draws a fresh batch of 128 in each of 100,000 iterations; here the pairs are drawn once and gone over "
    "several times, in full size in batches of 512 at 0.002."
)


def setting(attack: str, model: str) -> str:
    """The name of a row."""
    return f"{attack} · {model}"


def named(key: str) -> str:
    """An encoder as rows name it: of the paper's models only BERT is at hand."""
    return RECIPES[key].title


def _printed() -> tuple[Published, ...]:
    rows = {named("bert-first") if model == "Bert" else model: values for model, values in TABLE2.items()}
    return tuple(
        Published(setting(PAPER, model), metric, value)
        for model, values in rows.items()
        for metric, value in zip(METRICS, values, strict=True)
    )


class _Secrets:
    """Deals of one pattern, one encoder at a time: secrets alone, the adversary's and the challenger's apart."""

    def __init__(self, conditions: Conditions, game: PatternGame, target: Corpus | None = None) -> None:
        self.conditions, self.game, self.target = conditions, game, target
        pattern = parse_pattern(game.pattern)
        self.lab = Lab(conditions, Corpus.of(pattern.generate(1000, generator(conditions.seed, "fit")).texts))
        self._held: tuple[str, Deal[Any, Any]] | None = None

    def deal(self, key: str, pairs: int | None = None) -> Deal[Any, Any]:
        """Vectors of both sides; with ``pairs`` the adversary gets only the first so many."""
        if self._held is None or self._held[0] != key:
            self._held = None  # the old vectors go before the new ones come
            self._held = (key, self._dealt(key))
        deal = self._held[1]
        if pairs is None:
            return deal
        known = deal.knowledge
        return replace(deal, knowledge=replace(known, vectors=known.vectors[:pairs], labels=known.labels[:pairs]))

    def _dealt(self, key: str) -> Deal[Any, Any]:
        def encode(texts: Sequence[str]) -> Vectors:
            return self.lab.vectors(key, Corpus.of(texts))

        target = self.target or Corpus.of(["-"])
        nobody = np.zeros((0, 1), dtype=np.float32)
        return self.game.deal(
            Material(
                target=target,
                known=Corpus.of([]),
                target_vectors=encode(target.texts) if self.target else nobody,
                known_vectors=nobody,
                encode=encode,
                adversary=ADVERSARIES["outsider"],
                seed=seed_for(self.conditions.seed, "deal"),
            )
        )

    def cell(self, key: str, spec: AttackSpec, rows: Any, pairs: int | None = None) -> Cell:
        """One attack on one encoder; ``rows`` turns what was played into figures."""
        name = setting(spec.title, named(key)) + ("" if pairs is None else f" · {pairs:,} pairs")

        def measure() -> list[Measured]:
            seed = seed_for(self.conditions.seed, "play", key, spec.title)
            played = play(self.game, spec.make(self.conditions), self.deal(key, pairs), seed)
            return [row for row in rows(name, played) if np.isfinite(row.value)]

        identity = {**self.lab.identity(key), **spec.identity(), "game": self.game.get_params(), "pairs": pairs}
        data = None if self.target is None else self.target.fingerprint
        return Cell(name, {**identity, "data": data}, measure)


def _row(name: str, metric: str, estimate: Estimate, floor: float | None, played: Play, **place: Any) -> Measured:
    return Measured(
        name,
        metric,
        estimate.value,
        estimate.low,
        estimate.high,
        estimate.n,
        floor=floor,
        seconds=round(played.fit_seconds + played.run_seconds, 2),
        trusted=played.check.passed,
        **place,
    )


def _date_rows(name: str, played: Play) -> list[Measured]:
    """The columns of Table II."""
    slices = {(s.kind, s.name): s.estimate for s in played.scores.slices}
    rows = []
    for part in ("year", "month", "day"):
        for kind, top in (("part", "top-1"), ("part_top5", "top-5")):
            key = (kind, f"birth.{part}")
            rows.append(_row(name, f"{part} {top}", slices[key], played.floor_slices.get(key), played))
    for secondary, top in (("whole_top1", "top-1"), ("whole_top5", "top-5")):
        estimate = played.scores.secondary[secondary]
        rows.append(_row(name, f"whole {top}", estimate, played.floor_secondary.get(secondary), played))
    return rows


def _brief(size: Size) -> dict[str, Any]:
    return {"epochs": 2, "min_steps": 20} if size == "smoke" else {}


def _date_attacks(size: Size) -> list[AttackSpec]:
    larger = {"batch_size": 512, "learning_rate": 2e-3} if size == "full" else {}
    return [
        AttackSpec(PAPER, "pattern/fields", {**_brief(size), **larger}),
        AttackSpec(OURS, "pattern/shared", _brief(size)),
    ]


class Table2:
    """Year, month, day and whole birth date from the vectors of citizen numbers."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/table2",
        paper="pan2020",
        title="Birth dates from vectors of citizen numbers",
        section="Table II, section V",
        published=_printed(),
        departures=f"{TRAINING} Random guessing of the whole date is right in 0.0001 of cases in the paper and in "
        "0.000025 here, with 110 years.",
        headline="whole top-1",
    )
    pairs: ClassVar[dict[Size, int]] = {"smoke": 200, "small": 4_000, "full": 100_000}
    targets: ClassVar[dict[Size, int]] = {"smoke": 50, "small": 1_000, "full": 1_000}

    def run(self, conditions: Conditions) -> Reproduction:
        """Measure every row that the machine has the encoder for."""
        size = conditions.size
        chosen = pick_encoders(conditions.encoders, USUAL[size], ENCODERS)
        secrets = _Secrets(conditions, _alone("citizen-id", self.pairs[size], self.targets[size]))
        cells = [secrets.cell(key, spec, _date_rows) for key in chosen for spec in _date_attacks(size)]
        result = run_cells(self.facts, cells, conditions, _notes(conditions, self.pairs[size]))
        return replace(result, unmeasured=(*result.unmeasured, *_absent(PAPER)))


class Table2Pairs:
    """The whole birth date over the number of pairs: what Table II would be with fewer."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/table2-pairs",
        paper="pan2020",
        title="Whole birth dates over the number of pairs",
        section="section V",
        published=(),
        departures=f"Not in the paper, which has one number of iterations. {TRAINING}",
        headline="whole top-1",
        axis="secrets the adversary had encoded",
    )
    steps: ClassVar[dict[Size, tuple[int, ...]]] = {
        "smoke": (100, 200),
        "small": (500, 1_000, 2_000, 4_000),
        "full": (1_000, 3_000, 10_000, 30_000, 100_000),
    }

    def run(self, conditions: Conditions) -> Reproduction:
        """The same targets for every number of pairs."""
        size = conditions.size
        chosen = pick_encoders(conditions.encoders, USUAL[size], ENCODERS)
        most = self.steps[size][-1]
        secrets = _Secrets(conditions, _alone("citizen-id", most, Table2.targets[size]))
        cells = [
            secrets.cell(key, spec, self._rows(spec.title, key, pairs), pairs)
            for key in chosen
            for pairs in self.steps[size]
            for spec in _date_attacks(size)
        ]
        return run_cells(self.facts, cells, conditions, _notes(conditions, most))

    @staticmethod
    def _rows(attack: str, key: str, pairs: int) -> Any:
        def rows(name: str, played: Play) -> list[Measured]:
            whole = [row for row in _date_rows(name, played) if row.metric.startswith("whole")]
            return [replace(row, series=setting(attack, named(key)), x=float(pairs)) for row in whole]

        return rows


class Figure3:
    """The nucleotide at each of 20 positions of a genome."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/figure3",
        paper="pan2020",
        title="Nucleotides by position",
        section="Figure 3, section V, Appendix B",
        published=(Published(setting(POSITIONS, "GPT-2"), "mean top-1", 0.62),),
        departures=f"{TRAINING} The figure prints curves; the text gives over 62 % on average and nearly 100 % at both "
        "ends for GPT. Windows round splice sites of primates and three other species stand in for HS3D.",
        headline="top-1",
        axis="position in the sequence",
    )
    pairs: ClassVar[dict[Size, int]] = {"smoke": 200, "small": 4_000, "full": 100_000}
    targets: ClassVar[dict[Size, int]] = {"smoke": 50, "small": 1_000, "full": 2_000}

    def attacks(self, size: Size) -> list[AttackSpec]:
        """The paper's, with a network a part and ours beside it."""
        larger = {"batch_size": 1024, "learning_rate": 3e-3} if size == "full" else {}
        return [
            AttackSpec(POSITIONS, "pattern/positions", {**_brief(size), **larger}),
            *_date_attacks(size),
        ]

    def run(self, conditions: Conditions) -> Reproduction:
        """Measure every curve that the machine has the encoder for."""
        size = conditions.size
        chosen = pick_encoders(conditions.encoders, USUAL[size], ENCODERS)
        game = _alone("genome", self.pairs[size], self.targets[size])
        target = None
        if size != "smoke":
            windows = read(conditions, "splice_sites", "window20", ["clean"])
            clean = [i for i, (text, ok) in enumerate(zip(windows.texts, windows.column("clean"), strict=True))
                     if ok and len(text) == 20]  # fmt: skip
            if not clean:
                raise DataError("splice_sites.parquet has no clean window of 20 nucleotides")
            target = sample(windows.select(clean), self.targets[size], conditions.seed, "windows")
            game.set_params(targets="found")
        secrets = _Secrets(conditions, game, target)
        cells = [secrets.cell(key, spec, self._rows(spec.title, key)) for key in chosen for spec in self.attacks(size)]
        result = run_cells(self.facts, cells, conditions, _notes(conditions, self.pairs[size]))
        absent = Unmeasured(setting(POSITIONS, "GPT-2"), "no weights of GPT-2 are at hand")
        return replace(result, unmeasured=(*result.unmeasured, absent))

    @staticmethod
    def _rows(attack: str, key: str) -> Any:
        def rows(name: str, played: Play) -> list[Measured]:
            mean = played.scores.estimate(generator(0, "figure3"))
            found = [_row(name, "mean top-1", mean, played.floor.value, played)]
            parts = [s for s in played.scores.slices if s.kind == "part"]
            for place, part in enumerate(parts, start=1):
                floor = played.floor_slices.get((part.kind, part.name))
                where = {"series": setting(attack, named(key)), "x": float(place)}
                found.append(_row(f"{name} · position {place}", "top-1", part.estimate, floor, played, **where))
            return found

        return rows


class OtherPatterns:
    """The same attacks on other secrets, alone and inside sentences."""

    facts: ClassVar[ExperimentFacts] = ExperimentFacts(
        name="pan2020/other-patterns",
        paper="pan2020",
        title="Other secrets, alone and inside sentences",
        section="section V, for any declared pattern",
        published=(),
        departures=f"Not in the paper. {TRAINING}",
        headline="parts top-1",
    )
    patterns: ClassVar[dict[Size, tuple[str, ...]]] = {
        "smoke": ("passport",),
        "small": ("phone", "iban", "card", "e-mail"),
        "full": ("phone", "iban", "card", "e-mail"),
    }
    pairs: ClassVar[dict[Size, int]] = {"smoke": 200, "small": 3_000, "full": 50_000}
    targets: ClassVar[dict[Size, int]] = {"smoke": 50, "small": 500, "full": 1_000}

    def run(self, conditions: Conditions) -> Reproduction:
        """Every pattern alone and in sentences of our grammar."""
        size = conditions.size
        chosen = pick_encoders(conditions.encoders, USUAL[size], ENCODERS)
        cells = []
        for pattern in self.patterns[size]:
            for carrier in ("alone", "sentences"):
                game = _alone(pattern, self.pairs[size], self.targets[size])
                secrets = _Secrets(conditions, game.set_params(carrier=carrier))
                about = f"{pattern}, {'alone' if carrier == 'alone' else 'in sentences'}"
                for key in chosen:
                    for spec in _date_attacks(size):
                        titled = replace(spec, title=f"{about} · {spec.title}")
                        cells.append(secrets.cell(key, titled, _part_rows))
        return run_cells(self.facts, cells, conditions, _notes(conditions, self.pairs[size], alone=False))


def _part_rows(name: str, played: Play) -> list[Measured]:
    """Parts and wholes."""
    mean = played.scores.estimate(generator(0, "parts"))
    rows = [_row(name, "parts top-1", mean, played.floor.value, played)]
    for key, metric in (("part_top5", "parts top-5"), ("whole_top1", "whole top-1"), ("whole_top5", "whole top-5")):
        rows.append(_row(name, metric, played.scores.secondary[key], played.floor_secondary.get(key), played))
    return rows


def _alone(pattern: str, pairs: int, targets: int) -> PatternGame:
    return PatternGame(pattern=pattern, targets="planted", carrier="alone", pairs=pairs, planted=targets)


def _notes(conditions: Conditions, pairs: int, *, alone: bool = True) -> tuple[str, ...]:
    said = f"{pairs:,} secrets of the adversary's own{', each alone in its text' if alone else ''}"
    return (said, INVENTED) if conditions.size == "smoke" else (said,)


def _absent(attack: str) -> list[Unmeasured]:
    """Rows of the paper's models that can't be had."""
    absent = [model for model in TABLE2 if model not in ("Bert", "Baseline")]
    return [Unmeasured(setting(attack, model), f"no weights of {model} are at hand") for model in absent]
