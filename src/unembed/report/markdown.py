"""The report as Markdown: short, for the summary page of a build or a merge request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from unembed.report import advice, answer, coverage, frontier, questions, usefulness
from unembed.report.clean import clean_text, cleaned
from unembed.report.detection import would_have_found
from unembed.report.findings import Names, measured
from unembed.report.numbers import count
from unembed.report.parts import Ranking
from unembed.report.references import scale_line
from unembed.report.words import LEVEL, OUTCOME, STATUS, data_rows
from unembed.results.schema import Finding, GateResult, Run

_MARKUP = re.compile(r"([\\`*_\[\]~$])")
_LEADING = re.compile(r"^([-+#=]|\d+[.)](?=\s|$))")


def escape(text: str) -> str:
    """Text that shows as itself anywhere in Markdown, on one line: no markup, no link, no table cell."""
    line = " ".join(clean_text(text).split())
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "&#124;")
    line = line.replace("://", "&#58;//").replace("@", "&#64;").replace("www.", "www&#46;")
    line = _MARKUP.sub(r"\\\1", line)
    return _LEADING.sub(lambda found: "&#8203;" + found[0], line)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """A table whose cells are escaped; column heads are ours."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(escape(cell) for cell in row)} |" for row in rows]
    return [*lines, ""]


def fenced(text: str) -> list[str]:
    """A code block that its content can't close."""
    body = clean_text(text)
    longest = max((len(run) for run in re.findall(r"`+", body)), default=0)
    fence = "`" * max(3, longest + 1)
    return [fence, body, fence, ""]


def render_markdown(run: Run) -> str:
    """The whole summary."""
    run = cleaned(run)
    names = Names(run)
    lines = [f"# {escape(run.title)}", "", *_answer(run)]
    if run.gate:
        lines += _policy(run.gate, {f.id: f for f in run.findings}, names)
    lines += _findings(run, names)
    lines += _frontier(run)
    lines += _usefulness(run)
    lines += _untested(run)
    lines += ["## Reproduce", "", *fenced(run.command)]
    data = ", ".join(f"{d.role.lower()}: {d.rows} ({d.fingerprint})" for d in data_rows(run))
    made = f"unembed {run.environment.unembed}, Python {run.environment.python}, seed {run.spec.get('seed', '–')}"
    return "\n".join([*lines, escape(f"{made}. {data}"), ""])


def _answer(run: Run) -> list[str]:
    """Page one: the verdict, a line for each thing an attacker does, the price, what to do."""
    lines = [f"**{LEVEL[run.verdict.level]}.** {escape(run.verdict.sentence)}", ""]
    for v in run.verdict.variants:
        known = f"With {v.variant}, against somebody who knows it"
        lines += [f"{escape(known)}: **{LEVEL[v.level]}.** {escape(v.sentence)}", ""]
    if run.status != "complete":
        missing = "Parts of this audit are missing" if run.status == "partial" else "Nothing ran"
        lines += [f"**{missing}**: what is missing is not a sign of safety.", ""]
    for card in answer.cards(run):
        said = f"{card.figure.clause}. {card.who}." if card.figure else card.said
        lines.append(f"- **{card.title}** ({card.badge}): {escape(said)}")
    lines.append("")
    if (easiest := answer.easiest(run)) is not None:
        price = "; ".join(f"{name.lower()}: {text}" for name, text in easiest.price)
        lines += [f"**Easiest attacker: {escape(easiest.name)}**. {escape(price)}.", ""]
    told = [part for part in (coverage.sentence(run), coverage.advice(run)) if part]
    lines += [escape(" ".join(told)), ""] if told else []
    todo = [f"{i}. **{escape(a.do)}** {escape(a.why)}" for i, a in enumerate(advice.advice(run), 1)]
    return [*lines, *(["## What to do about it", "", *todo, ""] if todo else [])]


def _policy(gate: GateResult, findings: dict[str, Finding], names: Names) -> list[str]:
    word = "met" if gate.passed else "violated" if gate.exit_code == 1 else "could not tell"
    rows = []
    for o in gate.outcomes:
        finding = findings.get(o.finding or "")
        about = names.title(finding) if finding else (o.finding or "–")
        severity = " (warning)" if o.severity == "warning" else ""
        rows.append((o.rule, OUTCOME[o.outcome] + severity, about, o.message))
    return [f"## Policy: {word}", "", *table(("Rule", "Outcome", "Finding", "Why"), rows)]


def _findings(run: Run, names: Names) -> list[str]:
    """Every finding once: a row of a table, and for the largest leak of each question its words and parts."""
    lines = ["## Findings", ""]
    if not run.findings:
        return [*lines, "There are no findings.", ""]
    for question in questions.questions(run):
        lines += [f"### {escape(question.title)}", ""]
        rows = [
            (names.title(v.finding), v.value, v.floor, v.excess, count(v.finding.cost.pairs), v.badge)
            for v in question.findings
        ]
        lines += table(("Attack", "Result", "Floor", "Above the floor", "Pairs", "Status"), rows)
        best = question.findings[0]
        lines += [f"{escape(' '.join(best.sentences))}", ""]
        for curve in question.curves:
            lines += [f"{escape(curve.title)}: {escape(curve.price)}", ""]
            lines += table(("Attack", "Pairs", "Result", "Floor"), curve.rows)
        for parts in best.rankings:
            lines += _parts(parts)
        for view in question.findings:
            lines += _remarks(view.finding, names)
        lines += [""] if lines[-1] else []
        if any(not measured(v.finding) for v in question.findings):
            lines += [f"_{STATUS['could-not-measure']}_ is not a sign of safety.", ""]
        if question.consequence and not question.again:
            lines += [escape(question.consequence), ""]
    return lines


def _parts(parts: Ranking) -> list[str]:
    """The parts of the largest leak; of long lists both ends."""
    rows = parts.cells(parts.first)
    if parts.last:
        gap = (f"… {count(len(parts.between))} more …", *[""] * (len(parts.head) - 1))
        rows = [*rows, gap, *parts.cells(parts.last)]
    return [f"{escape(parts.heading)}:", "", *table(parts.head, rows)]


def _remarks(finding: Finding, names: Names) -> list[str]:
    """What the same attack reads elsewhere; and why there is no leak, with what would have been found."""
    title, lines = escape(names.title(finding)), []
    if scale := scale_line(finding):
        lines.append(f"- {title}. On the same texts: {escape(scale)}.")
    if finding.status not in ("leak", "yardstick") and not finding.curve:
        lines.append(f"- {title}: {escape(finding.reason)}")
        limit = would_have_found(finding)
        lines += [f"  Calibration: {escape(limit)}."] if limit else []
    return lines


def _frontier(run: Run) -> list[str]:
    if not frontier.shown(run):
        return []
    head, *body = frontier.stops(run)
    head = tuple(escape(name) for name in head)
    lines = [f"## {frontier.HEADING}", "", frontier.LEAD, "", *table(frontier.HEAD, frontier.rows(run))]
    return [
        *lines,
        frontier.TRAP,
        "",
        "What each defense stops, and what it does not:",
        "",
        *table([escape(name) for name in head], body),
    ]


def _usefulness(run: Run) -> list[str]:
    if not run.utility:
        return []
    lines = [f"## {usefulness.HEADING}", "", usefulness.LEAD, "", *table(usefulness.HEAD, usefulness.rows(run))]
    return [*lines, *(f"- {escape(meaning)}" for meaning in usefulness.meanings(run)), ""]


def _untested(run: Run) -> list[str]:
    left_out = answer.untested(run)
    failed = [cell for cell in run.cells if cell.status == "failed"]
    if not left_out and not failed:
        return []
    lines = ["## Not tested", ""]
    if left_out:
        rows = [(u.what, u.subject or "–", u.who or "–", u.reason) for u in left_out]
        lines += table(("What", "On", "By whom", "Why"), rows)
    for cell in failed:
        lines.append(f"- failed: {escape(cell.identity.label)}: {escape(cell.error or 'no cause was recorded')}")
    return [*lines, ""]
