"""Where nothing was found, every report says why, and what would have been found."""

from __future__ import annotations

import csv
import io

import pytest
from report_examples import make_finding, make_run

from unembed.cli.output import Voice
from unembed.cli.summary import show_run
from unembed.report.detection import would_have_found
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.report.table import render_csv
from unembed.results.schema import Detects, Finding, Run

REASON = "the interval is too wide to tell; more targets narrow it"
LIMIT = "a leak of 7.5 points above guessing, planted along single axes and in the distance from the centre, was found"


def quiet(**changes: object) -> Finding:
    detects = Detects(size=0.075, kinds=["axis", "distance"], blind=["rotated"], tried={"0.075": [10, 10]})
    facts = {"game": "attribute", "metric": "balanced_accuracy", "value": 0.52, "floor_value": 0.5, "detects": detects}
    return make_finding("q", **{**facts, "status": "inconclusive", "level": "unknown", "reason": REASON, **changes})


def in_the_terminal(run: Run, capsys: pytest.CaptureFixture[str]) -> str:
    show_run(Voice(), run)
    return " ".join(capsys.readouterr().out.split())


def test_every_report_for_people_shows_the_reason_and_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(findings=[quiet()])
    shown = {"html": render_html(run), "markdown": render_markdown(run), "terminal": in_the_terminal(run, capsys)}
    for where, text in shown.items():
        assert REASON in text, where
        assert LIMIT in text, where
        assert "leaks along directions across the axes are not seen by this attack" in text, where
    assert "<dt>Would have been found</dt>" in shown["html"]
    assert "Where no leak was found:" in shown["terminal"]


def test_a_leak_needs_no_excuse(capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(findings=[make_finding("leak", value=0.5)])
    assert "Would have been found" not in render_html(run)
    assert "Calibration" not in render_markdown(run)
    assert "Where no leak was found" not in in_the_terminal(run, capsys)


@pytest.mark.parametrize(
    ("detects", "said"),
    [
        (None, None),
        (
            Detects(size=None, kinds=[], blind=["axis"], tried={"0.6": [0, 1]}),
            "no leak that was planted into these vectors was found, however large",
        ),
        (
            Detects(size=None, kinds=["axis"], tried={"0.4": [6, 7]}),
            "no leak that was planted into these vectors was always found, however large",
        ),
        (
            Detects(size=0.2, kinds=["axis"], tried={"0.2": [10, 10]}),
            "a leak of 20.0 points above guessing, planted along single axes, was found in ten plantings out of ten",
        ),
    ],
)
def test_the_limit_in_words(detects: Detects | None, said: str | None) -> None:
    assert would_have_found(quiet(detects=detects)) == said


def test_the_size_has_the_unit_of_the_metric() -> None:
    found = quiet(metric="content_f1", detects=Detects(size=0.05, kinds=["axis"], tried={}))
    assert str(would_have_found(found)).startswith("a leak of 0.050 above guessing")


def test_a_table_holds_the_limit_as_a_number() -> None:
    (row,) = csv.DictReader(io.StringIO(render_csv(make_run(findings=[quiet()]))))
    assert float(row["detects"]) == 0.075
    (row,) = csv.DictReader(io.StringIO(render_csv(make_run(findings=[quiet(detects=None)]))))
    assert row["detects"] == ""
