"""What can be found wrong with a spec before any work: unknown names, settings without effect, missing devices.

The library and the command line ask it alike.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from unembed.attacks import ATTACKS
from unembed.defenses import DEFENSES
from unembed.defenses.chain import Chain
from unembed.encoders import ENCODERS, build_encoder
from unembed.encoders.endpoint import EndpointEncoder
from unembed.errors import MissingExtraError, UsageError
from unembed.games import GAMES
from unembed.runner.spec import AuditSpec, sections

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def check_spec(spec: AuditSpec) -> None:
    """Refuse what can't work, so that hours of work are not lost to a misspelt name."""
    _check_names(spec)
    _check_machine(spec)


def check_effects(spec: AuditSpec, given: Mapping[str, Any]) -> None:
    """Refuse settings that would have no effect, because whoever gave them expects one."""
    if spec.data.vectors_column and not spec.data.vectors:
        raise UsageError("--vectors-column goes with --vectors")
    played = [GAMES.get(name).facts for name in spec.games]
    if spec.data.attributes and not any(facts.of_columns for facts in played):
        raise UsageError("attribute columns are named, but no game that infers columns is played: add one")
    for name in sections():
        if name in given and name not in spec.games:
            raise UsageError(f"there are options for the game '{name}', but '{name}' is not played: add it")
    if given.get("curve") and not any(facts.curve for facts in played):
        raise UsageError("no game that is played has a curve over pairs: add one, or leave the curve out")
    if "external" in given and (not spec.asks_encoder or all(who.inside for who in spec.cast)):
        raise UsageError("external text is for an outsider, and none is played here: leave it out")
    if spec.baseline and spec.policy is None:
        raise UsageError("a baseline accepts what a policy forbids: add --policy or --max-excess")


def _check_names(spec: AuditSpec) -> None:
    for game in spec.games:
        GAMES.get(game)
    asked = {GAMES.get(game).facts.played_by for game in spec.games}
    for attack in spec.attacks:
        played = ATTACKS.get(attack).facts.game
        if played not in asked:
            raise UsageError(f"attack '{attack}' plays the game '{played}': add it to the games (--game {played})")
    for steps in spec.chains:
        Chain([DEFENSES.get(step.name)(**step.params) for step in steps]).cleaners()
    if spec.asks_encoder:
        base = spec.encoder.name.partition(":")[0]
        ENCODERS.get(base if base in ENCODERS and spec.encoder.name not in ENCODERS else spec.encoder.name)
    if (endpoint := endpoint_of(spec)) is not None:
        endpoint.check()


def endpoint_of(spec: AuditSpec) -> EndpointEncoder | None:
    """The encoder, where it is an endpoint, which must not be asked anything yet."""
    if not spec.asks_encoder or spec.encoder.name.partition(":")[0] != "endpoint":
        return None
    made = build_encoder(spec.encoder.name, spec.encoder.options)
    return made if isinstance(made, EndpointEncoder) else None


def _check_machine(spec: AuditSpec) -> None:
    if spec.run.jobs < 1 and spec.run.jobs != -1:
        raise UsageError(f"jobs is at least 1, or -1 for one per core, not {spec.run.jobs}")
    if not _DEVICE.fullmatch(spec.device):
        raise UsageError(f"unknown device '{spec.device}': use auto, cpu, cuda or cuda:N")
    if spec.device not in ("auto", "cpu"):
        from unembed.nn.device import pick_device

        pick_device(spec.device)
    for backend, package in (("ray", "ray"), ("dask", "distributed")):
        if spec.run.backend == backend and find_spec(package) is None:
            raise MissingExtraError(f"the {backend.capitalize()} back-end", backend)
