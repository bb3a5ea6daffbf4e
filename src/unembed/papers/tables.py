"""Rows of an experiment: declared, played like the cells of an audit, and kept, so that a kill loses none."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ValidationError

from unembed._version import __version__
from unembed.attacks import ATTACKS
from unembed.errors import CannotMeasureError
from unembed.games.base import Deal
from unembed.games.play import Play, play
from unembed.games.threat import Capability
from unembed.metrics.estimate import Estimate
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Reproduction, Size, Unmeasured
from unembed.papers.encoders import pick_encoders
from unembed.results.identity import digest_of
from unembed.runner.cell import cause_of
from unembed.runner.torch_threads import set_torch_threads
from unembed.sealed import BrokenSealError, seal, unseal
from unembed.seeds import seed_for
from unembed.strict import Strict
from unembed.writing import write_atomically

#: Goes up whenever the protocols change what a row means; part of every row's identity.
PROTOCOL = 2
INVENTED = "size smoke runs on invented text: its figures say nothing about the paper's"
HEADLINE = "headline"
#: The figures of a row: the game's name of a metric, or kind and name of a slice as ``kind/name``, and the paper's.
Names = Mapping[str, str]


def setting(*parts: str) -> str:
    """The name of a row: attack, encoder, texts, whatever tells it from others."""
    return " · ".join(parts)


@dataclass(frozen=True)
class AttackSpec:
    """An attack of an experiment: how the paper calls it, its registered name, the parameters that differ."""

    title: str
    name: str
    params: Mapping[str, Any]

    def make(self, conditions: Conditions) -> Any:
        """A fresh attack for these conditions; an unknown name is an error that the row reports."""
        attack = ATTACKS.get(self.name)(**self.params)
        attack.set_params(seed=seed_for(conditions.seed, "attack", self.name))
        if "device" in attack.get_params():
            attack.set_params(device=conditions.device)
        return attack

    def identity(self) -> dict[str, Any]:
        """Name, version and parameters."""
        version = ATTACKS.get(self.name).facts.version if self.name in ATTACKS else None
        return {"attack": self.name, "version": version, "params": self.params}


@dataclass(frozen=True)
class Row:
    """Some figures of one setting that are measured together.

    ``identity`` names everything that changes them (data, encoder, attack and its parameters), as plain data.
    """

    setting: str
    identity: Mapping[str, Any]
    measure: Callable[[], Sequence[Measured]]


class Table:
    """An experiment that declares its rows: for each size its usual encoders, and the rows that they give."""

    facts: ClassVar[ExperimentFacts]
    encoders: ClassVar[Mapping[Size, tuple[str, ...]]]
    #: Encoders that may be asked for.
    known: ClassVar[tuple[str, ...]]

    def rows(self, conditions: Conditions, encoders: Sequence[str]) -> tuple[list[Row], Sequence[str]]:
        """The rows of some encoders, and notes on what they have in common."""
        raise NotImplementedError

    def run(self, conditions: Conditions) -> Reproduction:
        """Measure every row that the machine has the encoder for."""
        chosen = pick_encoders(conditions.encoders, self.encoders[conditions.size], self.known)
        rows, notes = self.rows(conditions, chosen)
        return run_rows(self.facts, rows, conditions, notes)


def played(
    conditions: Conditions,
    spec: AttackSpec,
    game: Any,
    deal: Callable[[], Deal[Any, Any]],
    setting: str,
    names: Names,
    identity: Mapping[str, Any],
    *,
    seeds: Sequence[str | int] = (),
    also: Callable[[Play], Mapping[str, Estimate]] = lambda shown: {},
    **place: Any,
) -> Row:
    """A row of one attack in one game: the figures in ``names``, each beside the game's own floor of it.

    ``also`` makes further figures, which the game has no name for, of what it showed.
    """

    def measure() -> list[Measured]:
        attack = spec.make(conditions)
        dealt = replace(deal(), doubt=None)  # the paper's adversary is put to the test whatever it lacks
        shown = play(game, attack, dealt, seed_for(conditions.seed, "play", *(seeds or (setting,))))
        # Above a floor of 1 nothing can lie, and nothing can be planted for an attack through the weights: neither has
        # to show that it works.
        trusted = shown.floor.value == 1 or Capability.WEIGHTS in attack.facts.requires or shown.check.passed
        more = {"trusted": bool(trusted), **place}
        further = [Measured.of(setting, printed, estimate, **more) for printed, estimate in also(shown).items()]
        return [*figures_of(setting, shown, names, **more), *further]

    params = {**game.get_params(), "version": game.facts.version}
    return Row(setting, {**identity, **spec.identity(), "game": params}, measure)


def figures_of(setting: str, shown: Play, names: Names, **more: Any) -> list[Measured]:
    """What a game showed, under the paper's names; a metric that the game has no value of is left out."""
    found: dict[str, Any] = {HEADLINE: (shown.estimate, shown.floor.value)}
    found |= {name: (e, shown.floor_secondary.get(name)) for name, e in shown.scores.secondary.items()}
    for part in shown.scores.slices:
        found[f"{part.kind}/{part.name}"] = (part.estimate, shown.floor_slices.get((part.kind, part.name)))
    seconds = round(shown.fit_seconds + shown.run_seconds, 2)
    return [
        Measured.of(setting, printed, estimate, floor=floor, seconds=seconds, **more)
        for ours, printed in names.items()
        if ours in found
        for estimate, floor in [found[ours]]
    ]


def refused(setting: str, reason: str) -> Row:
    """A row of the paper that can't be measured here."""

    def measure() -> list[Measured]:
        raise CannotMeasureError(reason)

    return Row(setting, {}, measure)


class KeptRow(Strict):
    """The file of one row."""

    identity: dict[str, Any]
    device: str
    figures: list[Measured]


def run_rows(
    facts: ExperimentFacts, rows: Sequence[Row], conditions: Conditions, notes: Sequence[str] = ()
) -> Reproduction:
    """Measure what is not kept yet; a row that fails is reported with its reason and the rest goes on.

    Every row is set beside what the paper prints for its setting, but for those of size ``smoke``: they are measured
    on invented text.
    """
    from threadpoolctl import threadpool_limits

    found: list[Measured] = []
    unmeasured: list[Unmeasured] = []
    devices: dict[str, None] = {}
    tell = conditions.progress or (lambda what, done, total: None)
    if conditions.threads is not None:
        set_torch_threads(conditions.threads)
    with threadpool_limits(limits=conditions.threads):
        for done, row in enumerate(rows):
            tell("rows", done, len(rows))
            identity, path = _place(facts, row, conditions)
            kept = _read(path, identity)
            if kept is None:
                try:
                    figures = [figure for figure in row.measure() if math.isfinite(figure.value)]
                except Exception as error:  # one broken row must not cost the hours spent on the others
                    unmeasured.append(Unmeasured(row.setting, cause_of(error)))
                    continue
                kept = KeptRow(identity=identity, device=device_name(conditions.device), figures=figures)
                if path is not None:
                    write_atomically(path, seal(kept))
            devices[kept.device] = None
            found += [replace(figure, published=_published(facts, figure, conditions)) for figure in kept.figures]
    tell("rows", len(rows), len(rows))
    told = [*notes, *([INVENTED] if conditions.size == "smoke" else [])]
    return Reproduction(tuple(found), tuple(told), tuple(unmeasured), tuple(devices))


def _published(facts: ExperimentFacts, row: Measured, conditions: Conditions) -> float | None:
    """What the paper prints for a row, unless the row says which other figure it answers to."""
    if conditions.size == "smoke":
        return None
    return facts.printed(row.setting, row.metric) if row.published is None else row.published


def _place(facts: ExperimentFacts, row: Row, conditions: Conditions) -> tuple[dict[str, Any], Path | None]:
    """What a row is, and its file under the folder of the run."""
    identity = {
        "experiment": facts.name,
        "setting": row.setting,
        "size": conditions.size,
        "seed": conditions.seed,
        "protocol": PROTOCOL,
        "unembed": __version__,
        **row.identity,
    }
    plain: dict[str, Any] = json.loads(json.dumps(identity, default=str))
    key = digest_of(plain)
    return plain, None if conditions.folder is None else conditions.folder / "rows" / f"{key}.json"


def _read(path: Path | None, identity: Mapping[str, Any]) -> KeptRow | None:
    """The row that a file holds; one that is damaged or of another row counts as missing."""
    if path is None or not path.is_file():
        return None
    try:
        kept = KeptRow.model_validate(unseal(path.read_bytes()))
    except (ValidationError, BrokenSealError):
        return None
    return kept if kept.identity == identity else None


def device_name(asked: str) -> str:
    """What attacks run on when this device is asked for."""
    if find_spec("torch") is None:
        return platform.machine()
    import torch

    from unembed.nn.device import pick_device

    device = pick_device(asked)
    return torch.cuda.get_device_name(device) if device.type == "cuda" else f"{device.type} ({platform.machine()})"
