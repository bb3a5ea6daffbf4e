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
from unembed.papers.library import PAPERS, Paper
from unembed.registry import Registry

EXPERIMENTS: Registry[type[Any]] = Registry(
    "experiment",
    {
        "song2020/table1": "unembed.papers.song2020_inversion:Table1",
        "song2020/table2": "unembed.papers.song2020_inversion:Table2",
        "song2020/figure2": "unembed.papers.song2020_layers:Figure2",
        "song2020/figure3": "unembed.papers.song2020_authors:Figure3",
        "pan2020/table3": "unembed.papers.pan2020_keywords:Table3",
        "pan2020/table5": "unembed.papers.pan2020_keywords:Table5",
        "pan2020/figure4": "unembed.papers.pan2020_ablations:Figure4",
        "pan2020/figure6b": "unembed.papers.pan2020_keywords:Figure6b",
        "pan2020/figure6f": "unembed.papers.pan2020_keywords:Figure6f",
        "pan2020/figure6-ablations": "unembed.papers.pan2020_ablations:Ablations",
        "pan2020/figure9": "unembed.papers.pan2020_fingerprint:Figure9",
        "pan2020/table2": "unembed.papers.pan2020_patterns:Table2",
        "pan2020/table2-pairs": "unembed.papers.pan2020_patterns:Table2Pairs",
        "pan2020/other-patterns": "unembed.papers.pan2020_patterns:OtherPatterns",
        "pan2020/figure3": "unembed.papers.pan2020_patterns:Figure3",
        "coro2022/table5.2": "unembed.papers.coro2022_sentences:Table52",
        "coro2022/table5.2-english": "unembed.papers.coro2022_sentences:Table52English",
        "coro2022/table5.4": "unembed.papers.coro2022_paragraphs:Table54",
        "coro2022/table5.6": "unembed.papers.coro2022_names:Table56",
        "coro2022/table5.7": "unembed.papers.coro2022_names:Table57",
        "coro2022/figure5.1": "unembed.papers.coro2022_sentences:Figure51",
        "coro2022/tableA.1": "unembed.papers.coro2022_sentences:TableA1",
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
