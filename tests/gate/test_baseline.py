from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from gate_examples import finding, run_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unembed.errors import UsageError
from unembed.gate import Policy, Rule, judge, read_baseline, write_baseline
from unembed.results.schema import Trust

TODAY = datetime.date(2026, 3, 1)
LATER = datetime.date(2026, 12, 31)
POLICY = Policy(rules=[Rule(id="r", max=0.2)])


def test_what_is_written_is_accepted_when_read_back(tmp_path: Path) -> None:
    run = run_of(
        finding("f1"),
        finding("f2", excess=(0.2, 0.1, 0.3), subject="author"),
        finding("f3", defense="noise", adaptive=False),
    )
    path = tmp_path / "baseline.toml"
    write_baseline(run, POLICY, path, "reviewed", LATER, today=TODAY)
    result = judge(run, POLICY, read_baseline(path), today=TODAY)
    assert result.exit_code == 0
    assert {o.outcome for o in result.outcomes} == {"accepted"}


def test_a_new_finding_is_not_covered(tmp_path: Path) -> None:
    path = tmp_path / "baseline.toml"
    write_baseline(run_of(finding()), POLICY, path, "reviewed", LATER, today=TODAY)
    run = run_of(finding(), finding("f2", subject="author"))
    assert judge(run, POLICY, read_baseline(path), today=TODAY).exit_code == 1


def test_the_points_of_a_curve_share_one_entry_with_the_highest_value(tmp_path: Path) -> None:
    run = run_of(finding("f1"), finding("f2", excess=(0.5, 0.45, 0.55)))
    baseline = write_baseline(run, POLICY, tmp_path / "b.toml", "reviewed", LATER, today=TODAY)
    assert [entry.up_to for entry in baseline.accept] == [0.5]


def test_entries_in_force_keep_their_reasons_and_expired_ones_go(tmp_path: Path) -> None:
    path = tmp_path / "b.toml"
    run = run_of(finding())
    first = write_baseline(run, POLICY, path, "first reason", LATER, today=TODAY)
    both = run_of(finding(), finding("f2", subject="author"))
    kept = write_baseline(both, POLICY, path, "second reason", LATER, keep=first, today=TODAY)
    assert [entry.reason for entry in kept.accept] == ["first reason", "second reason"]
    after = LATER + datetime.timedelta(days=1)
    renewed = write_baseline(run, POLICY, path, "third", after, keep=kept, today=after)
    assert [entry.reason for entry in renewed.accept] == ["third"]


def test_what_could_not_be_measured_is_not_written(tmp_path: Path) -> None:
    run = run_of(finding(trust=Trust(trusted=False, reason="fails")))
    assert write_baseline(run, POLICY, tmp_path / "b.toml", "x", LATER, today=TODAY).accept == []


@pytest.mark.parametrize(("reason", "expires"), [("  ", LATER), ("fine", datetime.date(2020, 1, 1))])
def test_a_baseline_needs_a_reason_and_a_day_to_come(tmp_path: Path, reason: str, expires: datetime.date) -> None:
    with pytest.raises(UsageError):
        write_baseline(run_of(finding()), POLICY, tmp_path / "b.toml", reason, expires, today=TODAY)
    assert not (tmp_path / "b.toml").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[accept]]\nrule = 'r'\nup_to = 1\nexpires = 2026-01-01", "'reason' is missing"),
        ("[[accept]]\nrule = 'r'\nup_to = 1\nreason = 'x'", "'expires' is missing"),
        (
            "[[accept]]\nrule = 'r'\nupto = 1\nreason = 'x'\nexpires = 2026-01-01",
            "unknown key 'upto' in accept\\[0\\]; did you mean 'up_to'",
        ),
        ("[[accept", "is not valid TOML"),
    ],
)
def test_a_wrong_file_is_one_line_that_names_it(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "b.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        read_baseline(path)
    assert str(path) in str(caught.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no baseline file"):
        read_baseline(tmp_path / "b.toml")


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(reason=st.text(min_size=1).filter(str.strip), subject=st.text())
def test_any_text_survives_the_file(tmp_path: Path, reason: str, subject: str) -> None:
    path = tmp_path / "b.toml"
    run = run_of(finding(subject=subject))
    written = write_baseline(run, POLICY, path, reason, LATER, today=TODAY)
    assert read_baseline(path) == written


@pytest.mark.parametrize("limit", ["inf", "nan", "-inf"])
def test_an_acceptance_without_a_limit_is_refused(tmp_path: Path, limit: str) -> None:
    path = tmp_path / "baseline.toml"
    path.write_text(f'[[accept]]\nrule = "r"\nup_to = {limit}\nreason = "all of it"\nexpires = 2026-12-31\n')
    with pytest.raises(UsageError, match=r"accept\[0\].up_to"):
        read_baseline(path)
