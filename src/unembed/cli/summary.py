"""A run in a terminal: the verdict, the findings, what was left out or failed, the policy's answer, the files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unembed.cli.output import Voice, nan_to_none, plain, table, text
from unembed.report import coverage, usefulness
from unembed.report.detection import would_have_found
from unembed.report.numbers import difference, number, with_interval
from unembed.report.references import scale_line
from unembed.report.table import rows as flat_rows
from unembed.report.words import LEVEL, OUTCOME, STATUS
from unembed.results.schema import Finding, Run, Skipped
from unembed.runner.prepare import BUDGET

_HEAD = ("Who", "Question", "Attack", "Pairs", "Result", "Guessing", "Above", "Judgement")
_STYLE = {"high": "bold red", "moderate": "yellow", "low": "cyan", "none": "green", "unknown": "magenta"}
_MOST_LINES = 12


def show_run(voice: Voice, run: Run) -> None:
    """The run for people."""
    voice.show(text(f"{LEVEL[run.verdict.level]}.", _STYLE[run.verdict.level]), text(run.verdict.sentence))
    for v in run.verdict.variants:
        whose = f"With {v.variant}, against somebody who knows it:"
        voice.show(text(whose), text(f"{LEVEL[v.level]}.", _STYLE[v.level]), text(v.sentence))
    voice.line()
    voice.show(table(_HEAD, [_row(f) for f in run.findings if not f.curve], right=(3,)))
    _show_references(voice, run)
    _show_reasons(voice, run)
    if run.utility:
        voice.line(usefulness.HEADING)
        voice.show(table(usefulness.HEAD, usefulness.rows(run)))
    _show_notes(voice, run)
    failed = [c for c in run.cells if c.status == "failed"]
    if failed:
        voice.line(f"{len(failed)} of {len(run.cells)} measurements failed:")
        _some_of(voice, [f"{plain(cell.identity.label)}: {cell.error}" for cell in failed])
    untested = [s for s in run.skipped if s.adversary or s.missing]
    if untested:
        voice.line("Not tested:")
        _some_of(voice, list(dict.fromkeys(map(_untested, untested))))
    show_gate(voice, run)


def _show_references(voice: Voice, run: Run) -> None:
    """What other encoders give on the same texts: without a scale a figure is neither much nor little."""
    lines = [f"{f.adversary}, {_question(f)}: {scale_line(f)}" for f in run.findings if f.references]
    if lines:
        voice.line("On the same texts:")
        _some_of(voice, lines)


def _show_reasons(voice: Voice, run: Run) -> None:
    """Why a finding is not a leak, and how small a leak would have been found."""
    lines = []
    for f in run.findings:
        if f.curve or f.status in ("leak", "yardstick"):
            continue
        limit = would_have_found(f)
        lines.append(f"{_about(f)}: {f.reason}{f' ({limit})' if limit else ''}")
    if lines:
        voice.line("Where no leak was found:")
        _some_of(voice, lines)


def _show_notes(voice: Voice, run: Run) -> None:
    """What was left out, and why: a figure must not be read as one of all texts where it is not."""
    said = ((f"{f.adversary}, {_question(f)}", note) for f in run.findings if not f.curve for note in f.notes)
    notes = list(dict.fromkeys(f"{about}: {note}" for about, note in said))
    if advice := coverage.advice(run):
        notes.insert(0, f"{coverage.sentence(run)} {advice}")
    notes[:0] = [f"{card.facts[BUDGET]}." for card in run.data if BUDGET in card.facts]
    if notes:
        voice.line("Notes:")
        _some_of(voice, notes)


def _some_of(voice: Voice, lines: Sequence[str]) -> None:
    """As many as a terminal bears; the rest is counted."""
    for line in lines[:_MOST_LINES]:
        voice.line(f"  {line}")
    if len(lines) > _MOST_LINES:
        voice.line(f"  … and {len(lines) - _MOST_LINES} more in the report")


def show_gate(voice: Voice, run: Run) -> None:
    """The policy's answer, gravest first."""
    if run.gate is None:
        return
    order = ("violated", "could-not-measure", "inconclusive", "accepted", "not-applicable", "met")
    outcomes = sorted(run.gate.outcomes, key=lambda o: order.index(o.outcome))
    findings = {f.id: f for f in run.findings}
    answer = {0: "met", 1: "violated", 3: "inconclusive or not measured"}.get(run.gate.exit_code, "unknown")
    voice.line(f"Policy: {answer}.")
    lines = []
    for outcome in outcomes:
        found = findings.get(outcome.finding or "")
        about = f" {_about(found)}" if found else ""
        lines.append(f"{OUTCOME[outcome.outcome]}: {outcome.rule}{about}: {outcome.message}")
    _some_of(voice, lines)


def show_files(voice: Voice, folder: Path | None, outputs: Sequence[Path]) -> None:
    """Where everything lies."""
    voice.line()
    if folder is not None:
        voice.line(f"Result: {folder / 'run.json'}")
    for path in outputs:
        voice.line(f"Report: {path}")


def run_summary(run: Run, folder: Path | None, outputs: Sequence[Path], code: int) -> dict[str, Any]:
    """The run for programs."""
    return {
        "title": run.title,
        "status": run.status,
        "verdict": run.verdict.model_dump(),
        "findings": nan_to_none(flat_rows(run)),
        "failed": [
            {"cell": c.key, "label": plain(c.identity.label), "error": c.error}
            for c in run.cells
            if c.status == "failed"
        ],
        "skipped": [s.model_dump() for s in run.skipped],
        "utility": nan_to_none([s.model_dump() for s in run.utility]),
        "gate": run.gate.model_dump() if run.gate else None,
        "folder": str(folder) if folder else None,
        "reports": [str(p) for p in outputs],
        "exit_code": code,
    }


def _untested(skipped: Skipped) -> str:
    who = f" ({skipped.adversary})" if skipped.adversary else ""
    return f"{skipped.what}{who}: {skipped.reason}"


def _row(f: Finding) -> tuple[object, ...]:
    sure = f.trust.trusted and f.status != "could-not-measure"
    judgement = f"leak, {f.level}" if f.status == "leak" else STATUS[f.status].lower()
    return (
        f.adversary,
        _question(f),
        f.attack.partition("/")[2] or f.attack,
        f"{f.cost.pairs:,}",
        f"{f.metric} {with_interval(f.estimate, f.metric)}" if sure else "no result",
        number(f.floor.value, f.metric),
        difference(f.excess.value, f.metric) if sure else "–",
        text(judgement, _STYLE[f.level]),
    )


def _question(f: Finding) -> str:
    defended = ""
    if f.defense:
        defended = f", {f.defense} ({'adaptive' if f.adaptive else 'unaware'})"
    return f"{f.game}{f' ({f.subject})' if f.subject else ''}{defended}"


def _about(f: Finding) -> str:
    return f"{f.adversary}, {f.attack}{f' ({f.subject})' if f.subject else ''}"
