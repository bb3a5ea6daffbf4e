"""Policies in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from unembed.files import read_toml
from unembed.gate.policy import Policy
from unembed.gate.validation import validate


def read_policy_table(path: Path) -> dict[str, Any]:
    """The policy of a TOML file: ``[[rules]]``, or the ``[policy]`` of an audit file."""
    data = read_toml(path, "policy file")
    inner = data.get("policy")
    return inner if isinstance(inner, dict) and "rules" not in data else data


def read_policy(path: Path) -> Policy:
    """The policy in a file."""
    return validate(Policy, read_policy_table(path), str(path))
