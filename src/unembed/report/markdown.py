"""The report as Markdown: short, for the summary page of a build or a merge request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from unembed.report import attributes, coverage, facts, inversion, keywords, patterns, people, ranked, usefulness, view
from unembed.report.clean import clean_text, cleaned
from unembed.report.detection import would_have_found
from unembed.report.numbers import count
from unembed.report.readers import Reader
from unembed.report.references import scale_line
from unembed.report.words import LEVEL, OUTCOME, STATUS, capability
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
    names = view.Names(run)
    lines = [f"# {escape(run.title)}", ""]
    lines += [f"**{LEVEL[run.verdict.level]}.** {escape(run.verdict.sentence)}", ""]
    for v in run.verdict.variants:
        known = f"With {v.variant}, against somebody who knows it"
        lines += [f"{escape(known)}: **{LEVEL[v.level]}.** {escape(v.sentence)}", ""]
    if run.status != "complete":
        missing = "Parts of this audit are missing" if run.status == "partial" else "Nothing ran"
        lines += [f"**{missing}**: what is missing is not a sign of safety.", ""]
    told = (coverage.sentence(run), coverage.advice(run))
    if any(told):
        lines += [escape(" ".join(part for part in told if part)), ""]
    if run.gate:
        lines += _policy(run.gate, {f.id: f for f in run.findings}, names)
    lines += _reading(run)
    lines += _words(run)
    lines += _attributes(run)
    lines += _secrets(run)
    lines += _findings(run, names)
    lines += _usefulness(run)
    lines += _untested(run, names)
    lines += ["## Reproduce", "", *fenced(run.command)]
    data = ", ".join(f"{d.role.lower()}: {d.rows} ({d.fingerprint})" for d in facts.data_rows(run))
    seed = run.spec.get("seed", "–")
    made = f"unembed {run.environment.unembed}, Python {run.environment.python}, seed {seed}"
    lines += [escape(f"{made}. {data}"), ""]
    return "\n".join(lines)


def _policy(gate: GateResult, findings: dict[str, Finding], names: view.Names) -> list[str]:
    answer = "met" if gate.passed else "violated" if gate.exit_code == 1 else "could not tell"
    lines = [f"## Policy: {answer}", ""]
    rows = []
    for o in gate.outcomes:
        finding = findings.get(o.finding or "")
        about = _title(finding, names) if finding else (o.finding or "–")
        severity = " (warning)" if o.severity == "warning" else ""
        rows.append((o.rule, OUTCOME[o.outcome] + severity, about, o.message))
    return lines + table(("Rule", "Outcome", "Finding", "Why"), rows)


def _title(finding: Finding, names: view.Names) -> str:
    parts = (names.attack(finding.attack), names.adversary(finding.adversary), view.about(finding))
    return " · ".join(p for p in parts if p)


def _reading(run: Run) -> list[str]:
    """Who reads how much of a text, what it takes, which words come back; examples stay in the HTML report."""
    read, named = inversion.reading(run), people.people(run)
    if read is None and named is None:
        return []
    lines = ["## Can someone read my text?", ""]
    if read is not None:
        lines += _readers(read.readers)
        if read.rows:
            lines += ["Share of the texts that gave back so much of their content words:", ""]
            lines += table(read.head, read.rows)
        for curve in read.curves:
            lines += [f"{escape(curve.title)}: {escape(curve.price)}", ""]
            lines += table(("Attack", "Pairs", "Result", "Floor"), curve.rows)
        for best in read.details[:1]:
            for part in best.parts:
                lines += [f"{escape(part.title)}, {escape(best.title)}:", ""]
                rows = [(b.name, b.value, b.floor, b.note or "–") for b in part.bars]
                lines += table(("Words", "Result", "Floor", "Share"), rows)
    if named is not None:
        lines += ["### People's names", "", *_readers(named.readers)]
    return lines


def _words(run: Run) -> list[str]:
    """Which words can be looked for, the most exposed first."""
    words = keywords.keywords(run)
    if words is None:
        return []
    lines = ["## Can a word be looked for?", "", *_topics(words.asked)]
    if words.listed:
        lines += ["### What a text is about, from a list of words", "", *_topics(words.listed)]
    return lines


def _attributes(run: Run) -> list[str]:
    """Which values of an attribute are recognised, the most exposed first; how near numbers are guessed."""
    told = attributes.attributes(run)
    if told is None:
        return []
    return ["## Can the author or another attribute be told?", "", *_topics([*told.classes, *told.numbers])]


def _topics(topics: Sequence[ranked.Topic]) -> list[str]:
    """What each adversary tells, and the parts of the best attack; of long lists both ends."""
    lines: list[str] = []
    for topic in topics:
        lines += [f"**{escape(topic.subject)}**", ""] if topic.subject else []
        lines += _readers(topic.readers)
        for part in topic.details[:1]:
            for parts in part.rankings:
                lines += [f"{escape(parts.heading)}, {escape(part.title)}:", ""]
                rows = parts.cells(parts.first)
                if parts.last:
                    gap = (f"… {count(parts.between)} more …", *[""] * (len(parts.head) - 1))
                    rows = [*rows, gap, *parts.cells(parts.last)]
                lines += table(parts.head, rows)
    return lines


def _secrets(run: Run) -> list[str]:
    """Which numbers and codes come back, part by part for the best attack."""
    lines: list[str] = []
    for secret in patterns.patterns(run):
        lines += [f"### `{escape(secret.name)}`", "", *_readers(secret.readers)]
        if secret.map is not None:
            lines += [f"- {letter}: {escape(name)}" for letter, name in secret.map.legend]
            lines += ["", *table(secret.map.head, secret.map.rows)]
    return ["## Can numbers and codes be read?", "", *lines] if lines else []


def _readers(readers: Sequence[Reader]) -> list[str]:
    told = [f"- **{escape(r.who)}**: {escape(' '.join((r.sentence, *r.further)))}" for r in readers]
    return [*told, ""]


def _findings(run: Run, names: view.Names) -> list[str]:
    lines = ["## Findings", ""]
    if not run.findings:
        return [*lines, "There are no findings.", ""]
    for game in view.games(run):
        lines += [f"### {escape(game.card.question)}", ""]
        rows = [
            (_title(v.finding, names), v.value, v.floor, v.excess, count(v.finding.cost.pairs), v.badge)
            for v in game.findings
        ]
        lines += table(("Attack", "Result", "Floor", "Above the floor", "Pairs", "Status"), rows)
        for found in game.findings:
            if scale := scale_line(found.finding):
                lines.append(f"- {escape(_title(found.finding, names))}. On the same texts: {escape(scale)}.")
        for found in game.findings:
            told = found.finding
            if told.status not in ("leak", "yardstick") and not told.curve:
                lines.append(f"- {escape(_title(told, names))}: {escape(told.reason)}")
                limit = would_have_found(told)
                lines += [f"  Calibration: {escape(limit)}."] if limit else []
        lines += [""] if lines[-1] else []
        if any(f.finding.status == "could-not-measure" for f in game.findings):
            lines += [f"_{STATUS['could-not-measure']}_ is not a sign of safety.", ""]
        if game.consequence:
            lines += [escape(game.consequence), ""]
    return lines


def _usefulness(run: Run) -> list[str]:
    if not run.utility:
        return []
    lines = [f"## {usefulness.HEADING}", "", usefulness.LEAD, "", *table(usefulness.HEAD, usefulness.rows(run))]
    return [*lines, *(f"- {escape(meaning)}" for meaning in usefulness.meanings(run)), ""]


def _untested(run: Run, names: view.Names) -> list[str]:
    failed = [cell for cell in run.cells if cell.status == "failed"]
    if not run.skipped and not failed:
        return []
    lines = ["## Not tested", ""]
    rows = [
        (
            s.what,
            names.adversary(s.adversary) if s.adversary else "–",
            s.reason,
            ", ".join(capability(m) for m in s.missing) or "–",
        )
        for s in run.skipped
    ]
    if rows:
        lines += table(("What", "Adversary", "Reason", "Missing"), rows)
    for cell in failed:
        lines.append(f"- failed: {escape(cell.identity.label)}: {escape(cell.error or 'no cause was recorded')}")
    return [*lines, ""]
