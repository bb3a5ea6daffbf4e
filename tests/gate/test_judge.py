from __future__ import annotations

import datetime
from typing import Any

import pytest
from gate_examples import finding, run_of
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from cell_identities import identity
from unembed.errors import UnknownNameError
from unembed.games.threat import Capability
from unembed.gate import Acceptance, Baseline, Policy, Rule, exit_codes, judge
from unembed.gate.judge import exit_code
from unembed.metrics.estimate import Estimate, undefined
from unembed.results.schema import CellRecord, Detects, Finding, Trust

TODAY = datetime.date(2026, 3, 1)


def policy(**changes: Any) -> Policy:
    return Policy(rules=[Rule(**{"id": "r", "max": 0.2, **changes})])


def accept(**changes: Any) -> Baseline:
    facts = {"rule": "r", "up_to": 0.4, "reason": "reviewed", "expires": datetime.date(2026, 12, 31)}
    return Baseline(accept=[Acceptance(**{**facts, **changes})])


@pytest.mark.parametrize(
    ("excess", "outcome", "code"),
    [
        ((0.3, 0.25, 0.35), "violated", exit_codes.VIOLATED),
        ((0.1, 0.05, 0.2), "met", exit_codes.MET),
        ((0.2, 0.2, 0.25), "inconclusive", exit_codes.COULD_NOT_MEASURE),
        ((0.2, 0.1, 0.3), "inconclusive", exit_codes.COULD_NOT_MEASURE),
    ],
)
def test_the_whole_interval_decides(excess: tuple[float, float, float], outcome: str, code: int) -> None:
    result = judge(run_of(finding(excess=excess)), policy())
    assert [o.outcome for o in result.outcomes] == [outcome]
    assert result.exit_code == code
    assert result.passed == (code == 0)


@pytest.mark.parametrize(("compare", "outcome"), [("low", "met"), ("value", "met"), ("high", "violated")])
def test_one_end_can_be_chosen(compare: str, outcome: str) -> None:
    result = judge(run_of(finding(excess=(0.2, 0.1, 0.3))), policy(compare=compare))
    assert result.outcomes[0].outcome == outcome


def test_inconclusive_may_be_let_pass() -> None:
    result = judge(run_of(finding(excess=(0.2, 0.1, 0.3))), policy(inconclusive="pass"))
    assert (result.exit_code, result.outcomes[0].outcome) == (0, "inconclusive")


@pytest.mark.parametrize(
    "chosen",
    [{"game": "keyword"}, {"attack": "x"}, {"subject": "author"}, {"defense": "noise"}, {"metric": "auc"}],
)
def test_a_rule_that_matches_nothing_never_passes(chosen: dict[str, str]) -> None:
    result = judge(run_of(finding(excess=(0, 0, 0))), policy(**chosen))
    assert [o.outcome for o in result.outcomes] == ["could-not-measure"]
    assert result.exit_code == exit_codes.COULD_NOT_MEASURE


def test_a_rule_that_matches_nothing_says_what_there_is() -> None:
    result = judge(run_of(finding()), policy(adversary="insidr"))
    assert "no finding has the adversary 'insidr'; the run has insider" in result.outcomes[0].message


def test_an_empty_run_never_passes() -> None:
    assert judge(run_of(), policy()).exit_code == exit_codes.COULD_NOT_MEASURE


def test_a_finding_that_is_not_trusted_never_passes() -> None:
    poor = finding(excess=(0, 0, 0), trust=Trust(trusted=False, reason="fails its check"))
    result = judge(run_of(poor), policy())
    assert result.outcomes[0].outcome == "could-not-measure"
    assert "fails its check" in result.outcomes[0].message
    assert result.exit_code == exit_codes.COULD_NOT_MEASURE


def test_a_value_that_is_not_a_number_never_passes() -> None:
    assert judge(run_of(finding(excess=(0, 0, 0)).model_copy(update={"excess": undefined()})), policy()).exit_code == 3


def test_a_failed_cell_the_rule_may_mean_never_passes() -> None:
    fine = finding(excess=(0, 0, 0))
    failed = CellRecord(key="k", identity=identity(), status="failed")
    assert judge(run_of(fine, cells=[failed]), policy(game="inversion")).exit_code == 3


@pytest.mark.parametrize("severity", ["error", "warning"])
def test_what_was_not_measured_and_concerns_no_rule_never_passes(severity: str) -> None:
    fine = finding(excess=(0, 0, 0))
    failed = CellRecord(key="k", identity=identity("keyword"), status="failed")
    poor = finding("f2", game="keyword", trust=Trust(trusted=False, reason="fails its check"))
    rules = Policy(rules=[Rule(id="r", game="inversion", max=0.2), Rule(id="w", max=0.2, severity="warning")])
    for run in (run_of(fine, cells=[failed]), run_of(fine, poor)):
        result = judge(run, policy(game="inversion") if severity == "error" else rules)
        assert ("everything-measured", "could-not-measure") in [(o.rule, o.outcome) for o in result.outcomes]
        assert (result.passed, result.exit_code) == (False, exit_codes.COULD_NOT_MEASURE)


def test_a_measured_run_passes_without_a_word_about_what_no_rule_concerns() -> None:
    done = CellRecord(key="c", identity=identity(), status="done")
    other = finding("f2", (0.3, 0.25, 0.35), game="keyword")
    result = judge(run_of(finding(excess=(0, 0, 0)), other, cells=[done]), policy(game="inversion"))
    assert [(o.rule, o.outcome) for o in result.outcomes] == [("r", "met")]


def test_a_finding_taken_out_by_hand_never_passes() -> None:
    cells = [CellRecord(key=k, identity=identity(), status="done") for k in ("c", "gone")]
    run = run_of(finding(excess=(0, 0, 0)), cells=cells)
    assert judge(run, policy()).exit_code == exit_codes.COULD_NOT_MEASURE
    assert exit_code(run) == exit_codes.COULD_NOT_MEASURE


@pytest.mark.parametrize(("adaptive", "code"), [(False, 0), (True, exit_codes.COULD_NOT_MEASURE)])
def test_only_whoever_knows_a_defense_must_be_measured(adaptive: bool, code: int) -> None:
    failing = Trust(trusted=False, reason="fails its check")
    poor = finding("f2", trust=failing, status="could-not-measure", defense="rounding", adaptive=adaptive)
    assert exit_code(run_of(finding(excess=(0, 0, 0)), poor)) == code


class TestAllowUnmeasured:
    fine = finding(excess=(0, 0, 0))
    poor = finding("f2", trust=Trust(trusted=False, reason="fails its check"))

    def test_it_lets_the_measured_rest_decide_and_still_tells(self) -> None:
        result = judge(run_of(self.fine, self.poor), policy(), allow_unmeasured=True)
        assert (result.exit_code, result.passed) == (exit_codes.MET, True)
        assert [(o.outcome, o.severity) for o in result.outcomes] == [
            ("met", "error"),
            ("could-not-measure", "warning"),
        ]

    def test_a_violation_stays_one(self) -> None:
        assert judge(run_of(finding(), self.poor), policy(), allow_unmeasured=True).exit_code == exit_codes.VIOLATED

    def test_a_rule_with_nothing_measured_still_fails(self) -> None:
        other = finding("f3", (0, 0, 0), game="keyword")
        for run in (run_of(self.poor, other), run_of(other), run_of(self.poor)):
            result = judge(run, policy(game="inversion"), allow_unmeasured=True)
            assert result.exit_code == exit_codes.COULD_NOT_MEASURE


class TestWithoutAPolicy:
    def test_everything_measured_is_0_whatever_was_found(self) -> None:
        for status in ("leak", "no-leak-found", "inconclusive", "yardstick"):
            assert exit_code(run_of(finding(status=status))) == exit_codes.MET

    def test_one_that_says_nothing_among_many_is_3_unless_allowed(self) -> None:
        poor = finding("f2", status="could-not-measure", trust=Trust(trusted=False, reason="fails its check"))
        run = run_of(finding(), finding("f3"), poor)
        assert exit_code(run) == exit_codes.COULD_NOT_MEASURE
        assert exit_code(run, allow_unmeasured=True) == exit_codes.MET

    def test_nothing_measured_is_3_even_if_allowed(self) -> None:
        poor = finding(status="could-not-measure", trust=Trust(trusted=False, reason="fails its check"))
        for run in (run_of(), run_of(poor)):
            assert exit_code(run, allow_unmeasured=True) == exit_codes.COULD_NOT_MEASURE

    def test_points_of_a_curve_and_yardsticks_that_failed_change_nothing(self) -> None:
        broken: dict[str, Any] = {"status": "could-not-measure", "trust": Trust(trusted=False, reason="")}
        cost = finding().cost.model_copy(update={"capabilities": [Capability.TEXTS.value]})
        point, yardstick = finding("f2", curve=True, **broken), finding("f3", cost=cost, **broken)
        assert exit_code(run_of(finding(), point, yardstick)) == exit_codes.MET
        assert judge(run_of(finding(excess=(0, 0, 0)), point, yardstick), policy()).exit_code == exit_codes.MET


def unleaking(size: float | None = 0.05, **changes: Any) -> Finding:
    """A finding within every limit, of an audit that finds planted leaks from ``size`` on."""
    detects = Detects(size=size, kinds=["axis"], tried={})
    facts: dict[str, Any] = {"status": "no-leak-found", "level": "none", "detects": detects}
    return finding(excess=(0.0, -0.01, 0.01), **{**facts, **changes})


class TestStayingWithinTheLimitIsNotAlwaysEnough:
    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            (
                {"contrary": ["accuracy", "top5_accuracy"]},
                "other figures are clearly above guessing: accuracy, top5_accuracy",
            ),
            ({"doubt": "the adversary's text is too unlike the targets'"}, "too unlike the targets'"),
        ],
    )
    @pytest.mark.parametrize("compare", ["interval", "low", "value", "high"])
    def test_what_speaks_against_it_makes_it_inconclusive(
        self, changes: dict[str, Any], why: str, compare: str
    ) -> None:
        result = judge(run_of(unleaking(status="inconclusive", level="unknown", **changes)), policy(compare=compare))
        (told,) = result.outcomes
        assert (told.outcome, result.exit_code) == ("inconclusive", exit_codes.COULD_NOT_MEASURE)
        assert why in told.message
        assert judge(run_of(unleaking()), policy(compare=compare)).passed

    @pytest.mark.parametrize(
        ("found", "outcome", "why"),
        [
            (unleaking(0.05), "met", ""),
            (unleaking(0.1), "met", ""),
            (unleaking(0.15), "inconclusive", "only a leak of 0.15 above guessing would surely have been found"),
            (unleaking(None), "inconclusive", "it is not known how small a leak would have been found"),
            (unleaking(detects=None), "inconclusive", "it is not known how small a leak would have been found"),
        ],
    )
    def test_a_rule_may_demand_that_a_leak_of_some_size_would_have_been_found(
        self, found: Finding, outcome: str, why: str
    ) -> None:
        result = judge(run_of(found), policy(detects=0.1))
        (told,) = result.outcomes
        assert told.outcome == outcome
        assert why in told.message
        assert result.exit_code == (exit_codes.MET if outcome == "met" else exit_codes.COULD_NOT_MEASURE)
        assert judge(run_of(found), policy()).passed, "without the demand the limit alone decides"

    def test_a_leak_within_the_limit_needs_no_calibration(self) -> None:
        leak = finding(excess=(0.1, 0.05, 0.15), status="leak", contrary=["accuracy"])
        assert judge(run_of(leak), policy(detects=0.01)).passed

    def test_a_violation_stays_one(self) -> None:
        over = unleaking(None, contrary=["accuracy"]).model_copy(update={"excess": Estimate(0.3, 0.25, 0.35, 100)})
        assert judge(run_of(over), policy(detects=0.1)).exit_code == exit_codes.VIOLATED

    @pytest.mark.parametrize("detects", [0, -0.1, 1.1])
    def test_a_demand_that_cannot_be_met_or_missed_is_refused(self, detects: float) -> None:
        with pytest.raises(ValidationError):
            policy(detects=detects)


def test_a_violation_outweighs_what_could_not_be_measured() -> None:
    poor = finding("f2", trust=Trust(trusted=False, reason="fails"))
    assert judge(run_of(poor, finding()), policy()).exit_code == exit_codes.VIOLATED


def test_warnings_are_told_and_change_nothing() -> None:
    result = judge(run_of(finding()), policy(severity="warning"))
    assert (result.exit_code, result.outcomes[0].outcome) == (0, "violated")


def test_other_metrics() -> None:
    one = finding(secondary={"recall": Estimate(0.9, 0.85, 0.95, 100)})
    assert judge(run_of(one), policy(metric="recall", max=0.8)).exit_code == 1
    assert judge(run_of(one), policy(metric="estimate", max=0.5)).exit_code == 0
    assert judge(run_of(one), policy(metric="f1", max=0.34)).exit_code == 1
    # The excess ends at 0.25 and 0.35; with a floor of 0.1 that is 0.28 and 0.39 of the headroom.
    assert judge(run_of(one), policy(metric="headroom", max=0.26)).exit_code == 1
    assert judge(run_of(one), policy(metric="headroom", max=0.3)).exit_code == 3


def test_none_selects_undefended_vectors() -> None:
    plain = finding("f1", excess=(0.3, 0.25, 0.35))
    defended = finding("f2", excess=(0.1, 0.05, 0.15), defense="noise", adaptive=True)
    assert judge(run_of(plain, defended), policy(defense="noise")).exit_code == 0
    result = judge(run_of(plain, defended), policy(defense="none"))
    assert [o.finding for o in result.outcomes] == ["f1"]


def test_an_accepted_finding_passes_and_is_told() -> None:
    result = judge(run_of(finding()), policy(), accept(), today=TODAY)
    assert (result.exit_code, result.outcomes[0].outcome) == (0, "accepted")
    assert "reviewed" in result.outcomes[0].message


def test_an_accepted_finding_that_got_worse_is_violated_again() -> None:
    result = judge(run_of(finding()), policy(), accept(up_to=0.29), today=TODAY)
    assert (result.exit_code, result.outcomes[0].outcome) == (1, "violated")


def test_the_last_day_counts_and_the_next_does_not() -> None:
    run, entry = run_of(finding()), accept(expires=TODAY)
    assert judge(run, policy(), entry, today=TODAY).exit_code == 0
    late = judge(run, policy(), entry, today=TODAY + datetime.timedelta(days=1))
    assert late.exit_code == 1
    assert any("expired on 2026-03-01" in o.message for o in late.outcomes if o.outcome == "not-applicable")


def test_what_was_not_measured_cannot_be_accepted() -> None:
    poor = finding(trust=Trust(trusted=False, reason="fails"))
    assert judge(run_of(poor), policy(), accept(up_to=1.0), today=TODAY).exit_code == 3


def test_an_entry_for_another_adversary_accepts_nothing() -> None:
    result = judge(run_of(finding()), policy(), accept(adversary="outsider"), today=TODAY)
    assert result.exit_code == 1
    assert any("no longer needed" in o.message for o in result.outcomes)


def test_an_entry_for_a_rule_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'r'"):
        judge(run_of(finding()), policy(), accept(rule="rr"), today=TODAY)


@given(
    st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(sorted),
    st.floats(-1, 1),
    st.booleans(),
)
def test_a_pass_means_that_the_high_end_of_a_trusted_finding_is_within_the_limit(
    ends: list[float], limit: float, trusted: bool
) -> None:
    low, value, high = ends
    one = finding(trust=Trust(trusted=trusted, reason="")).model_copy(update={"excess": Estimate(value, low, high, 10)})
    result = judge(run_of(one), policy(max=limit))
    assert result.passed == (trusted and high <= limit)
    assert (result.exit_code == 1) == (trusted and low > limit)


@given(st.floats(0.01, 1), st.one_of(st.none(), st.floats(0.01, 1)), st.booleans(), st.booleans())
def test_a_pass_without_a_leak_means_that_nothing_speaks_against_it(
    demanded: float, size: float | None, contrary: bool, doubt: bool
) -> None:
    one = unleaking(size, contrary=["accuracy"] if contrary else [], doubt="unlike" if doubt else None)
    result = judge(run_of(one), policy(detects=demanded))
    assert result.passed == (size is not None and size <= demanded and not contrary and not doubt)
    assert result.exit_code in (exit_codes.MET, exit_codes.COULD_NOT_MEASURE)


def test_points_of_a_curve_decide_nothing() -> None:
    weaker = finding("f0", (0.2, 0.1, 0.3), curve=True)
    whole = finding("f1", (0.1, 0.05, 0.15))
    assert judge(run_of(weaker, whole), policy(), today=TODAY).exit_code == exit_codes.MET
    assert judge(run_of(weaker), policy(), today=TODAY).exit_code == exit_codes.COULD_NOT_MEASURE
