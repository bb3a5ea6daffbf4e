from __future__ import annotations

import json

from report_examples import around, make_finding, make_run

from unembed.metrics.estimate import undefined
from unembed.report.compare import HEAD, compare_runs
from unembed.results.schema import Finding, Run


def run_of(*findings: Finding, **changes: object) -> Run:
    return make_run(findings=list(findings), status="complete", **changes)


def test_a_run_does_not_differ_from_itself() -> None:
    result = compare_runs(make_run(), make_run())
    assert {p.change for p in result.pairs} == {"no clear change", "no leak in either", "not comparable"}
    assert [p.pairs for p in result.pairs if p.title.startswith("inversion · mlc · insider · 1")] == [100]
    assert (result.added, result.removed) == ([], [])


def test_changes_count_when_the_intervals_are_apart() -> None:
    before = run_of(make_finding("a", value=0.5))
    for value, change in ((0.7, "more leak"), (0.3, "less leak"), (0.52, "no clear change")):
        (pair,) = compare_runs(before, run_of(make_finding("b", value=value))).pairs
        assert pair.change == change
        assert pair.overlap == (change == "no clear change")


def test_where_neither_run_shows_a_leak_nothing_became_less() -> None:
    def excess(value: float) -> Finding:
        quiet = make_finding("q", value=0.1, floor_value=0.1)
        return quiet.model_copy(update={"excess": around(value, 0.001)})

    (pair,) = compare_runs(run_of(excess(-0.003)), run_of(excess(-0.012))).pairs
    assert (pair.overlap, pair.change) == (False, "no leak in either")


def test_the_page_of_a_comparison_is_whole_and_escapes_names() -> None:
    name = "<script>alert(1)</script>\u202e"
    before = run_of(make_finding("a", value=0.5, subject=name), title=name)
    after = run_of(make_finding("b", value=0.2, subject=name), make_finding("c", subject="new"), title="after")
    page = compare_runs(before, after).to_html()
    assert "Content-Security-Policy" in page
    assert "<script" not in page
    assert "\u202e" not in page
    for part in ("less leak", "1 × less leak", "Only after", "&lt;script&gt;"):
        assert part in page


def test_what_could_not_be_measured_is_not_compared() -> None:
    poor = make_finding("b", estimate=undefined(), excess=undefined(), status="could-not-measure")
    (pair,) = compare_runs(run_of(make_finding("a")), run_of(poor)).pairs
    assert (pair.change, pair.difference, pair.overlap) == ("not comparable", None, None)


def test_findings_come_and_go() -> None:
    result = compare_runs(run_of(make_finding("a", subject="x")), run_of(make_finding("b", subject="y")))
    assert result.pairs == []
    assert (len(result.added), len(result.removed)) == (1, 1)
    assert "y" in result.added[0]


def test_points_of_a_curve_are_paired_by_the_number_of_pairs() -> None:
    before = run_of(*(make_finding(f"a{n}", pairs=n) for n in (100, 500)))
    after = run_of(*(make_finding(f"b{n}", pairs=n) for n in (500, 1000)))
    result = compare_runs(before, after)
    assert [p.pairs for p in result.pairs] == [500]
    assert "1,000 pairs" in result.added[0]
    assert "100 pairs" in result.removed[0]


def test_other_differences_are_told() -> None:
    other = run_of(make_finding("a"), encoder={"name": "other"}, data=[], spec={"seed": 8})
    notes = compare_runs(run_of(make_finding("a")), other).notes
    assert len(notes) == 3


def test_the_ways_to_show_it_agree() -> None:
    result = compare_runs(make_run(), make_run())
    assert all(len(row) == len(HEAD) for row in result.rows())
    assert result.to_markdown().count("\n|") == len(result.pairs) + 2
    assert len(json.loads(result.to_json())["pairs"]) == len(result.pairs)
