"""The contract of an experiment: what was published, and a way to measure it again, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, Protocol, runtime_checkable

#: ``smoke`` shows that it runs, ``small`` fits a laptop, ``full`` has the paper's own size.
Size = Literal["smoke", "small", "full"]
SIZES: tuple[Size, ...] = ("smoke", "small", "full")


@dataclass(frozen=True)
class Published:
    """One figure of a paper: the setting it belongs to, its metric, its value."""

    setting: str
    metric: str
    value: float


@dataclass(frozen=True)
class ExperimentFacts:
    """What an experiment says of itself before it is run."""

    name: str
    paper: str
    title: str
    section: str
    published: tuple[Published, ...]
    departures: str | None = None


@dataclass(frozen=True)
class Measured:
    """One figure measured here, with its interval and the published one it answers to, where there is one."""

    setting: str
    metric: str
    value: float
    low: float
    high: float
    n: int
    published: float | None = None


@dataclass(frozen=True)
class Reproduction:
    """The table an experiment gives."""

    rows: tuple[Measured, ...]
    notes: tuple[str, ...] = ()


@runtime_checkable
class Experiment(Protocol):
    """A published experiment that can be run again; made without arguments."""

    facts: ClassVar[ExperimentFacts]

    def run(self, size: Size, data: Path | None, *, seed: int) -> Reproduction:
        """Measure; ``data`` is the folder with the data sets, for experiments that need one."""
        ...


def check_experiment(candidate: object) -> str | None:
    """What keeps an object from being an experiment class, or None."""
    if not isinstance(candidate, type):
        return "it is not a class"
    facts = getattr(candidate, "facts", None)
    if not isinstance(facts, ExperimentFacts):
        return "it has no ExperimentFacts named 'facts'"
    if not isinstance(facts.published, Sequence):
        return "its published figures are no sequence"
    return None if callable(getattr(candidate, "run", None)) else "it lacks run"
