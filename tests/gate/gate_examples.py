from __future__ import annotations

from typing import Any

from unembed.metrics.estimate import Estimate
from unembed.results.schema import CellRecord, Cost, Environment, Finding, Run, Trust, Verdict


def finding(id: str = "f1", excess: tuple[float, float, float] = (0.3, 0.25, 0.35), **changes: Any) -> Finding:
    """A finding whose excess is (value, low, high) over a floor of 0.1."""
    value, low, high = excess
    floor = Estimate(0.1, 0.1, 0.1, 100)
    facts: dict[str, Any] = {
        "id": id,
        "cell": "c",
        "game": "inversion",
        "attack": "mlc",
        "adversary": "insider",
        "encoder": "e",
        "metric": "f1",
        "estimate": Estimate(value + 0.1, low + 0.1, high + 0.1, 100),
        "floors": [],
        "floor": floor,
        "excess": Estimate(value, low, high, 100),
        "headroom": max(0.0, value) / 0.9,
        "status": "leak",
        "level": "moderate",
        "trust": Trust(trusted=True, reason="works where it must"),
        "cost": Cost(capabilities=[], pairs=100, queries=0, targets=100, fit_seconds=0, run_seconds=0),
        "seed": 1,
    }
    facts.update(changes)
    return Finding(**facts)


def run_of(*findings: Finding, cells: list[CellRecord] | None = None) -> Run:
    return Run(
        title="t",
        command="unembed audit a.toml",
        created_at="",
        finished_at="",
        seconds=0,
        status="complete",
        spec_given={},
        spec={},
        environment=Environment(unembed="0", python="3", platform="x", packages={}, threads=1, device="cpu"),
        encoder={},
        data=[],
        adversaries=[],
        games=[],
        attacks=[],
        cells=cells or [],
        findings=list(findings),
        skipped=[],
        verdict=Verdict(level="unknown", sentence=""),
    )
