"""The published experiments, one file per paper or chapter, for ``unembed reproduce``.

Names of experiments are ``paper/table2`` or ``paper/figure3``. Installed packages bring more through the
entry-point group ``unembed.papers``; ``path/to/file.py:Name`` works too.
"""

from __future__ import annotations

from typing import Any

from unembed.papers.base import (
    Conditions,
    Experiment,
    ExperimentFacts,
    Measured,
    Published,
    Reproduction,
    Unmeasured,
    check_experiment,
)
from unembed.papers.library import PAPERS, Paper, read_table
from unembed.registry import Registry

EXPERIMENTS: Registry[type[Any]] = Registry(
    "experiment",
    {
        name: f"unembed.papers.{entry['measured_by']}"
        for name, entry in read_table("experiments")["experiments"].items()
    },
    group="unembed.papers",
    check=check_experiment,
)

__all__ = [
    "EXPERIMENTS",
    "PAPERS",
    "Conditions",
    "Experiment",
    "ExperimentFacts",
    "Measured",
    "Paper",
    "Published",
    "Reproduction",
    "Unmeasured",
    "check_experiment",
]
