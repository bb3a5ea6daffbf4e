"""The speed table: how lines are compared with the committed ratios, and that each of them has one."""

import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "benchmarks"


@pytest.fixture(scope="module")
def bench():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "HF_HUB_OFFLINE"):
            patch.setenv(name, "1")
        import run

        yield run
        for name in ("run", "measure", *run.MODULES, "msp_throughput"):
            sys.modules.pop(name, None)


def line(bench, ratio, name="a"):
    return bench.Row(name, "b", "FLOPs", "texts/s", ratio, 1.0, ratio)


def test_a_line_fails_only_below_its_tolerance(bench):
    baseline = bench.Baseline(0.25, {"a / b": 1.0}, {})
    assert baseline.verdict(line(bench, 0.76)) == "ok"
    assert baseline.verdict(line(bench, 1.3)) == "faster"
    assert not bench.failures([line(bench, 0.76)], baseline, whole=True)
    (failure,) = bench.failures([line(bench, 0.74)], baseline, whole=True)
    assert "SLOWER than 1 less 25%" in failure
    forgiving = bench.Baseline(0.25, {"a / b": 1.0}, {"a / b": 0.5})
    assert not bench.failures([line(bench, 0.74)], forgiving, whole=True)


def test_a_line_that_is_no_longer_measured_fails_a_whole_run(bench):
    baseline = bench.Baseline(0.25, {"a / b": 1.0, "gone / b": 1.0}, {"gone / b": 0.5})
    assert bench.failures([line(bench, 1.0)], baseline, whole=True) == ["gone / b: in the baseline but not measured"]
    assert not bench.failures([line(bench, 1.0)], baseline, whole=False)


def test_an_update_keeps_tolerances_and_of_a_part_the_other_lines(bench, tmp_path):
    before = bench.Baseline(0.25, {"a / b": 1.0, "c / b": 2.0}, {"a / b": 0.5})
    before.updated([line(bench, 3.14159)], whole=False).write(tmp_path / "baseline.json")
    after = bench.Baseline.read(tmp_path / "baseline.json")
    assert (after.ratios, after.tolerances, after.tolerance) == ({"a / b": 3.14, "c / b": 2.0}, {"a / b": 0.5}, 0.25)
    assert before.updated([line(bench, 3.0)], whole=True).ratios == {"a / b": 3.0}


def test_a_ratio_counts_the_work_of_both_sides_and_is_the_median_of_the_turns(bench):
    from measure import Case, Yardstick, compared, measure

    yardsticks = Yardstick("the same work", "FLOPs", list), Yardstick("half of it", "reference", list, 5)
    case = Case("texts/s", 10, list, yardsticks)
    same, half = compared("a", case, [[2.0, 1.0, 1.0], [4.0, 2.0, 2.0], [100.0, 1.0, 1.0]])
    assert (same.ratio, half.ratio) == (0.5, 1.0)
    assert (same.rate, same.other_rate, half.other_rate) == (2.5, 10.0, 5.0)
    assert [row.key for row in measure("a", case, turns=1)] == ["a / the same work", "a / half of it"]


def test_the_table_shows_every_line_with_its_committed_ratio(bench):
    shown = bench.table([line(bench, 0.5), line(bench, 2.0, "new")], bench.Baseline(0.25, {"a / b": 1.0}, {}))
    assert [[c.strip() for c in row.split("|")[6:9]] for row in shown.splitlines()[2:]] == [
        ["0.5", "1", "SLOWER than 1 less 25%"],
        ["2", "", "new: not in the baseline"],
    ]


def test_every_hot_path_has_a_committed_ratio(bench):
    committed = {key.split(" / ")[0] for key in bench.Baseline.read(bench.BASELINE).ratios}
    assert committed == set(bench.cases())
