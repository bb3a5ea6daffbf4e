"""A reproduction as plain data and as a Markdown table: published beside measured, floors, what is missing and why."""

from __future__ import annotations

from typing import Any

from unembed._version import __version__
from unembed.papers.base import Conditions, ExperimentFacts, Measured, Reproduction, Unmeasured
from unembed.papers.tables import device_name


def as_document(facts: ExperimentFacts, result: Reproduction, conditions: Conditions) -> dict[str, Any]:
    """What the results file holds: no text of any corpus, only names of settings, counts and scores."""
    return {
        "experiment": facts.name,
        "paper": facts.paper,
        "title": facts.title,
        "section": facts.section,
        "departures": facts.departures,
        "size": conditions.size,
        "seed": conditions.seed,
        "encoders": list(conditions.encoders),
        "unembed": __version__,
        "device": measured_on(result, conditions),
        "rows": [vars(row) for row in result.rows],
        "unmeasured": [
            {**vars(row), "published": {p.metric: p.value for p in facts.published if p.setting == row.setting}}
            for row in result.unmeasured
        ],
        "notes": list(result.notes),
    }


def measured_on(result: Reproduction, conditions: Conditions) -> str:
    """The machines of the rows, some of which may be older than this run."""
    return " and ".join(result.devices) or device_name(conditions.device)


def value_cell(row: Measured) -> str:
    """``0.432 [0.401–0.466]``, with a mark where the attack failed its own check."""
    return f"{row.value:.3f} [{row.low:.3f}–{row.high:.3f}]" + ("" if row.trusted else " (attack not to be trusted)")


def optional(value: float | None) -> str:
    """Three digits, or a dash."""
    return "–" if value is None else f"{value:.3f}"


def cells_of(row: Measured) -> tuple[str, str, str, str, str, str]:
    """One row of the table as strings: setting, metric, published, measured, floor, n."""
    return (row.setting, row.metric, optional(row.published), value_cell(row), optional(row.floor), f"{row.n:,}")


HEAD = ("Setting", "Metric", "Published", "Measured", "Floor", "n")


def main_rows(facts: ExperimentFacts, result: Reproduction) -> list[Measured]:
    """Rows for a screen: the headline and whatever has a printed figure beside it; the rest is in the files."""
    shown = [r for r in result.rows if r.published is not None or r.metric == facts.headline]
    return shown or list(result.rows)


def missing_lines(result: Reproduction) -> list[str]:
    """What was not measured, one line per reason."""
    reasons: dict[str, list[str]] = {}
    for row in result.unmeasured:
        reasons.setdefault(row.reason, []).append(row.setting)
    return [f"{'; '.join(settings)}: {reason}" for reason, settings in reasons.items()]


def not_measured(facts: ExperimentFacts, row: Unmeasured) -> str:
    """One line: the setting, what was published for it, why there is no figure here."""
    printed = [f"{p.metric} {p.value:.3f}" for p in facts.published if p.setting == row.setting]
    said = f" (published: {', '.join(printed)})" if printed else ""
    return f"{row.setting}{said}: {row.reason}"


def as_markdown(facts: ExperimentFacts, result: Reproduction, conditions: Conditions, plot: str | None = None) -> str:
    """The table as a page."""
    lines = [
        f"# {facts.name}: {facts.title}",
        "",
        f"{facts.section} of `{facts.paper}`, measured again with `unembed reproduce {facts.name} "
        f"--size {conditions.size}`, seed {conditions.seed}, on {measured_on(result, conditions)}, "
        f"unembed {__version__}.",
        "",
    ]
    if facts.departures:
        lines += [facts.departures, ""]
    if plot is not None:
        lines += [f"![{facts.title}: published and measured]({plot})", ""]
    lines += [_row(HEAD), _row(["---"] * 2 + ["---:"] * 4)]
    lines += [_row(cells_of(row)) for row in result.rows]
    if result.unmeasured:
        lines += ["", "Not measured:", ""]
        lines += [f"- {_plain(not_measured(facts, row))}" for row in result.unmeasured]
    if result.notes:
        lines += ["", "Notes:", "", *(f"- {_plain(note)}" for note in result.notes)]
    return "\n".join(lines) + "\n"


def _row(cells: Any) -> str:
    return "| " + " | ".join(_plain(str(cell)) for cell in cells) + " |"


def _plain(text: str) -> str:
    """A cell that can't end early or become markup."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())
