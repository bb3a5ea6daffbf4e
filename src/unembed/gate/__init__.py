"""The policy gate: rules on findings, a baseline of accepted ones, and the exit codes."""

from unembed.gate.baseline import Acceptance, Baseline, read_baseline, write_baseline
from unembed.gate.judge import judge
from unembed.gate.policy import Policy, Rule
from unembed.gate.validation import validate

__all__ = [
    "Acceptance",
    "Baseline",
    "Policy",
    "Rule",
    "judge",
    "read_baseline",
    "validate",
    "write_baseline",
]
