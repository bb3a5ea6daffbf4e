"""The speed of every hot path beside its limit or a reference implementation: one table, and a verdict on each line.

    python benchmarks/run.py                  all lines; exit code 1 if one is slower than the committed ratio allows
    python benchmarks/run.py --only keyword   the lines whose name holds a word
    python benchmarks/run.py --update         write the ratios of this run to benchmarks/baseline.json

A ratio is our rate over the other's in the same run, in processor time and one thread. ``baseline.json`` holds the
committed ratios and by what share a ratio may fall below its own before that is a regression.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from measure import TURNS, Maker, Row, measure

BASELINE = Path(__file__).with_name("baseline.json")
#: Modules with a dictionary ``CASES``.
MODULES = (
    "encoding",
    "word_vectors",
    "texts",
    "stored_vectors",
    "defenses",
    "linear_learners",
    "keyword_training",
    "word_training",
    "sparse_coding",
    "relaxation",
)


@dataclass(frozen=True)
class Baseline:
    """Committed ratios and the share by which one may fall; ``tolerances`` are those of single lines."""

    tolerance: float
    ratios: dict[str, float]
    tolerances: dict[str, float]

    @classmethod
    def read(cls, path: Path) -> Baseline:
        """The file; without one nothing is committed."""
        if not path.exists():
            return cls(0.3, {}, {})
        return cls(**json.loads(path.read_text(encoding="utf-8")))

    def write(self, path: Path) -> None:
        """Keep it for the next run."""
        path.write_text(json.dumps(vars(self), indent=2, sort_keys=True) + "\n", encoding="utf-8")

    def verdict(self, row: Row) -> str:
        """What the committed ratio says of a line."""
        committed = self.ratios.get(row.key)
        if committed is None:
            return "new: not in the baseline"
        tolerance = self.tolerances.get(row.key, self.tolerance)
        if row.ratio < committed * (1 - tolerance):
            return f"SLOWER than {committed:.3g} less {tolerance:.0%}"
        return "faster" if row.ratio > committed * (1 + tolerance) else "ok"

    def updated(self, rows: Iterable[Row], *, whole: bool) -> Baseline:
        """With the ratios of a run; a ``whole`` run also drops lines that are gone."""
        measured = {row.key: float(f"{row.ratio:.3g}") for row in rows}
        ratios = measured if whole else {**self.ratios, **measured}
        return Baseline(self.tolerance, ratios, {k: v for k, v in self.tolerances.items() if k in ratios})


def table(rows: Iterable[Row], baseline: Baseline) -> str:
    """All lines as a Markdown table."""
    lines = [("hot path", "beside", "bound", "ours", "theirs", "ratio", "committed", "verdict")]
    for row in rows:
        committed = baseline.ratios.get(row.key)
        rates = f"{_rate(row.rate)} {row.unit}", _rate(row.other_rate)
        shown = "" if committed is None else f"{committed:.3g}"
        lines.append((row.name, row.beside, row.bound, *rates, f"{row.ratio:.3g}", shown, baseline.verdict(row)))
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    drawn = ["| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines]
    drawn.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    return "\n".join(drawn)


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 100 else f"{rate:.3g}"


def failures(rows: list[Row], baseline: Baseline, *, whole: bool) -> list[str]:
    """Lines that are slower than allowed and, of a whole run, committed lines that nothing measured."""
    found = [f"{row.key}: {row.ratio:.3g}, {verdict}" for row in rows if "SLOWER" in (verdict := baseline.verdict(row))]
    gone = set(baseline.ratios) - {row.key for row in rows} if whole else set()
    return found + [f"{key}: in the baseline but not measured" for key in sorted(gone)]


def cases() -> dict[str, Maker]:
    """Every hot path by its name."""
    from importlib import import_module

    return {name: make for module in MODULES for name, make in import_module(module).CASES.items()}


def main(given: list[str] | None = None) -> int:
    """Measure, print, compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of the names of the hot paths to measure")
    parser.add_argument("--update", action="store_true", help="write the measured ratios to the baseline")
    parser.add_argument("--turns", type=int, default=TURNS)
    options = parser.parse_args(given)
    import torch

    torch.set_num_threads(1)
    rows: list[Row] = []
    chosen: dict[str, Any] = {name: make for name, make in cases().items() if options.only in name}
    if not chosen:
        parser.error(f"no hot path has '{options.only}' in its name; there are {', '.join(cases())}")
    for name, make in chosen.items():
        print(f"measuring {name}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            rows += measure(name, make(Path(folder)), options.turns)
    baseline, whole = Baseline.read(BASELINE), not options.only
    if options.update:
        baseline = baseline.updated(rows, whole=whole)
        baseline.write(BASELINE)
    print(table(rows, baseline))
    worse = failures(rows, baseline, whole=whole)
    for line in worse:
        print(f"regression: {line}")
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
