"""The report as one HTML file: nothing is loaded, nothing runs, everything is escaped."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unembed._version import __version__
from unembed.report import advice, answer, coverage, frontier, numbers, questions, usefulness, words
from unembed.report.clean import cleaned
from unembed.report.findings import Names, worked
from unembed.report.sections import KINDS
from unembed.results.schema import Run


def page(template: str, **shown: object) -> str:
    """One self-contained page with the style of all reports."""
    environment = Environment(
        loader=PackageLoader("unembed.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        count=numbers.count,
        moment=numbers.moment,
        capability=words.capability,
    )
    style = files("unembed.report").joinpath("templates/report.css").read_text(encoding="utf-8")
    own = Markup(style)  # noqa: S704 - our own file
    return environment.get_template(template).render(style=own, version=__version__, **shown)


def render_html(run: Run) -> str:
    """The whole report."""
    run = cleaned(run)
    asked, shown, gate = questions.questions(run), answer.cards(run), run.gate
    return page(
        "report.html.j2",
        run=run,
        took=worked(run),
        level=words.LEVEL[run.verdict.level],
        levels=words.LEVEL,
        answer=answer.answer(run, shown),
        cards=shown,
        easiest=answer.easiest(run),
        no_outsider=answer.NO_OUTSIDER if run.findings and not answer.outsider_played(run) else "",
        advice=advice.advice(run),
        open_questions=answer.open_questions(run),
        questions=asked,
        kinds={kind: title for kind, title in KINDS.items() if any(q.kind == kind for q in asked)},
        played=[a for a in run.adversaries if any(f.adversary == a.name for f in run.findings)],
        adversaries=[a.name for a in run.adversaries],
        defenses=list(dict.fromkeys(f.defense for f in run.findings)),
        untested=answer.untested(run),
        failed=[(cell.identity.label, cell) for cell in run.cells if cell.status == "failed"],
        encoder=words.encoder_rows(run),
        data=words.data_rows(run),
        unit=coverage.unit(run),
        read=coverage.sentence(run),
        chunking=coverage.advice(run),
        usefulness=usefulness,
        frontier=frontier if frontier.shown(run) else None,
        taxonomy=words.taxonomy_rows(run),
        outcome=words.OUTCOME,
        titles={f.id: Names(run).title(f) for f in run.findings},
        counted=[o for o in gate.outcomes if o.outcome != "not-applicable"] if gate else [],
        remarks=[o for o in gate.outcomes if o.outcome == "not-applicable"] if gate else [],
        floors=sorted({floor.kind for f in run.findings for floor in f.floors}),
        floor_words=words.FLOOR,
        glossary=words.GLOSSARY,
        in_clear=any(not sample.masked for f in run.findings for sample in f.samples),
        invented=words.invented(run),
    )
