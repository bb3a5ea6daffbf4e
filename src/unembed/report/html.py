"""The report as one HTML file: nothing is loaded, nothing runs, everything is escaped."""

from __future__ import annotations

from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from unembed._version import __version__
from unembed.report import facts, inversion, numbers, patterns, people, view, words
from unembed.report.clean import cleaned
from unembed.results.schema import Run


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
    )
    style = files("unembed.report").joinpath("templates/report.css").read_text(encoding="utf-8")
    names = view.Names(run)
    games = view.games(run)
    gate = run.gate
    return environment.get_template("report.html.j2").render(
        run=run,
        style=Markup(style),  # noqa: S704 - our own file
        version=__version__,
        games=games,
        reading=inversion.reading(run),
        people=people.people(run),
        secrets=patterns.patterns(run),
        apart=(inversion.GAME, people.GAME, patterns.GAME),
        keys=facts.key_numbers(run),
        level=words.LEVEL[run.verdict.level],
        encoder=facts.encoder_rows(run),
        data=facts.data_rows(run),
        taxonomy=facts.taxonomy_rows(run),
        names=names,
        failed=[(facts.cell_title(cell), cell) for cell in run.cells if cell.status == "failed"],
        outcome=words.OUTCOME,
        titles={v.finding.id: v.title for game in games for v in game.findings},
        counted=[o for o in gate.outcomes if o.outcome != "not-applicable"] if gate else [],
        remarks=[o for o in gate.outcomes if o.outcome == "not-applicable"] if gate else [],
        floors=words.FLOOR,
        glossary=words.GLOSSARY,
        in_clear=any(not sample.masked for f in run.findings for sample in f.samples),
    )
