"""The published experiments, one file per paper, for ``unembed reproduce``.

Names of experiments are ``paper/table2`` or ``paper/figure3``. Installed packages bring more through the
entry-point group ``unembed.papers``; ``path/to/file.py:Name`` works too.
"""

from __future__ import annotations

from typing import Any

from unembed.papers.base import (
    Experiment,
    ExperimentFacts,
    Measured,
    Published,
    Reproduction,
    check_experiment,
)
from unembed.papers.library import PAPERS, Paper
from unembed.registry import Registry

EXPERIMENTS: Registry[type[Any]] = Registry("experiment", {}, group="unembed.papers", check=check_experiment)

__all__ = [
    "EXPERIMENTS",
    "PAPERS",
    "Experiment",
    "ExperimentFacts",
    "Measured",
    "Paper",
    "Published",
    "Reproduction",
    "check_experiment",
]
