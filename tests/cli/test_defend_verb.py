"""``unembed defend``: exit codes, what is written, and bad input in one line."""

import json

import pytest

from unembed.cli import main

USUAL = [
    *("defend", "--texts", "generator:messages", "--max-texts", "300", "--encoder", "lsa", "--attribute", "topic"),
    *("--encoder-option", "components=24", "--game", "attribute", "--attack", "attribute/linear", "--no-calibration"),
    *("--adversary", "insider", "--references", "none", "--repeats", "0", "--no-cache", "--quiet"),
]


def run(*options, capsys=None):
    try:
        code = main([*USUAL, *options])
    except SystemExit as left:
        code = left.code
    return code


@pytest.fixture
def place(tmp_path):
    return tmp_path / "found"


def test_a_limit_that_is_met_leaves_a_defense(place, capsys):
    options = ["--defense", "gaussian,scale=6", "--target", "attribute(topic) <= 0.7", "--out", str(place), "--json"]
    assert run(*options) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["chosen"] == "gaussian(scale=6)"
    assert (place / "defense" / "defense.json").is_file()
    assert (place / "report.html").is_file()
    assert {row["variant"] for row in told["frontier"]} == {None, "gaussian(scale=6)"}


def test_a_limit_that_nothing_meets_ends_with_1_and_says_by_how_much(place, capsys):
    options = ["--defense", "gaussian,scale=0.1", "--target", "leak <= 0.001", "--out", str(place)]
    assert run(*[o for o in options if o != "--quiet"]) == 1
    assert not (place / "defense").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "leak below 0.2"], "expected GAME.METRIC <= LIMIT"),
        (["--target", "inversion <= 0.2"], "is about nothing that is measured here"),
        (["--max-utility-loss", "7"], "a share from 0 to 1"),
        (["--defense", "gausian"], "did you mean 'gaussian'"),
        (["--defense", "gaussian,scale=-1"], "must not be negative"),
        (["--defense", "saved,folder=/nowhere"], "does not hold a saved defense"),
    ],
)
def test_bad_input_is_one_line_and_2(options, said, place, capsys):
    given = options if "--defense" in options else [*options, "--defense", "gaussian,scale=1"]
    code = run(*given, "--out", str(place))
    complaint = capsys.readouterr().err.strip().splitlines()[-1]
    assert said in complaint
    assert code in (2, 3)
