"""A budget makes an audit smaller, says so, and lets the same command go on with the same texts."""

import json
import math

import numpy as np
import pytest

from altered_copies import invented_texts
from unembed.errors import UsageError
from unembed.runner.budget import DEFAULT_BUDGET, fitting_time, seconds_for
from unembed.runner.execute import audit
from unembed.runner.prepare import BUDGET
from unembed.runner.spec import AuditSpec, build_spec

TEXTS = 1_100


class Machine:
    """An audit whose time is known: so many seconds before the first text, and so many for each."""

    def __init__(self, seconds, fixed, per_text):
        self.left, self.fixed, self.per_text, self.tried = seconds, fixed, per_text, []

    def takes(self, texts):
        return self.fixed + self.per_text * texts

    def trial(self, texts):
        self.tried.append(texts)
        self.left -= self.takes(texts)
        return self.takes(texts)

    def size(self, texts):
        return fitting_time(texts, self.trial, lambda: self.left)


@pytest.mark.parametrize("per_text", [1e-4, 1e-3, 1e-2, 0.1])
@pytest.mark.parametrize("fixed", [0, 10, 60])
def test_what_is_chosen_fits_the_time_that_is_left(per_text, fixed):
    machine = Machine(600, fixed, per_text)
    chosen = machine.size(1_000_000)
    assert machine.takes(chosen) <= machine.left
    assert chosen == 1_000_000 or machine.takes(chosen) > 0.1 * 600, "the time that is there is used"
    assert chosen <= 4 * machine.tried[-1] or len(machine.tried) == 1, "the line is not followed far beyond a trial"


def test_what_fits_is_audited_whole_after_one_trial():
    machine = Machine(600, 5, 1e-3)
    assert machine.size(15_000) == 15_000
    assert machine.tried == [250]


def test_few_texts_are_not_tried():
    machine = Machine(1, 60, 1)
    assert machine.size(1_000) == 1_000
    assert machine.tried == []


@pytest.mark.parametrize(("first", "chosen"), [(1.0, 500), (20.0, 450), (math.inf, 400)])
def test_after_a_trial_that_is_broken_off_fewer_texts_are_used(first, chosen):
    times = {250: first, 1_000: math.inf}
    assert fitting_time(50_000, lambda n: times[n], lambda: 60.0 if first < 2 else 51.5) == chosen


def test_a_trial_in_which_nothing_could_be_measured_is_followed_by_a_larger_one():
    times = {250: math.nan, 1_000: math.nan, 4_000: 2.0}
    assert fitting_time(8_000, lambda n: times[n], lambda: 60.0) == 8_000


def spec_of(place, **run):
    return build_spec(
        {
            "data": {"texts": str(place / "t.txt"), "vectors": str(place / "v.npy")},
            "games": ["inversion"],
            "params": {"inversion/portfolio": {"quick": True}},
            "curve": [],
            "references": [],
            "calibrate": False,
            "repeats": 0,
            "run": {"folder": str(place / "run"), **run},
        }
    )


@pytest.fixture
def place(tmp_path):
    (tmp_path / "t.txt").write_text("\n".join(invented_texts(TEXTS)))
    np.save(tmp_path / "v.npy", np.random.default_rng(0).standard_normal((TEXTS, 64)).astype(np.float32))
    return tmp_path


def used(run):
    return next(card for card in run.data if card.role == "corpus")


def test_memory_bounds_the_texts_and_every_output_says_so(place):
    run, folder = audit(spec_of(place, memory="1.0005g"))
    assert used(run).rows < TEXTS
    assert (
        used(run).facts[BUDGET] == f"{used(run).rows:,} of 1,100 texts were used because of the memory budget of 1 GiB"
    )
    assert sum(card.rows for card in run.data if card.role != "corpus") <= used(run).rows
    again, _ = audit(spec_of(place, memory="1.0005g"))
    assert [c.key for c in again.cells] == [c.key for c in run.cells]
    assert [json.loads(line)["event"] for line in (folder / "events.jsonl").read_text().splitlines()].count(
        "sized"
    ) == 1


def test_time_bounds_the_texts_and_the_same_command_keeps_to_them(place):
    first, _ = audit(spec_of(place, budget=0.01))
    assert used(first).rows == 400
    assert "400 of 1,100 texts were used because of the time budget" in used(first).facts[BUDGET]
    second, _ = audit(spec_of(place, budget=0.01))
    assert [c.key for c in second.cells] == [c.key for c in first.cells]
    whole, _ = audit(spec_of(place))
    assert used(whole).rows == TEXTS
    assert BUDGET not in used(whole).facts
    assert {c.key for c in whole.cells}.isdisjoint(c.key for c in first.cells)
    assert {c.status for c in whole.cells} == {"done"}


def test_only_all_of_many_texts_have_a_budget_unless_told():
    def spec(max_texts, **run):
        return AuditSpec.model_validate({"data": {"texts": "t.txt", "max_texts": max_texts}, "run": run})

    assert seconds_for(spec(10_000), 10_000) is None
    assert seconds_for(spec(50_000), 50_000) is None
    assert seconds_for(spec(None), 10_000) is None
    assert seconds_for(spec(None), 10_001) == DEFAULT_BUDGET
    assert seconds_for(spec(None, budget="none"), 1_000_000) is None
    assert seconds_for(spec(None, budget="10m"), 20) == 600


@pytest.mark.parametrize("given", ["4", "1g", "4x", "much"])
def test_a_memory_that_can_not_do_is_refused(given):
    with pytest.raises(UsageError, match="memory"):
        build_spec({"data": {"texts": "t.txt"}, "run": {"memory": given}})
