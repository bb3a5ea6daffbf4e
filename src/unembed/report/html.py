"""The report as one HTML file: nothing is loaded, nothing runs, everything is escaped."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unembed._version import __version__
from unembed.report import (
    attributes,
    coverage,
    detection,
    facts,
    inversion,
    keywords,
    numbers,
    patterns,
    people,
    references,
    usefulness,
    view,
    words,
)
from unembed.report.clean import cleaned
from unembed.results.schema import Run

#: Sections: the anchor, and what the template calls it.
_SECTIONS = {
    inversion.SECTION: ("reading", "reading"),
    people.SECTION: ("reading", "people"),
    keywords.SECTION: ("keywords", "words"),
    keywords.LISTS: ("keywords", "words"),
    attributes.CLASSES: ("attributes", "told"),
    attributes.NUMBERS: ("attributes", "told"),
    patterns.SECTION: ("patterns", "secrets"),
}


def render_html(run: Run) -> str:
    """The whole page."""
    run = cleaned(run)
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
        duration=numbers.duration,
        moment=numbers.moment,
        capability=words.capability,
        label=facts.words_of,
        with_interval=numbers.with_interval,
        number=numbers.number,
        difference=numbers.difference,
        would_have_found=detection.would_have_found,
        scale_line=references.scale_line,
        scale_chart=references.scale_chart,
    )
    style = files("unembed.report").joinpath("templates/report.css").read_text(encoding="utf-8")
    names = view.Names(run)
    games = view.games(run)
    gate = run.gate
    sections: dict[str, object] = {
        "reading": inversion.reading(run),
        "people": people.people(run),
        "secrets": patterns.patterns(run),
        "words": keywords.keywords(run),
        "told": attributes.attributes(run),
    }
    return environment.get_template("report.html.j2").render(
        run=run,
        style=Markup(style),  # noqa: S704 - our own file
        version=__version__,
        games=games,
        **sections,
        apart={
            finding.game: _SECTIONS[finding.section][0]
            for finding in run.findings
            if finding.section in _SECTIONS and sections[_SECTIONS[finding.section][1]]
        },
        keys=facts.key_numbers(run),
        level=words.LEVEL[run.verdict.level],
        levels=words.LEVEL,
        encoder=facts.encoder_rows(run),
        data=facts.data_rows(run),
        unit=coverage.unit(run),
        read=coverage.sentence(run),
        advice=coverage.advice(run),
        usefulness=usefulness,
        taxonomy=facts.taxonomy_rows(run),
        names=names,
        failed=[(cell.identity.label, cell) for cell in run.cells if cell.status == "failed"],
        outcome=words.OUTCOME,
        titles={v.finding.id: v.title for game in games for v in game.findings},
        counted=[o for o in gate.outcomes if o.outcome != "not-applicable"] if gate else [],
        remarks=[o for o in gate.outcomes if o.outcome == "not-applicable"] if gate else [],
        floors=words.FLOOR,
        glossary=words.GLOSSARY,
        in_clear=any(not sample.masked for f in run.findings for sample in f.samples),
    )
