"""Policies from files and from the one-number option."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unembed.errors import UsageError
from unembed.gate.baseline import Baseline, read_baseline
from unembed.gate.judge import judge
from unembed.gate.policy import Policy
from unembed.gate.policy_files import read_policy, read_policy_table
from unembed.results.schema import Run

__all__ = ["check_baseline", "judged", "limit_on_excess", "read_policy", "read_policy_table"]


def limit_on_excess(limit: float, detects: float | None = None) -> dict[str, Any]:
    """A policy of one rule on every finding; ``detects`` is the size of leaks that must not have been missed."""
    if not 0 <= limit <= 1:
        raise UsageError(f"--max-excess lies between 0 and 1, not {limit:g}")
    if detects is not None and not 0 < detects <= 1:
        raise UsageError(f"--detects lies above 0 and at most at 1, not {detects:g}")
    return {"rules": [{"id": "max-excess", "metric": "excess", "max": limit, "detects": detects}]}


def check_baseline(path: Path, policy: Policy) -> Baseline:
    """The baseline of a policy, with rules that the policy knows."""
    from unembed.errors import UnknownNameError

    baseline = read_baseline(path)
    known = [rule.id for rule in policy.rules]
    for entry in baseline.accept:
        if entry.rule not in known:
            raise UnknownNameError("rule", entry.rule, known, hint=f"in {path}")
    return baseline


def judged(run: Run, policy: Policy, baseline: Baseline | None, *, allow_unmeasured: bool) -> Run:
    """The run with the policy's answer."""
    return run.model_copy(update={"gate": judge(run, policy, baseline, allow_unmeasured=allow_unmeasured)})
