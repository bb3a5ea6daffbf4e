"""The contract of an experiment: what was published, and a way to measure it again, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from unembed.metrics.estimate import Estimate
    from unembed.runner.prepare import Progress

#: ``smoke`` shows that it runs, on invented text; ``small`` fits a laptop; ``full`` is as large as the data allow.
Size = Literal["smoke", "small", "full"]
SIZES: tuple[Size, ...] = ("smoke", "small", "full")
T = TypeVar("T")


def by_size(smoke: T, small: T, full: T) -> dict[Size, T]:
    """What something is at each size."""
    return {"smoke": smoke, "small": small, "full": full}


@dataclass(frozen=True)
class Published:
    """One figure of a paper: the setting it belongs to, its metric, its value (rates from 0 to 1)."""

    setting: str
    metric: str
    value: float


@dataclass(frozen=True)
class ExperimentFacts:
    """What an experiment says of itself before it is run.

    ``headline`` is the metric its plot shows; ``axis`` says what lies on the x-axis, for figures.
    """

    name: str
    paper: str
    title: str
    section: str
    published: tuple[Published, ...]
    departures: str | None = None
    headline: str | None = None
    axis: str | None = None

    def printed(self, setting: str, metric: str) -> float | None:
        """The published figure of a setting, where the paper prints one."""
        return next((p.value for p in self.published if (p.setting, p.metric) == (setting, metric)), None)


@dataclass(frozen=True)
class Conditions:
    """How an experiment is run: its size, where the data are, on what machine.

    ``encoders`` limits the rows; ``folder`` keeps each row as it is finished, so that a killed run goes on;
    ``progress`` is told (what, done, of how many).
    """

    size: Size = "small"
    data: Path | None = None
    seed: int = 0
    device: str = "auto"
    threads: int | None = None
    encoders: tuple[str, ...] = ()
    folder: Path | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class Measured:
    """One figure measured here, with its interval and the published one it answers to, where there is one.

    ``floor`` is the same metric of the best guess without the vectors; ``seconds`` what the attack took;
    ``trusted`` is False where the attack did not show that it works (``games.play``). ``series`` and ``x`` place the
    figure in a plot of lines.
    """

    setting: str
    metric: str
    value: float
    low: float
    high: float
    n: int
    published: float | None = None
    floor: float | None = None
    seconds: float | None = None
    trusted: bool = True
    series: str | None = None
    x: float | None = None

    @classmethod
    def of(cls, setting: str, metric: str, estimate: Estimate, **more: Any) -> Measured:
        """An estimate as a figure of a table."""
        return cls(setting, metric, estimate.value, estimate.low, estimate.high, estimate.n, **more)


@dataclass(frozen=True)
class Unmeasured:
    """A row that could not be measured here, and why."""

    setting: str
    reason: str


@dataclass(frozen=True)
class Reproduction:
    """The table an experiment gives."""

    rows: tuple[Measured, ...]
    notes: tuple[str, ...] = ()
    unmeasured: tuple[Unmeasured, ...] = ()
    devices: tuple[str, ...] = ()
    """What the rows were measured on."""


@runtime_checkable
class Experiment(Protocol):
    """A published experiment that can be run again; made without arguments."""

    facts: ClassVar[ExperimentFacts]

    def run(self, conditions: Conditions) -> Reproduction:
        """Measure under the given conditions."""
        ...


def check_experiment(candidate: object) -> str | None:
    """What keeps an object from being an experiment class, or None."""
    if not isinstance(candidate, type):
        return "it is not a class"
    facts = getattr(candidate, "facts", None)
    if not isinstance(facts, ExperimentFacts):
        return "it has no ExperimentFacts named 'facts'"
    if not isinstance(facts.published, Sequence):
        return "its published figures are not a sequence"
    return None if callable(getattr(candidate, "run", None)) else "it lacks run"
