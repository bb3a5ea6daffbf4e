"""What an audit returns: the result with everything that is usually done with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unembed.api.tables import framed
from unembed.errors import UsageError
from unembed.gate.baseline import read_baseline
from unembed.gate.judge import exit_code, judge
from unembed.gate.policy import Policy
from unembed.gate.policy_files import read_policy
from unembed.gate.validation import validate
from unembed.results import io
from unembed.results.schema import Finding, RuleOutcome, Skipped, UtilityScore, Verdict
from unembed.results.schema import Run as Result

#: Outcomes of a rule that keep a gate from passing, or say why it might not.
_TELLING = ("violated", "could-not-measure", "inconclusive")


@dataclass(frozen=True)
class Gate:
    """A policy's answer for a run.

    Attributes:
        passed: Whether every rule is met and everything it is about was measured.
        exit_code: What the command line would end with: 0 met, 1 violated, 3 could not be told.
        outcomes: Every rule with every finding that it is about.
    """

    passed: bool
    exit_code: int
    outcomes: tuple[RuleOutcome, ...]

    @property
    def reasons(self) -> list[str]:
        """Why it does not pass, a line for each rule and finding, violations first."""
        told = [o for kind in _TELLING for o in self.outcomes if o.outcome == kind]
        return [f"{o.rule}: {o.outcome}: {o.message}" for o in told if o.severity == "error"]

    def __bool__(self) -> bool:
        return self.passed


@dataclass(frozen=True)
class Chart:
    """A picture that notebooks show; ``str(chart)`` is the SVG, ``chart.save(path)`` writes it."""

    svg: str

    def __str__(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<unembed.Chart: {len(self.svg):,} characters of SVG>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write the picture to a file."""
        from unembed.writing import write_atomically

        write_atomically(Path(path), self.svg, shared=True)
        return Path(path)


class Run:
    """The result of an audit.

    Attributes:
        result: All of it, as in ``run.json``.
        folder: Where it is kept; None for an audit that left nothing on disk.
    """

    def __init__(self, result: Result, folder: Path | None = None) -> None:
        self.result = result
        self.folder = folder

    @property
    def verdict(self) -> Verdict:
        """The answer: ``verdict.level`` and ``verdict.sentence``."""
        return self.result.verdict

    @property
    def findings(self) -> list[Finding]:
        """Every measurement, each with floors, interval and status."""
        return self.result.findings

    @property
    def skipped(self) -> list[Skipped]:
        """What was not tested, and why."""
        return self.result.skipped

    @property
    def utility(self) -> list[UtilityScore]:
        """What the vectors are good for, with and without each defense."""
        return self.result.utility

    def __repr__(self) -> str:
        count = len(self.findings)
        return f"<unembed.Run: {count} finding{'' if count == 1 else 's'}. {self.verdict.sentence}>"

    def _repr_html_(self) -> str:
        from unembed.api.showing import run_html

        return run_html(self.result)

    def to_frame(self, library: str | None = None) -> Any:
        """The findings as a data frame, one row each, numbers unrounded.

        Args:
            library: ``"pandas"`` or ``"polars"``; without it the one that is installed, pandas first.
        """
        from unembed.report.table import rows

        return framed(rows(self.result), library)

    def plot(self) -> Chart:
        """Every finding with its interval and the floor it has to beat, as a picture."""
        from unembed.api.showing import findings_chart

        return Chart(findings_chart(self.result))

    def report(self, path: str | Path) -> Path:
        """Write a report; its ending says which: ``.html .md .csv .json .junit.xml .sarif``."""
        from unembed.report import write_report

        write_report(self.result, Path(path))
        return Path(path)

    def gate(
        self,
        policy: Any = None,
        *,
        baseline: str | Path | None = None,
        allow_unmeasured: bool = False,
        **rule: Any,
    ) -> Gate:
        """Hold the run against limits.

        Args:
            policy: A ``Policy``, a dict of ``rules``, a list of rules, one rule, or the path of a policy file.
            baseline: File of accepted findings.
            allow_unmeasured: What could not be measured fails nothing, as long as something was.
            rule: One rule in the place of a policy: ``run.gate(max=0.1)``, ``run.gate(max=0.2, game="inversion")``.
        """
        if (policy is None) == (not rule):
            raise UsageError("give one policy: run.gate(max=0.1), or run.gate(policy)")
        rules = policy_of(rule if policy is None else policy)
        accepted = None if baseline is None else read_baseline(Path(baseline))
        answer = judge(self.result, rules, accepted, allow_unmeasured=allow_unmeasured)
        judged = self.result.model_copy(update={"gate": answer})
        code = exit_code(judged, allow_unmeasured=allow_unmeasured)
        return Gate(code == 0, code, tuple(answer.outcomes))

    def save(self, path: str | Path) -> Path:
        """Write the result to a ``.json`` file, or as ``run.json`` into a folder; ``load_run`` reads it."""
        place = Path(path)
        if place.suffix != ".json":
            place.mkdir(parents=True, exist_ok=True)
            place = place / "run.json"
        io.write_run(self.result, place)
        return place


def load_run(path: str | Path) -> Run:
    """A run from its folder or its ``run.json``.

    Args:
        path: The folder of an audit, by the library or by the command line, or the file in it.
    """
    place = Path(path).expanduser()
    return Run(io.read_run(place), place if place.is_dir() else place.parent)


def policy_of(given: Any) -> Policy:
    """A policy from a policy, a path, a table of rules, a list of them, or a single rule."""
    if isinstance(given, Policy):
        return given
    if isinstance(given, str | Path):
        return read_policy(Path(given))
    if isinstance(given, Mapping):
        table = dict(given) if "rules" in given else {"rules": [_rule(given, 1)]}
    elif isinstance(given, Sequence):
        table = {"rules": [_rule(one, number) for number, one in enumerate(given, start=1)]}
    else:
        raise UsageError(f"policy: expected rules, not {type(given).__name__}")
    return validate(Policy, table, "policy")


def _rule(given: Any, number: int) -> Any:
    return {"id": f"rule-{number}", **given} if isinstance(given, Mapping) else given
