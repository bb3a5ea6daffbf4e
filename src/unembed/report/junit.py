"""The report as JUnit XML, which every build server reads.

One case for each outcome of the policy, or for each finding when there is no policy. A violated rule or a
leak of high level is a failure; what could not be measured or is inconclusive is an error, never a pass; what
was not tested is skipped.
"""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from unembed.report.clean import cleaned
from unembed.report.findings import Names, measured
from unembed.results.schema import Finding, RuleOutcome, Run


def render_junit(run: Run) -> str:
    """The whole document."""
    run = cleaned(run)
    suite = Element("testsuite", name=run.title, timestamp=run.created_at, time=_time(run.seconds))
    names = Names(run)
    findings = {f.id: f for f in run.findings}
    if run.gate:
        for outcome in run.gate.outcomes:
            _rule_case(suite, outcome, findings.get(outcome.finding or ""), names)
    else:
        for finding in run.findings:
            _finding_case(suite, finding, names)
    for cell in run.cells:
        if cell.status == "failed":
            case = _case(suite, "cell", cell.identity.label, cell.seconds)
            _child(case, "error", cell.error or "no cause was recorded", "failed")
    for skipped in run.skipped:
        who = f" · {names.adversary(skipped.adversary)}" if skipped.adversary else ""
        what = f"{skipped.what} ({skipped.subject})" if skipped.subject else skipped.what
        _child(_case(suite, "not-tested", what + who, 0.0), "skipped", skipped.reason)
    if not run.findings and not run.gate:
        _child(_case(suite, "run", "findings", 0.0), "error", "nothing was measured", "nothing-ran")
    for key, tag in (
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ):
        suite.set(key, str(len(list(suite.iter(tag)))))
    root = Element("testsuites")
    root.append(suite)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _time(seconds: float) -> str:
    return f"{seconds:.3f}" if math.isfinite(seconds) else "0"


def _case(suite: Element, group: str, name: str, seconds: float) -> Element:
    return SubElement(suite, "testcase", classname=f"unembed.{group}", name=name, time=_time(seconds))


def _child(case: Element, tag: str, message: str, kind: str | None = None) -> None:
    child = SubElement(case, tag, message=message)
    if kind:
        child.set("type", kind)
    if tag != "skipped":
        child.text = message


def _title(finding: Finding, names: Names) -> str:
    return " · ".join((finding.game, names.title(finding), f"{finding.cost.pairs} pairs"))


def _seconds(finding: Finding | None) -> float:
    return finding.cost.fit_seconds + finding.cost.run_seconds if finding else 0.0


def _rule_case(suite: Element, o: RuleOutcome, finding: Finding | None, names: Names) -> None:
    about = f": {_title(finding, names)}" if finding else ""
    case = _case(suite, f"policy.{o.rule}", f"{o.rule}{about}", _seconds(finding))
    if o.outcome == "not-applicable":
        _child(case, "skipped", o.message)
    elif o.severity == "error" and o.outcome == "violated":
        _child(case, "failure", o.message, o.outcome)
    elif o.severity == "error" and o.outcome in ("inconclusive", "could-not-measure"):
        _child(case, "error", o.message, o.outcome)
    else:
        SubElement(case, "system-out").text = f"{o.outcome} ({o.severity}): {o.message}"


def _finding_case(suite: Element, finding: Finding, names: Names) -> None:
    case = _case(suite, f"findings.{finding.game}", _title(finding, names), _seconds(finding))
    told = f"{finding.metric} {finding.estimate.value:.3f}, floor {finding.floor.value:.3f}"
    if not measured(finding):
        _child(case, "error", f"could not measure: {finding.trust.reason}", "could-not-measure")
    elif finding.status == "inconclusive":
        _child(case, "error", f"inconclusive: {told}", finding.status)
    elif finding.status == "leak" and finding.level == "high":
        _child(case, "failure", f"leak, level {finding.level}: {told}", finding.status)
    else:
        SubElement(case, "system-out").text = f"{finding.status}, level {finding.level}: {told}"
