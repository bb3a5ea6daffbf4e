"""A run held against a policy.

Nothing passes for lack of evidence: a rule that matches no finding, a finding that isn't trusted, and a cell
that failed are all *could not measure*, and so is what no rule is about. A violation outweighs that, because it
stands whatever the rest says.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from unembed.errors import UnknownNameError
from unembed.games.threat import Capability
from unembed.gate import exit_codes
from unembed.gate.policy import MEASURED, Policy, Rule
from unembed.results.schema import CellRecord, Finding, GateResult, RuleOutcome, Run

if TYPE_CHECKING:
    from unembed.gate.baseline import Acceptance, Baseline

Outcome = Literal["met", "violated", "inconclusive", "could-not-measure", "accepted", "not-applicable"]


@dataclass(frozen=True)
class Held:
    """One rule held against one finding, with the number that was compared."""

    rule: Rule
    finding: Finding | None
    outcome: Outcome
    message: str
    compared: float | None = None


def judge(
    run: Run,
    policy: Policy,
    baseline: Baseline | None = None,
    *,
    today: datetime.date | None = None,
    allow_unmeasured: bool = False,
) -> GateResult:
    """The policy's answer for a run: one outcome for each rule and finding, and the exit code.

    With ``allow_unmeasured`` what could not be measured is reported and fails nothing, except where a rule has nothing
    else to go by.
    """
    held = judge_in_detail(run, policy, baseline, today=today)
    held += _left_over(run, policy, held)
    if allow_unmeasured:
        measured = {h.rule.id for h in held if h.outcome not in ("could-not-measure", "not-applicable")}
        measured.add(MEASURED.id)
        held = [_told_only(h) if h.outcome == "could-not-measure" and h.rule.id in measured else h for h in held]
    code = _exit_code(held)
    outcomes = [
        RuleOutcome(
            rule=h.rule.id,
            finding=h.finding.id if h.finding else None,
            outcome=h.outcome,
            severity=h.rule.severity,
            message=h.message,
        )
        for h in held
    ]
    return GateResult(passed=code == exit_codes.MET, exit_code=code, outcomes=outcomes)


def exit_code(run: Run, *, allow_unmeasured: bool = False) -> int:
    """What a finished audit ends with: the answer of its policy; without one, whether everything was measured."""
    code = run.gate.exit_code if run.gate is not None else exit_codes.MET
    if code == exit_codes.VIOLATED:
        return code
    if all(f.status == "could-not-measure" for f in run.findings):
        return exit_codes.COULD_NOT_MEASURE
    if code == exit_codes.MET and not allow_unmeasured and (unmeasured(run) or run.status != "complete"):
        return exit_codes.COULD_NOT_MEASURE
    return code


def unmeasured(run: Run) -> list[CellRecord | Finding]:
    """Cells without a finding, and findings that say nothing because their attack failed its own check.

    What an adversary who doesn't know a defense fails to find says nothing; one who knows it is measured as well.
    """
    found = {f.cell for f in run.findings}
    lost = [c for c in run.cells if c.status == "failed" or c.key not in found]
    silent = [f for f in run.findings if _decides(f) and f.adaptive is not False and not _says_something(f)]
    return [*lost, *silent]


def _decides(finding: Finding) -> bool:
    """Neither the points of a curve nor yardsticks decide anything.

    The former are weaker forms of a finding that is there, the latter read the texts.
    """
    return not (finding.curve or finding.yardstick or Capability.TEXTS.value in finding.cost.capabilities)


def _says_something(finding: Finding) -> bool:
    return finding.trust.trusted and finding.status != "could-not-measure"


def _left_over(run: Run, policy: Policy, held: list[Held]) -> Iterator[Held]:
    """What could not be measured and concerns no rule that counts: nobody can tell whether it would have mattered."""
    strict = [rule for rule in policy.rules if rule.severity == "error"]
    judged = {h.finding.id for h in held if h.finding is not None and h.rule in strict}
    for item in unmeasured(run):
        if isinstance(item, Finding):
            if item.id not in judged:
                yield Held(MEASURED, item, "could-not-measure", f"not trusted: {item.trust.reason}")
        elif not any(rule.meant(item.identity) for rule in strict):
            yield Held(MEASURED, None, "could-not-measure", _no_finding(item))


def _no_finding(cell: CellRecord) -> str:
    return f"cell {cell.key[:12]} {'failed' if cell.status == 'failed' else 'is done'}, but its finding is missing"


def _told_only(held: Held) -> Held:
    return replace(held, rule=held.rule.model_copy(update={"severity": "warning"}))


def judge_in_detail(
    run: Run,
    policy: Policy,
    baseline: Baseline | None = None,
    *,
    today: datetime.date | None = None,
) -> list[Held]:
    """Every rule against every finding it means, before the answer is summed up."""
    entries = baseline.accept if baseline else []
    ids = [rule.id for rule in policy.rules]
    for entry in entries:
        if entry.rule not in ids:
            raise UnknownNameError("rule in the baseline", entry.rule, ids)
    day = today or datetime.date.today()
    held: list[Held] = []
    for rule in policy.rules:
        mine = [entry for entry in entries if entry.rule == rule.id]
        outcomes = [_accept(h, mine, day) for h in _hold(run, rule)]
        held += outcomes
        held += _remarks(rule, mine, outcomes, day)
    return held


def _exit_code(held: list[Held]) -> int:
    counted = [h for h in held if h.rule.severity == "error"]
    if any(h.outcome == "violated" for h in counted):
        return exit_codes.VIOLATED
    for h in counted:
        if h.outcome == "could-not-measure":
            return exit_codes.COULD_NOT_MEASURE
        if h.outcome == "inconclusive" and h.rule.inconclusive == "fail":
            return exit_codes.COULD_NOT_MEASURE
    return exit_codes.MET


def _hold(run: Run, rule: Rule) -> Iterator[Held]:
    failed = [c for c in unmeasured(run) if isinstance(c, CellRecord) and rule.meant(c.identity)]
    for cell in failed:
        yield Held(rule, None, "could-not-measure", _no_finding(cell))
    matched = [f for f in run.findings if _decides(f) and rule.matches(f)]
    with_metric = [f for f in matched if rule.measured(f) is not None]
    if not matched:
        if not failed:
            yield Held(rule, None, "could-not-measure", _nothing_matched(run, rule))
    elif not with_metric:
        names = sorted({name for f in matched for name in (f.metric, *f.secondary)})
        known = ", ".join(["excess", "estimate", "headroom", *names])
        message = f"no finding it matches has the metric '{rule.metric}'; there are {known}"
        yield Held(rule, None, "could-not-measure", message)
    for finding in with_metric:
        yield _hold_one(rule, finding)


def _nothing_matched(run: Run, rule: Rule) -> str:
    if not run.findings:
        return "the run has no findings"
    for key, value in rule.wanted().items():
        present = {"none" if v is None else str(v) for v in (getattr(f, key) for f in run.findings)}
        if str(value) not in present:
            return f"no finding has the {key} '{value}'; the run has {', '.join(sorted(present))}"
    return f"no finding has at once {rule.describe()}"


def _hold_one(rule: Rule, finding: Finding) -> Held:
    measured = rule.measured(finding)
    if not _says_something(finding):
        return Held(rule, finding, "could-not-measure", f"not trusted: {finding.trust.reason}")
    if measured is None or math.isnan(measured.value):
        return Held(rule, finding, "could-not-measure", f"{rule.metric} has no value")
    if math.isnan(measured.low) or math.isnan(measured.high):
        return Held(rule, finding, "could-not-measure", f"{rule.metric} has no interval")
    dash = " to " if measured.low < 0 else "–"
    shown = f"{rule.metric} {measured.value:.3f} [{measured.low:.3f}{dash}{measured.high:.3f}]"
    compared = measured.value if rule.compare == "interval" else getattr(measured, rule.compare)
    end = "" if rule.compare in ("interval", "value") else f" (its {rule.compare} end counts)"
    outcome: Outcome
    if rule.compare != "interval":
        outcome = "violated" if compared > rule.max else "met"
    elif measured.low > rule.max:
        outcome = "violated"
    else:
        outcome = "met" if measured.high <= rule.max else "inconclusive"
    verb = {"violated": "is above", "met": "stays within", "inconclusive": "straddles"}[outcome]
    message = f"{shown} {verb} the limit {rule.max:g}{end}"
    if outcome == "met" and (why := _not_enough(rule, finding)):
        return Held(rule, finding, "inconclusive", f"{message}, but {why}", compared)
    if outcome == "inconclusive":
        message += "; more targets narrow the interval"
    return Held(rule, finding, outcome, message, compared)


def _not_enough(rule: Rule, finding: Finding) -> str | None:
    """Why staying within the limit does not settle it: other figures disagree, or too little would have been seen."""
    if finding.status == "leak":
        return None
    if finding.contrary:
        return f"other figures are clearly above guessing: {', '.join(finding.contrary)}"
    if finding.doubt:
        return finding.doubt
    if rule.detects is None:
        return None
    if finding.detects is None or finding.detects.size is None:
        return "it is not known how small a leak would have been found"
    if finding.detects.size > rule.detects:
        return (
            f"only a leak of {finding.detects.size:g} above guessing would surely have been found, the policy demands "
            f"{rule.detects:g}; more texts let smaller ones be found"
        )
    return None


def _accept(held: Held, entries: list[Acceptance], day: datetime.date) -> Held:
    """The same outcome, accepted if an entry in force covers it; otherwise with a word on why not."""
    if held.outcome not in ("violated", "inconclusive") or held.finding is None or held.compared is None:
        return held
    mine = [entry for entry in entries if entry.matches(held.finding)]
    in_force = [entry for entry in mine if entry.expires >= day]
    for entry in in_force:
        if held.compared <= entry.up_to:
            word = f"accepted up to {entry.up_to:g} until {entry.expires}: {entry.reason}"
            return replace(held, outcome="accepted", message=f"{held.message}; {word}")
    if in_force:
        limit = max(entry.up_to for entry in in_force)
        word = f"accepted up to {limit:g} only, now {held.compared:.3f}"
        return replace(held, message=f"{held.message}; {word}")
    if mine:
        return replace(held, message=f"{held.message}; its acceptance expired on {mine[-1].expires}")
    return held


def _remarks(rule: Rule, entries: list[Acceptance], held: list[Held], day: datetime.date) -> Iterator[Held]:
    """Baseline entries that no longer do anything: expired, or for something no longer found."""
    findings = [h.finding for h in held if h.finding is not None and h.outcome != "met"]
    for entry in entries:
        name = f"baseline entry ({entry.describe() or 'everything'}; {entry.reason})"
        if entry.expires < day:
            yield Held(rule, None, "not-applicable", f"{name} expired on {entry.expires}")
        elif not any(entry.matches(f) for f in findings):
            yield Held(rule, None, "not-applicable", f"{name} is no longer needed and can be removed")
