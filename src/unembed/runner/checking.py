"""What can be found wrong with a spec before any work: unknown names, devices and back-ends that are not there.

The library and the command line ask it alike.
"""

from __future__ import annotations

import re
from importlib.util import find_spec

from unembed.attacks import ATTACKS
from unembed.defenses import DEFENSES
from unembed.encoders import ENCODERS, build_encoder
from unembed.encoders.endpoint import EndpointEncoder
from unembed.errors import MissingExtraError, UsageError
from unembed.games import GAMES
from unembed.runner.spec import AuditSpec

_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


def check_spec(spec: AuditSpec) -> None:
    """Refuse what can't work, so that hours of work are not lost to a misspelt name."""
    _check_names(spec)
    _check_machine(spec)


def _check_names(spec: AuditSpec) -> None:
    for game in spec.games:
        GAMES.get(game)
    asked = {GAMES.get(game).facts.played_by for game in spec.games}
    for attack in spec.attacks:
        played = ATTACKS.get(attack).facts.game
        if played not in asked:
            raise UsageError(f"attack '{attack}' plays the game '{played}': add it to the games (--game {played})")
    for defense in (step for steps in spec.chains for step in steps):
        DEFENSES.get(defense.name)
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
