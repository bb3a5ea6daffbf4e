"""What vectors are still good for stands in every report for people, and only where it was asked for."""

from __future__ import annotations

import pytest
from report_examples import around, make_run

from unembed.cli.output import Voice
from unembed.cli.summary import run_summary, show_run
from unembed.report.html import render_html
from unembed.report.markdown import render_markdown
from unembed.report.usefulness import HEADING, rows
from unembed.results.schema import Run


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def shown(run: Run, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    show_run(Voice(), run)
    terminal = " ".join(capsys.readouterr().out.split())
    return {"html": render_html(run), "markdown": render_markdown(run), "terminal": terminal}


def test_scores_and_losses_are_shown_with_their_intervals(capsys: pytest.CaptureFixture[str]) -> None:
    for where, text in shown(make_run(), capsys).items():
        for part in ("100%", "85.0%", "82.0–88.0%", "15.0 points", "12.0 to 18.0"):
            assert part in text, (part, where)


def test_every_variant_has_a_row_and_a_failure_says_why() -> None:
    assert rows(make_run()) == [
        ("Nearest neighbours kept (k=10)", "plain", "100%", "–", "scored on 400 of 500 texts"),
        (
            "Nearest neighbours kept (k=10)",
            "gaussian(0.05)",
            "85.0% [82.0–88.0%]",
            "15.0 points [12.0 to 18.0]",
            "",
        ),
        ("Nearest neighbours kept (k=10)", "broken", "no result", "–", "there are 3 vectors for 500 texts"),
    ]


def test_what_was_not_asked_for_is_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for where, text in shown(make_run(utility=[]), capsys).items():
        assert HEADING not in text, where
        assert "Lost" not in text, where


def test_a_gain_is_a_loss_with_a_minus_sign() -> None:
    gained = make_run().utility[1].model_copy(update={"loss": around(-0.02, 0.01)})
    assert rows(make_run(utility=[gained]))[0][3] == "−2.0 points [−3.0 to −1.0]"


def test_programs_get_the_scores_too() -> None:
    summary = run_summary(make_run(), None, [], 0)
    assert [s["variant"] for s in summary["utility"]] == [None, "gaussian(0.05)", "broken"]
    assert summary["utility"][2]["error"] == "there are 3 vectors for 500 texts"
