from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unembed.metrics.estimate import Estimate, undefined
from unembed.report import charts, svg
from unembed.report.clean import clean_text
from unembed.report.curves import STYLES, Curve, CurvePoint, Line, curve_chart
from unembed.report.numbers import count, difference, duration, moment, number, with_interval


@pytest.mark.parametrize(("first", "last"), [(0.01, 1.0), (10.0, 1_000.0)])
def test_values_that_grow_by_factors_are_spaced_by_factors(first: float, last: float) -> None:
    places = [svg.along(value, first, last, by_factors=True) for value in (first, 10 * first, last)]
    assert places == pytest.approx([0, 0.5, 1])


@pytest.mark.parametrize(
    ("value", "metric", "text"),
    [
        (0.4321, "accuracy", "43.2%"),
        (1.0, "accuracy", "100%"),
        (0.0, "accuracy", "0%"),
        (0.0042, "recall", "0.42%"),
        (-0.05, "advantage", "−5.0%"),
        (0.4321, "f1", "0.43"),
        (0.0432, "f1", "0.043"),
        (0.81, "AUC", "0.81"),
        (math.nan, "accuracy", "–"),
    ],
)
def test_numbers_read_well(value: float, metric: str, text: str) -> None:
    assert number(value, metric) == text


def test_intervals_counts_durations_and_times() -> None:
    assert with_interval(Estimate(0.5, 0.4, 0.6, 10), "accuracy") == "50.0% [40.0–60.0%]"
    assert with_interval(undefined(), "accuracy") == "–"
    assert with_interval(Estimate(-0.005, -0.008, -0.003, 10), "f1") == "−0.005 [−0.008 to −0.003]"
    assert with_interval(Estimate(0.01, -0.02, 0.04, 10), "accuracy") == "1.0% [−2.0 to 4.0%]"
    assert difference(0.312, "accuracy") == "+31.2 points"
    assert difference(-0.2, "f1") == "−0.20"
    assert difference(0.0, "f1") == "0.000"
    assert count(12480) == "12,480"
    assert [duration(s) for s in (0.0002, 0.25, 4.2, 218.4, 7300)] == [
        "under 1 ms",
        "250 ms",
        "4.2 s",
        "3 min 38 s",
        "2 h 1 min",
    ]
    assert moment("2026-03-02T09:14:05Z") == "2 March 2026, 09:14 UTC"
    assert moment("yesterday") == "yesterday"


@given(st.text())
def test_cleaned_text_fits_into_xml(text: str) -> None:
    element = ET.Element("a")
    element.text = clean_text(text)
    assert ET.fromstring(ET.tostring(element)) is not None


unit = st.floats(-2, 3)


@given(st.lists(unit, min_size=4, max_size=4).map(sorted), st.floats(-2, 3) | st.just(math.nan), st.booleans())
def test_marks_stay_on_the_scale_and_every_chart_is_well_formed(ends: list[float], floor: float, trusted: bool) -> None:
    low, value, high, _ = ends
    estimate = Estimate(value, low, high, 10)
    axis = charts.Axis.holding([*ends, floor])
    assert axis.low <= 0
    assert axis.high >= 1
    drawn = [
        charts.dot_row(axis, estimate, [floor], floor, tone="high", trusted=trusted, label='a "<b>"'),
        charts.bar(axis, estimate, floor, tone="high", label="x"),
        charts.ruler(axis, "f1"),
        curve_chart(Curve("t", "f1", [Line("a", [CurvePoint(n, estimate, floor) for n in (0, 10, 1000)])])),
    ]
    for text in drawn:
        for element in ET.fromstring(text).iter():
            for name in ("x", "x1", "x2", "cx", "width"):
                at = element.get(name, "")
                if at.endswith("%"):
                    assert 0 <= float(at[:-1]) <= 100


def test_a_result_that_is_not_trusted_has_no_mark() -> None:
    axis, estimate = charts.Axis(), Estimate(0.5, 0.4, 0.6, 10)
    shown = charts.dot_row(axis, estimate, [0.1], 0.1, tone="high", trusted=True, label="x")
    hidden = charts.dot_row(axis, estimate, [0.1], 0.1, tone="unknown", trusted=False, label="x")
    assert "circle" in shown
    assert "circle" not in hidden
    assert "unmeasured" in hidden


def test_a_curve_rises_to_the_right_when_more_pairs_help() -> None:
    points = [CurvePoint(n, Estimate(v, v, v, 10), 0.1) for n, v in ((10, 0.2), (100, 0.6), (1000, 0.9))]
    root = ET.fromstring(curve_chart(Curve("t", "f1", [Line("a", points)])))
    dots = [
        (float(s.get("x", "")[:-1]), float(s.get("y", ""))) for s in root.iter("svg") if "spot" in s.get("class", "")
    ]
    assert [x for x, _ in dots] == sorted(x for x, _ in dots)
    assert [y for _, y in dots] == sorted((y for _, y in dots), reverse=True)
    assert dots[1][0] == pytest.approx(50, abs=2)


def test_lines_of_a_curve_differ_in_mark_and_the_highest_floor_is_drawn() -> None:
    lines = [
        Line(f"attack {i}", [CurvePoint(n, Estimate(0.5, 0.4, 0.6, 10), 0.01 * i) for n in (50, 5000)])
        for i in range(STYLES)
    ]
    data = Curve("t", "f1", lines)
    assert data.floors() == [(50, 0.01 * (STYLES - 1)), (5000, 0.01 * (STYLES - 1))]
    root = ET.fromstring(curve_chart(data))
    assert len({path.get("d") for path in root.iter("path")}) == STYLES
    assert len(list(root.iter("polygon"))) == STYLES
    assert len([line for line in root.iter("polyline") if "floor" in line.get("class", "")]) == 1


def test_labels_of_many_points_do_not_run_into_each_other() -> None:
    sizes = (50, 94, 178, 337, 636, 1200, 1210, 1220, 400_000)
    points = [CurvePoint(n, Estimate(0.5, 0.4, 0.6, 10), 0.1) for n in sizes]
    root = ET.fromstring(curve_chart(Curve("t", "f1", [Line("a", points)])))
    places = sorted(float(t.get("x", "")[:-1]) for t in root.iter("text") if t.get("x", "").endswith("%"))
    assert places[-1] == 100
    assert all(b - a >= 9 for a, b in pairwise(places))
