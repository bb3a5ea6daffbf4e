"""How a hot path is measured: beside its limit or a reference implementation, in turns, in processor time.

Seconds say more about the machine than about the code, so only ratios of rates are compared. Both sides run in one
thread and take turns, and the median of the turns' ratios counts: a machine that is slow for a while is so for both.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

TURNS = 5

#: What bounds a hot path: arithmetic, memory traffic, or nothing but how well others do the same work.
Bound: TypeAlias = Literal["FLOPs", "bytes", "reference"]


@dataclass(frozen=True)
class Yardstick:
    """What a hot path is set beside; ``count`` is its amount of work where that differs."""

    name: str
    bound: Bound
    run: Callable[[], object]
    count: float | None = None


@dataclass(frozen=True)
class Case:
    """A hot path: ``run`` does ``count`` units of work."""

    unit: str
    count: float
    run: Callable[[], object]
    beside: tuple[Yardstick, ...]


#: Prepares a case, with a folder to write to.
Maker: TypeAlias = Callable[[Path], Case]


@dataclass(frozen=True)
class Row:
    """A line of the table: rates are units of work per second of processor time, ``ratio`` is ours over theirs."""

    name: str
    beside: str
    bound: Bound
    unit: str
    rate: float
    other_rate: float
    ratio: float

    @property
    def key(self) -> str:
        """What the line is called in the baseline."""
        return f"{self.name} / {self.beside}"


def measure(name: str, case: Case, turns: int = TURNS) -> list[Row]:
    """One line for each yardstick; a first turn that does not count loads what is loaded once."""
    runs = [case.run, *(other.run for other in case.beside)]
    spent = [[_seconds(run) for run in runs] for _ in range(turns + 1)]
    return compared(name, case, spent[1:])


def compared(name: str, case: Case, spent: list[list[float]]) -> list[Row]:
    """The lines of a case from the seconds of each turn, ours first and then each yardstick's."""
    rows = []
    for number, other in enumerate(case.beside, 1):
        count = case.count if other.count is None else other.count
        ratio = statistics.median(turn[number] / turn[0] for turn in spent) * case.count / count
        rate = case.count / statistics.median(turn[0] for turn in spent)
        other_rate = count / statistics.median(turn[number] for turn in spent)
        rows.append(Row(name, other.name, other.bound, case.unit, rate, other_rate, ratio))
    return rows


def _seconds(run: Callable[[], object]) -> float:
    started = time.process_time()
    run()
    return max(time.process_time() - started, 1e-9)
