"""Damaged input is refused in one plain line: cases that once were not, and some new ones; `make fuzz` runs many."""

import contextlib

import fuzzer
import pytest

NEW = range(400)


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    with contextlib.chdir(folder):
        yield fuzzer.make_seeds(folder), folder


def test_every_seed_is_fine_until_it_is_damaged(seeds):
    found, folder = seeds
    outcomes = {name: fuzzer.run_with(seed[0].read_bytes(), seed, folder) for name, seed in found.items()}
    assert {name for name, (code, problem) in outcomes.items() if code == 2 or problem} == set()


@pytest.mark.parametrize("number", [int(line.split("#")[0]) for line in fuzzer.KEPT.read_text().splitlines() if line])
def test_cases_that_once_failed(number, seeds):
    assert fuzzer.run_case(number, *seeds)[2] is None


def test_new_cases(seeds):
    problems = [(number, *outcome) for number in NEW if (outcome := fuzzer.run_case(number, *seeds))[2]]
    assert problems == []
